// Transpose: dimension d of the output is dimension perm[d] of the input.
#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

class TransposeKernel final : public Kernel {
 public:
  explicit TransposeKernel(const Node& node) : perm_(node.attribute_or<std::vector<int64_t>>("perm", {})) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const size_t rank = x.rank;
    if (!perm_.empty() && perm_.size() != rank) {
      invalid_argument("Transpose: perm has " + std::to_string(perm_.size()) + " entries, the input has shape " +
                       to_string(x));
    }
    const Dims source = strides_of(x);
    Dims dims(rank);
    Dims strides(rank);
    int64_t last = -1;
    bool in_order = true;  // up to dimensions of one element
    Dims seen(rank, 0);
    for (size_t d = 0; d < rank; ++d) {
      const size_t from = perm_.empty() ? rank - 1 - d : normalized_axis("Transpose", perm_[d], rank);
      if (seen[from] != 0) invalid_argument("Transpose: perm names axis " + std::to_string(from) + " twice");
      seen[from] = 1;
      dims[d] = x.dims[from];
      strides[d] = source[from];
      if (dims[d] == 1) continue;
      in_order = in_order && static_cast<int64_t>(from) > last;
      last = static_cast<int64_t>(from);
    }
    if (in_order) {
      context.forward_input(0, 0, dims.data(), rank);
      return;
    }
    const TensorView& y = context.output(0, dims.data(), rank);
    strided_copy(context, y.data, dims, x.data, strides, byte_width(x.dtype));
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  std::vector<int64_t> perm_;
};

std::unique_ptr<Kernel> make_transpose(const Node& node) { return std::make_unique<TransposeKernel>(node); }

}  // namespace

void register_transpose(KernelRegistry& registry) {
  add_kernel(registry, "Transpose", 1, 25, {{"T", kByteTypes + kSubByteTypes}}, &with_sub_byte<&make_transpose>);
}

}  // namespace onnx_light_ort::kernels
