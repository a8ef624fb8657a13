// Split along an axis: sizes as an attribute (2, 11) or an input (13, 18); otherwise equal parts, of which version 18
// lets the last be smaller.
#include <cstring>
#include <numeric>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {
namespace {

class SplitKernel final : public Kernel {
 public:
  explicit SplitKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", 0)),
        uneven_(node.since_version >= 18),
        from_input_(node.since_version >= 13) {
    if (!from_input_) sizes_ = node.attribute_or<std::vector<int64_t>>("split", {});
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const size_t axis = normalized_axis("Split", axis_, x.rank);
    const size_t count = context.output_count();
    std::vector<int64_t> sizes = sizes_;
    if (const TensorView* given = from_input_ ? context.input(1) : nullptr) sizes = integers(*given);
    if (sizes.empty()) sizes = equal_parts(x.dims[axis], count);
    const int64_t extent = x.dims[axis];
    // No size exceeds the extent, so that the sum cannot wrap around.
    if (sizes.size() != count ||
        std::any_of(sizes.begin(), sizes.end(), [extent](int64_t size) { return size < 0 || size > extent; }) ||
        std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != extent) {
      invalid_argument("Split: sizes " + to_string(sizes.data(), sizes.size()) + " do not split axis " +
                       std::to_string(axis) + " of shape " + to_string(x) + " into " + std::to_string(count));
    }
    const size_t width = byte_width(x.dtype);
    const int64_t outer = product(x.dims, 0, axis);
    const size_t inner = static_cast<size_t>(product(x.dims, axis + 1, x.rank)) * width;
    const size_t in_block = static_cast<size_t>(x.dims[axis]) * inner;
    Dims dims(x);
    const Dims strides = strides_of(x);
    size_t offset = 0;
    int64_t first = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t block = static_cast<size_t>(sizes[i]) * inner;
      if (context.output_wanted(i)) {
        dims[axis] = sizes[i];
        const TensorView& y = context.output(i, dims.data(), dims.size());
        if (y.element_count > 0 && !x.is_dense()) {
          const int64_t start = first * strides[axis] * static_cast<int64_t>(width);
          strided_copy(context, y.data, dims, x.as<char>() + start, strides, width);
        } else if (y.element_count > 0) {
          context.parallel_for(outer, std::max<int64_t>(1, int64_t{65536} / static_cast<int64_t>(block)),
                               [&](int64_t begin, int64_t end) {
                                 for (int64_t row = begin; row < end; ++row) {
                                   std::memcpy(y.as<char>() + static_cast<size_t>(row) * block,
                                               x.as<char>() + static_cast<size_t>(row) * in_block + offset, block);
                                 }
                               });
        }
      }
      offset += block;
      first += sizes[i];
    }
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  std::vector<int64_t> equal_parts(int64_t extent, size_t count) const {
    const auto parts = static_cast<int64_t>(count);
    if (!uneven_ && extent % parts != 0) {
      invalid_argument("Split: " + std::to_string(extent) + " does not split into " + std::to_string(count) +
                       " equal parts");
    }
    const int64_t part = (extent + parts - 1) / parts;
    std::vector<int64_t> sizes(count, part);
    sizes.back() = extent - part * (parts - 1);
    return sizes;
  }

  int64_t axis_;
  bool uneven_;
  bool from_input_;
  std::vector<int64_t> sizes_;
};

std::unique_ptr<Kernel> make_split(const Node& node) { return std::make_unique<SplitKernel>(node); }

}  // namespace

void register_split(KernelRegistry& registry) {
  add_kernel(registry, "Split", 2, 18, {{"T", kByteTypes}}, &make_split);
}

}  // namespace onnx_light_ort::kernels
