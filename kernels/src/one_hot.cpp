// OneHot: on where the index says, off elsewhere; an index outside [-depth, depth) is nowhere.
#include <cstring>

#include "dims.h"
#include "element_conversion.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class OneHotKernel final : public Kernel {
 public:
  explicit OneHotKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", -1)) {}

  void compute(RunContext& context) override {
    const TensorView& indices = context.required_input(0);
    const TensorView& depth_input = context.required_input(1);
    const TensorView& values = context.required_input(2);
    if (depth_input.element_count != 1 || values.element_count != 2) {
      invalid_argument("OneHot: depth of shape " + to_string(depth_input) + " and values of shape " +
                       to_string(values) + ", expected a scalar and a pair");
    }
    const int64_t depth = elements_as<int64_t>(depth_input)[0];
    if (depth < 0) invalid_argument("OneHot: depth is " + std::to_string(depth));
    const size_t axis = normalized_axis("OneHot", axis_, indices.rank + 1);
    Dims dims(indices.dims, axis);
    dims.push_back(depth);
    for (size_t d = axis; d < indices.rank; ++d) dims.push_back(indices.dims[d]);
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const std::vector<int64_t> positions = elements_as<int64_t>(indices);
    const int64_t inner = product(indices.dims, axis, indices.rank);
    dispatch_width(byte_width(values.dtype), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = y.as<T>();
      std::fill_n(to, y.element_count, values.as<T>()[0]);
      for (int64_t i = 0; i < indices.element_count; ++i) {
        const int64_t given = positions[static_cast<size_t>(i)];
        if (given < -depth || given >= depth) continue;
        const int64_t at = given < 0 ? given + depth : given;
        to[(i / inner * depth + at) * inner + i % inner] = values.as<T>()[1];
      }
    });
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> make_one_hot(const Node& node) { return std::make_unique<OneHotKernel>(node); }

}  // namespace

void register_one_hot(KernelRegistry& registry) {
  add_kernel(registry, "OneHot", 9, 28, {{"T1", kNumericTypes}, {"T2", kNumericTypes}, {"T3", kByteTypes}},
             &make_one_hot);
}

}  // namespace onnx_light_ort::kernels
