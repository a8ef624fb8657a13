// ArgMax and ArgMin along one axis. Comparisons with NaN are false, so NaN is taken only where it comes first.
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T, bool kMax>
class ArgExtremumKernel final : public Kernel {
 public:
  explicit ArgExtremumKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", 0)),
        keep_dims_(node.attribute_or<int64_t>("keepdims", 1) != 0),
        last_(node.attribute_or<int64_t>("select_last_index", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const size_t axis = normalized_axis(kName, axis_, std::max<size_t>(x.rank, 1));  // a scalar is a line of one
    Dims dims;
    for (size_t d = 0; d < x.rank; ++d) {
      if (d != axis) {
        dims.push_back(x.dims[d]);
      } else if (keep_dims_) {
        dims.push_back(1);
      }
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t n = x.rank == 0 ? 1 : x.dims[axis];
    if (n == 0) {
      invalid_argument(std::string(kName) + ": axis " + std::to_string(axis) + " of shape " + to_string(x) +
                       " is empty");
    }
    const int64_t inner = product(x.dims, axis + 1, x.rank);
    context.parallel_for(y.element_count, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* line = x.as<T>() + i / inner * n * inner + i % inner;
        int64_t best = 0;
        for (int64_t j = 1; j < n; ++j) {
          const T value = line[j * inner];
          const T so_far = line[best * inner];
          if ((kMax ? value > so_far : value < so_far) || (last_ && value == so_far)) best = j;
        }
        y.as<int64_t>()[i] = best;
      }
    });
  }

 private:
  static constexpr const char* kName = kMax ? "ArgMax" : "ArgMin";

  int64_t axis_;
  bool keep_dims_;
  bool last_;
};

template <bool kMax>
std::unique_ptr<Kernel> make_arg_extremum(const Node& node) {
  return dispatch<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(
      input_type(node, 0), [&](auto tag) {
        return std::unique_ptr<Kernel>(std::make_unique<ArgExtremumKernel<typename decltype(tag)::type, kMax>>(node));
      });
}

}  // namespace

void register_arg_extremum(KernelRegistry& registry) {
  add_kernel(registry, "ArgMax", 1, 13, {{"T", kNumericTypes}}, &with_half<&make_arg_extremum<true>>);
  add_kernel(registry, "ArgMin", 1, 13, {{"T", kNumericTypes}}, &with_half<&make_arg_extremum<false>>);
}

}  // namespace onnx_light_ort::kernels
