// Where: out = condition ? x : y, all three broadcast. Elements move as bytes of their width.
#include "broadcast.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
class WhereKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& condition = context.required_input(0);
    const TensorView& x = context.required_input(1);
    const TensorView& y = context.required_input(2);
    const TensorView* operands[] = {&condition, &x, &y};
    const Dims dims = broadcast_dims("Where", operands, 3);
    const TensorView& out = context.output(0, dims.data(), dims.size());
    if (out.element_count == 0) return;
    const BroadcastPlan<3> plan(dims, {&condition, &x, &y});
    const std::array<const void*, 3> data = {condition.data, x.data, y.data};
    plan.for_each_dense_run(context, data, {1, sizeof(T), sizeof(T)}, 16384, [&](const BroadcastRun<3>& run) {
      const auto* c = reinterpret_cast<const uint8_t*>(run.from[0]);
      const T* from_x = reinterpret_cast<const T*>(run.from[1]);
      const T* from_y = reinterpret_cast<const T*>(run.from[2]);
      const int64_t stride_x = run.single[1] ? 0 : 1;
      const int64_t stride_y = run.single[2] ? 0 : 1;
      T* to = out.as<T>() + run.position;
      if (run.single[0]) {  // fast path: one side as a whole
        const T* from = *c != 0 ? from_x : from_y;
        const int64_t stride = *c != 0 ? stride_x : stride_y;
        for (int64_t i = 0; i < run.n; ++i) to[i] = from[i * stride];
      } else {
        for (int64_t i = 0; i < run.n; ++i) to[i] = c[i] != 0 ? from_x[i * stride_x] : from_y[i * stride_y];
      }
    });
  }

  bool reads_strides(size_t) const noexcept override { return true; }
};

std::unique_ptr<Kernel> make_where(const Node& node) {
  return dispatch_width(byte_width(input_type(node, 1)), [](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<WhereKernel<typename decltype(tag)::type>>();
  });
}

}  // namespace

void register_where(KernelRegistry& registry) {
  add_kernel(registry, "Where", 9, 16, {{"B", kBoolType}, {"T", kByteTypes}}, &make_where);
}

}  // namespace onnx_light_ort::kernels
