// MaxUnpool: elements go back to where MaxPool found them; the rest is zero.
#include <algorithm>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "window.h"

namespace onnx_light_ort::kernels {
namespace {

class MaxUnpoolKernel final : public Kernel {
 public:
  explicit MaxUnpoolKernel(const Node& node) : window_(node) {
    // Whether indices count the elements of the given shape or of the smaller one is not agreed upon.
    if (has_input(node, 2)) decline(node, "output_shape");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& indices = context.required_input(1);
    const std::vector<int64_t>& kernel = window_.kernel_shape();
    if (x.rank != kernel.size() + 2 || !same_dims(x, indices)) {
      invalid_argument("MaxUnpool: input of shape " + to_string(x) + " and indices of shape " + to_string(indices) +
                       " for a kernel of shape " + to_string(kernel.data(), kernel.size()));
    }
    const auto value = [&](const std::vector<int64_t>& values, size_t i, size_t count, int64_t absent) {
      if (values.empty()) return absent;
      if (values.size() != count) invalid_argument("MaxUnpool: an attribute does not fit the input's rank");
      return values[i];
    };
    Dims dims(x);
    for (size_t i = 0; i < kernel.size(); ++i) {
      const int64_t spread =
          checked_product("MaxUnpool", x.dims[i + 2] - 1, value(window_.strides(), i, kernel.size(), 1));
      const int64_t pads = value(window_.pads(), i, 2 * kernel.size(), 0) +
                           value(window_.pads(), i + kernel.size(), 2 * kernel.size(), 0);
      dims[i + 2] = checked_sum("MaxUnpool", spread, kernel[i] - pads);
      if (dims[i + 2] < 0) invalid_argument("MaxUnpool: the pads leave nothing of axis " + std::to_string(i + 2));
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    dispatch_width(byte_width(x.dtype), [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::fill_n(y.as<T>(), y.element_count, T{});
      for (int64_t i = 0; i < x.element_count; ++i) {
        const int64_t at = indices.as<int64_t>()[i];
        if (at < 0 || at >= y.element_count) {
          invalid_argument("MaxUnpool: index " + std::to_string(at) + " is outside [0, " +
                           std::to_string(y.element_count) + ")");
        }
        y.as<T>()[at] = x.as<T>()[i];
      }
    });
  }

 private:
  Window window_;
};

std::unique_ptr<Kernel> make_max_unpool(const Node& node) { return std::make_unique<MaxUnpoolKernel>(node); }

}  // namespace

void register_max_unpool(KernelRegistry& registry) {
  add_kernel(registry, "MaxUnpool", 9, 22, {{"T1", kFloatTypes}, {"T2", kInt64Type}}, &make_max_unpool);
}

}  // namespace onnx_light_ort::kernels
