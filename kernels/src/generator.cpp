// Tensors made from few values: ConstantOfShape, Range, EyeLike.
#include <cmath>
#include <cstring>

#include "dims.h"
#include "element_conversion.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

class ConstantOfShapeKernel final : public Kernel {
 public:
  explicit ConstantOfShapeKernel(const Node& node) : type_(DataType::kFloat) {
    if (node.attribute("value") == nullptr) return;
    const auto value = node.attribute_or<TensorView>("value", {});
    if (value.element_count != 1) invalid_argument("ConstantOfShape: value has shape " + to_string(value));
    type_ = value.dtype;
    std::memcpy(value_, value.data, checked_byte_size(type_, 1).value());
    if (!is_sub_byte(type_)) return;
    const int bits = bit_size(type_);
    const auto code = static_cast<unsigned>(value_[0]) & ((1u << bits) - 1);
    unsigned byte = 0;
    for (int shift = 0; shift < 8; shift += bits) byte |= code << shift;
    value_[0] = static_cast<char>(byte);
  }

  void compute(RunContext& context) override {
    const TensorView& shape = context.required_input(0);
    const Dims dims(shape.as<int64_t>(), static_cast<size_t>(shape.element_count));
    for (const int64_t extent : dims) {
      if (extent < 0) invalid_argument("ConstantOfShape: shape " + to_string(dims) + " has a negative dimension");
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    if (bit_size(type_) <= 8) {
      std::memset(y.data, static_cast<unsigned char>(value_[0]), checked_byte_size(type_, y.element_count).value());
      return;
    }
    dispatch_width(byte_width(type_), [&](auto tag) {
      typename decltype(tag)::type value;
      std::memcpy(&value, value_, sizeof value);
      context.parallel_for(y.element_count, 16384, [&](int64_t begin, int64_t end) {
        std::fill_n(y.as<typename decltype(tag)::type>() + begin, end - begin, value);
      });
    });
  }

 private:
  DataType type_;
  alignas(16) char value_[16] = {};
};

std::unique_ptr<Kernel> make_constant_of_shape(const Node& node) {
  return std::make_unique<ConstantOfShapeKernel>(node);
}

// start + i * delta for i below ceil((limit - start) / delta).
template <class T>
class RangeKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const T start = scalar(context, 0, "start");
    const T limit = scalar(context, 1, "limit");
    const T delta = scalar(context, 2, "delta");
    if (delta == T(0)) invalid_argument("Range: delta is 0");
    const double steps =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    if (!(steps < 9e18)) invalid_argument("Range: start, limit and delta give no finite number of elements");
    const int64_t count = steps > 0 ? static_cast<int64_t>(steps) : 0;
    const TensorView& y = context.output(0, &count, 1);
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        // Modulo 2^64: i * delta may leave int64 where the sum does not.
        y.as<T>()[i] =
            static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      } else {
        y.as<T>()[i] = start + static_cast<T>(i) * delta;
      }
    }
  }

 private:
  static T scalar(const RunContext& context, size_t input, const char* name) {
    const TensorView& view = context.required_input(input);
    if (view.element_count != 1) invalid_argument(std::string("Range: ") + name + " has shape " + to_string(view));
    return *view.as<T>();
  }
};

std::unique_ptr<Kernel> make_range(const Node& node) {
  if (node.attribute_or<int64_t>("stash_type", 1) != 1) decline(node, "stash_type other than float");
  return dispatch<float, double, int16_t, int32_t, int64_t>(input_type(node, 0), [](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<RangeKernel<typename decltype(tag)::type>>());
  });
}

// Ones on the k-th diagonal of a matrix.
class EyeLikeKernel final : public Kernel {
 public:
  explicit EyeLikeKernel(const Node& node) : diagonal_(node.attribute_or<int64_t>("k", 0)) {
    const uint8_t one = 1;
    ElementConversion(DataType::kUInt8, node.output_types.at(0)).run(&one, one_, 0, 1);
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (x.rank != 2) invalid_argument("EyeLike: the input has shape " + to_string(x) + ", expected a matrix");
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (y.element_count == 0) return;
    const size_t width = byte_width(y.dtype);
    std::memset(y.data, 0, static_cast<size_t>(y.element_count) * width);
    if (diagonal_ >= x.dims[1] || diagonal_ <= -x.dims[0]) return;
    for (int64_t row = std::max<int64_t>(0, -diagonal_); row < x.dims[0] && row + diagonal_ < x.dims[1]; ++row) {
      std::memcpy(y.as<char>() + static_cast<size_t>(row * x.dims[1] + row + diagonal_) * width, one_, width);
    }
  }

 private:
  int64_t diagonal_;
  char one_[8] = {};
};

std::unique_ptr<Kernel> make_eye_like(const Node& node) { return std::make_unique<EyeLikeKernel>(node); }

}  // namespace

void register_generator(KernelRegistry& registry) {
  add_kernel(registry, "ConstantOfShape", 9, 25, {{"T1", kInt64Type}, {"T2", kByteTypes + kSubByteTypes}},
             &make_constant_of_shape);
  const TypeList range_types = kFloatTypes + TypeList{DataType::kInt16, DataType::kInt32, DataType::kInt64};
  add_kernel(registry, "Range", 11, 27, {{"T", range_types}}, &with_half<&make_range>);
  const TypeList eye_types = kNumericTypes + kBoolType;
  add_kernel(registry, "EyeLike", 9, 22, {{"T1", eye_types}, {"T2", eye_types}}, &make_eye_like);
}

}  // namespace onnx_light_ort::kernels
