// DepthToSpace and SpaceToDepth (blocks of pixels against channels), ReverseSequence.
#include <cstring>

#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {
namespace {

// The input as six dimensions, and the order in which the output has them.
struct Rearrangement {
  int64_t split[6];
  int64_t strides[6];
  size_t order[6];
};

void rearrange(RunContext& context, const TensorView& x, const Dims& out, const Rearrangement& rearrangement) {
  Dims dims(6);
  Dims strides(6);
  for (size_t d = 0; d < 6; ++d) {
    dims[d] = rearrangement.split[rearrangement.order[d]];
    strides[d] = rearrangement.strides[rearrangement.order[d]];
  }
  const TensorView& y = context.output(0, out.data(), out.size());
  strided_copy(context, y.data, dims, x.data, strides, byte_width(x.dtype));
}

class BlockKernel final : public Kernel {
 public:
  explicit BlockKernel(const Node& node)
      : op_(node.op_type),
        to_space_(node.op_type == "DepthToSpace"),
        block_(node.attribute_or<int64_t>("blocksize", 0)),
        column_major_(node.attribute_or<std::string>("mode", "DCR") == "CRD") {
    if (block_ <= 0) invalid_argument(op_ + ": blocksize is " + std::to_string(block_) + ", expected at least 1");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (x.rank != 4) invalid_argument(op_ + ": the input has shape " + to_string(x) + ", expected rank 4");
    const int64_t n = x.dims[0];
    const int64_t c = x.dims[1];
    const int64_t h = x.dims[2];
    const int64_t w = x.dims[3];
    const int64_t b = block_;
    const int64_t area = checked_product(op_.c_str(), b, b);
    if (to_space_ ? c % area != 0 : h % b != 0 || w % b != 0) {
      invalid_argument(op_ + ": blocks of " + std::to_string(b) + " do not divide shape " + to_string(x));
    }
    const Dims s = strides_of(x);
    if (to_space_) {
      const Dims out(std::array<int64_t, 4>{n, c / area, h * b, w * b}.data(), 4);
      rearrange(context, x, out,
                column_major_ ? Rearrangement{{n, c / area, b, b, h, w},
                                              {s[0], area * s[1], b * s[1], s[1], s[2], s[3]},
                                              {0, 1, 4, 2, 5, 3}}
                              : Rearrangement{{n, b, b, c / area, h, w},
                                              {s[0], c / b * s[1], c / area * s[1], s[1], s[2], s[3]},
                                              {0, 3, 4, 1, 5, 2}});
    } else {
      const Dims out(std::array<int64_t, 4>{n, c * area, h / b, w / b}.data(), 4);
      Rearrangement blocks{
          {n, c, h / b, b, w / b, b}, {s[0], s[1], b * s[2], s[2], b * s[3], s[3]}, {0, 3, 5, 1, 2, 4}};
      if (column_major_) std::copy_n(std::array<size_t, 6>{0, 1, 3, 5, 2, 4}.data(), 6, blocks.order);
      rearrange(context, x, out, blocks);
    }
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  std::string op_;
  bool to_space_;
  int64_t block_;
  bool column_major_;  ///< Channels of the space come before the block's rows and columns ("CRD").
};

std::unique_ptr<Kernel> make_block(const Node& node) { return std::make_unique<BlockKernel>(node); }

// The first steps of each batch, as many as its length, in reverse.
class ReverseSequenceKernel final : public Kernel {
 public:
  explicit ReverseSequenceKernel(const Node& node) : time_first_(node.attribute_or<int64_t>("time_axis", 0) == 0) {
    const auto batch = node.attribute_or<int64_t>("batch_axis", 1);
    const auto time = node.attribute_or<int64_t>("time_axis", 0);
    if (batch < 0 || batch > 1 || time != 1 - batch) {
      invalid_argument("ReverseSequence: batch_axis " + std::to_string(batch) + " and time_axis " +
                       std::to_string(time) + ", expected 0 and 1 or 1 and 0");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& lengths = context.required_input(1);
    if (x.rank < 2) invalid_argument("ReverseSequence: the input has shape " + to_string(x));
    const int64_t batches = x.dims[time_first_ ? 1 : 0];
    const int64_t steps = x.dims[time_first_ ? 0 : 1];
    if (lengths.element_count != batches) {
      invalid_argument("ReverseSequence: sequence_lens of shape " + to_string(lengths) + " for " +
                       std::to_string(batches) + " batches");
    }
    const TensorView& y = context.output(0, x.dims, x.rank);
    const auto block = static_cast<size_t>(product(x.dims, 2, x.rank)) * byte_width(x.dtype);
    for (int64_t batch = 0; batch < batches; ++batch) {
      const int64_t length = lengths.as<int64_t>()[batch];
      if (length < 0 || length > steps) {
        invalid_argument("ReverseSequence: a length of " + std::to_string(length) + " for " + std::to_string(steps) +
                         " steps");
      }
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t from = step < length ? length - 1 - step : step;
        const auto at = [&](int64_t s) {
          return static_cast<size_t>(time_first_ ? s * batches + batch : batch * steps + s);
        };
        if (block != 0) std::memcpy(y.as<char>() + at(step) * block, x.as<char>() + at(from) * block, block);
      }
    }
  }

 private:
  bool time_first_;
};

std::unique_ptr<Kernel> make_reverse_sequence(const Node& node) {
  return std::make_unique<ReverseSequenceKernel>(node);
}

}  // namespace

void register_rearrange(KernelRegistry& registry) {
  add_kernel(registry, "DepthToSpace", 1, 28, {{"T", kByteTypes}}, &make_block);
  add_kernel(registry, "SpaceToDepth", 1, 28, {{"T", kByteTypes}}, &make_block);
  add_kernel(registry, "ReverseSequence", 10, 28, {{"T", kByteTypes}}, &make_reverse_sequence);
}

}  // namespace onnx_light_ort::kernels
