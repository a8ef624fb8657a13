// Tensors made from few values: ConstantOfShape and Range.
#include <cmath>
#include <cstring>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class ConstantOfShapeKernel final : public Kernel {
 public:
  explicit ConstantOfShapeKernel(const Node& node) : type_(DataType::kFloat) {
    if (node.attribute("value") == nullptr) return;
    const auto value = node.attribute_or<TensorView>("value", {});
    if (value.element_count != 1) invalid_argument("ConstantOfShape: value has shape " + to_string(value));
    type_ = value.dtype;
    std::memcpy(value_, value.data, byte_width(type_));
  }

  void compute(RunContext& context) override {
    const TensorView& shape = context.required_input(0);
    const Dims dims(shape.as<int64_t>(), static_cast<size_t>(shape.element_count));
    for (const int64_t extent : dims) {
      if (extent < 0) invalid_argument("ConstantOfShape: shape " + to_string(dims) + " has a negative dimension");
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    const size_t width = byte_width(type_);
    for (int64_t i = 0; i < y.element_count; ++i) {
      std::memcpy(y.as<char>() + static_cast<size_t>(i) * width, value_, width);
    }
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
  return dispatch<float, double, int16_t, int32_t, int64_t>(input_type(node, 0), [](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<RangeKernel<typename decltype(tag)::type>>());
  });
}

}  // namespace

void register_generator(KernelRegistry& registry) {
  add_kernel(registry, "ConstantOfShape", 9, 25, {{"T1", kInt64Type}, {"T2", kByteTypes}}, &make_constant_of_shape);
  const TypeList range_types = {DataType::kFloat, DataType::kDouble, DataType::kInt16, DataType::kInt32,
                                DataType::kInt64};
  add_kernel(registry, "Range", 11, 27, {{"T", range_types}}, &make_range);
}

}  // namespace onnx_light_ort::kernels
