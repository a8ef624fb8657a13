// Shape, from version 15 a slice of it, and Size.
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class ShapeKernel final : public Kernel {
 public:
  explicit ShapeKernel(const Node& node)
      : start_(node.attribute_or<int64_t>("start", 0)), end_(node.attribute_or<int64_t>("end", kOpenEnd)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const auto rank = static_cast<int64_t>(x.rank);
    const auto clamped = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
    const int64_t start = clamped(start_);
    const int64_t count = std::max<int64_t>(0, clamped(end_) - start);
    const TensorView& y = context.output(0, &count, 1);
    std::copy_n(x.dims + start, count, y.as<int64_t>());
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  int64_t start_;
  int64_t end_;
};

std::unique_ptr<Kernel> make_shape(const Node& node) { return std::make_unique<ShapeKernel>(node); }

class SizeKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    *context.output(0, nullptr, 0).as<int64_t>() = context.required_input(0).element_count;
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }
};

std::unique_ptr<Kernel> make_size(const Node&) { return std::make_unique<SizeKernel>(); }

}  // namespace

void register_shape(KernelRegistry& registry) {
  add_kernel(registry, "Shape", 1, 25, {{"T", kAllTypes}}, &make_shape);
  add_kernel(registry, "Size", 1, 25, {{"T", kAllTypes}}, &make_size);
}

}  // namespace onnx_light_ort::kernels
