// Concat along an axis: for each index of the dimensions before it, the inputs' blocks one after the other.
#include <cstring>

#include "dims.h"
#include "native_kernels.h"
#include "onnx_light_ort/kernels/dense_copy.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class ConcatKernel final : public Kernel {
 public:
  explicit ConcatKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", 1)) {}

  void compute(RunContext& context) override {
    const TensorView& first = context.required_input(0);
    const size_t axis = normalized_axis("Concat", axis_, first.rank);
    Dims dims(first);
    dims[axis] = 0;
    for (size_t i = 0; i < context.input_count(); ++i) {
      const TensorView& input = context.required_input(i);
      bool fits = input.rank == first.rank;
      for (size_t d = 0; fits && d < input.rank; ++d) fits = d == axis || input.dims[d] == first.dims[d];
      if (!fits) {
        invalid_argument("Concat: input " + std::to_string(i) + " has shape " + to_string(input) +
                         ", which does not fit " + to_string(first) + " along axis " + std::to_string(axis));
      }
      dims[axis] = checked_sum("Concat", dims[axis], input.dims[axis]);
    }
    const TensorView& out = context.output(0, dims.data(), dims.size());
    if (out.element_count == 0) return;
    const size_t width = byte_width(out.dtype);
    const int64_t outer = product(dims.data(), 0, axis);
    const size_t inner = static_cast<size_t>(product(dims.data(), axis + 1, dims.size())) * width;
    const size_t out_block = static_cast<size_t>(dims[axis]) * inner;
    const std::vector<Block> blocks = place(context, out, axis, outer, inner);
    context.parallel_for(outer, std::max<int64_t>(1, int64_t{65536} / static_cast<int64_t>(out_block)),
                         [&](int64_t begin, int64_t end) {
                           char* to = out.as<char>() + static_cast<size_t>(begin) * out_block;
                           for (int64_t row = begin; row < end; ++row) {
                             for (const Block& block : blocks) {
                               if (block.data != nullptr) {
                                 std::memcpy(to, block.data + static_cast<size_t>(row) * block.bytes, block.bytes);
                               }
                               to += block.bytes;
                             }
                           }
                         });
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  // What an input gives to each row of the output; data is null where the output has it already.
  struct Block {
    const char* data;
    size_t bytes;
  };

  // Inputs with strides go to their place at once where that is dense, else by way of a dense copy.
  static std::vector<Block> place(RunContext& context, const TensorView& out, size_t axis, int64_t rows, size_t inner) {
    std::vector<Block> blocks;
    char* to = out.as<char>();
    for (size_t i = 0; i < context.input_count(); ++i) {
      const TensorView& input = *context.input(i);
      const size_t bytes = static_cast<size_t>(input.dims[axis]) * inner;
      if (bytes == 0) continue;
      if (rows == 1 && !input.is_dense()) {
        copy_dense(context, input, to);
        blocks.push_back({nullptr, bytes});
      } else {
        blocks.push_back({dense(context, input).as<const char>(), bytes});
      }
      to += bytes;
    }
    return blocks;
  }

  int64_t axis_;
};

std::unique_ptr<Kernel> make_concat(const Node& node) { return std::make_unique<ConcatKernel>(node); }

}  // namespace

void register_concat(KernelRegistry& registry) {
  add_kernel(registry, "Concat", 4, 13, {{"T", kByteTypes}}, &make_concat);
}

}  // namespace onnx_light_ort::kernels
