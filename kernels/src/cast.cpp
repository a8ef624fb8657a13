// Cast and CastLike between all numeric types and bool; BitCast.
#include <cstring>

#include "dims.h"
#include "element_conversion.h"
#include "native_kernels.h"
#include "onnx_light_ort/kernels/dense_copy.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class CastKernel final : public Kernel {
 public:
  CastKernel(DataType from, DataType to, const Narrowing& narrowing)
      : conversion_(from, to, narrowing), same_type_(from == to), same_width_(bit_size(from) == bit_size(to)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (same_type_) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y =
        same_width_ ? context.output_reusing_input(0, 0, x.dims, x.rank) : context.output(0, x.dims, x.rank);
    conversion_.run_all(context, x, y);
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  ElementConversion conversion_;
  bool same_type_;
  bool same_width_;
};

std::unique_ptr<Kernel> make_cast(const Node& node) {
  const DataType to =
      node.op_type == "Cast" ? static_cast<DataType>(node.attribute_or<int64_t>("to", 0)) : input_type(node, 1);
  Narrowing narrowing;
  narrowing.saturate = node.attribute_or<int64_t>("saturate", 1) != 0;
  const auto rounding = node.attribute_or<std::string>("round_mode", "up");
  if (rounding == "down") {
    narrowing.scale_rounding = Narrowing::ScaleRounding::kDown;
  } else if (rounding == "nearest") {
    narrowing.scale_rounding = Narrowing::ScaleRounding::kNearest;
  } else if (rounding != "up") {
    invalid_argument(node.op_type + ": round_mode is '" + rounding + "', expected 'up', 'down' or 'nearest'");
  }
  return std::make_unique<CastKernel>(input_type(node, 0), to, narrowing);
}

// The same bits under another type of the same width.
class BitCastKernel final : public Kernel {
 public:
  explicit BitCastKernel(const Node& node) {
    const auto to = static_cast<DataType>(node.attribute_or<int64_t>("to", 0));
    if (bit_size(to) != bit_size(input_type(node, 0)) || bit_size(to) == 0) {
      invalid_argument(std::string("BitCast: from ") + data_type_name(input_type(node, 0)) + " to " +
                       data_type_name(to) + ", which has another width");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    if (y.data == x.data || x.element_count == 0) return;
    if (x.is_dense()) {
      std::memcpy(y.data, x.data, checked_byte_size(x.dtype, x.element_count).value());
    } else {
      copy_dense(context, x, y.data);
    }
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }
};

std::unique_ptr<Kernel> make_bit_cast(const Node& node) { return std::make_unique<BitCastKernel>(node); }

}  // namespace

void register_cast(KernelRegistry& registry) {
  const std::vector<TypeConstraint> types = {{"T1", kConvertibleTypes}, {"T2", kConvertibleTypes}};
  add_kernel(registry, "Cast", 6, 28, types, &make_cast);
  add_kernel(registry, "CastLike", 15, 25, types, &make_cast);
  const TypeList with_bits = kByteTypes + kSubByteTypes;
  add_kernel(registry, "BitCast", 26, 26, {{"T1", with_bits}, {"T2", with_bits}}, &make_bit_cast);
}

}  // namespace onnx_light_ort::kernels
