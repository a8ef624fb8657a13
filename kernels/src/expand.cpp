// Expand (broadcast to a shape, in both directions) and Tile (repeat along each dimension).
#include <optional>

#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {
namespace {

class ExpandKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& shape = context.required_input(1);
    const auto shape_rank = static_cast<size_t>(shape.element_count);
    const int64_t* wanted = shape.as<int64_t>();
    const size_t rank = std::max(x.rank, shape_rank);
    const Dims source = strides_of(x);
    Dims dims(rank, 1);
    Dims strides(rank, 0);
    for (size_t from_back = 0; from_back < rank; ++from_back) {
      const size_t d = rank - 1 - from_back;
      const int64_t own = from_back < x.rank ? x.dims[x.rank - 1 - from_back] : 1;
      const int64_t other = from_back < shape_rank ? wanted[shape_rank - 1 - from_back] : 1;
      if (other < 0 || (own != other && own != 1 && other != 1)) {
        invalid_argument("Expand: shape " + to_string(x) + " does not expand to " + to_string(wanted, shape_rank));
      }
      dims[d] = own == 1 ? other : own;
      strides[d] = own == 1 ? 0 : source[x.rank - 1 - from_back];
    }
    const std::optional<int64_t> count = checked_element_count(dims.data(), rank);
    if (!count.has_value()) invalid_argument("Expand: shape " + to_string(dims) + " has too many elements");
    if (*count == x.element_count) {
      context.forward_input(0, 0, dims.data(), rank);
      return;
    }
    const TensorView& y = context.output(0, dims.data(), rank);
    strided_copy(context, y.data, dims, x.data, strides, byte_width(x.dtype));
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }
};

std::unique_ptr<Kernel> make_expand(const Node&) { return std::make_unique<ExpandKernel>(); }

class TileKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const std::vector<int64_t> repeats = integers(context.required_input(1));
    if (repeats.size() != x.rank || std::any_of(repeats.begin(), repeats.end(), [](int64_t r) { return r < 0; })) {
      invalid_argument("Tile: repeats " + to_string(repeats.data(), repeats.size()) + " do not fit shape " +
                       to_string(x));
    }
    const Dims source = strides_of(x);
    Dims dims(x);
    Dims nest;  // each dimension as (repeat, own), the repeat with stride 0
    Dims strides;
    for (size_t d = 0; d < x.rank; ++d) {
      dims[d] = checked_product("Tile", dims[d], repeats[d]);
      nest.push_back(repeats[d]);
      nest.push_back(x.dims[d]);
      strides.push_back(0);
      strides.push_back(source[d]);
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    strided_copy(context, y.data, nest, x.data, strides, byte_width(x.dtype));
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }
};

std::unique_ptr<Kernel> make_tile(const Node&) { return std::make_unique<TileKernel>(); }

}  // namespace

void register_expand(KernelRegistry& registry) {
  add_kernel(registry, "Expand", 8, 13, {{"T", kByteTypes}}, &make_expand);
  add_kernel(registry, "Tile", 6, 13, {{"T", kByteTypes}}, &make_tile);
}

}  // namespace onnx_light_ort::kernels
