// Conversion of elements between any two types of fixed size that hold numbers or truth values.
#pragma once

#include <cstdint>
#include <vector>

#include "carried_element.h"
#include "element_type.h"
#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// The types that convert into each other.
inline const TypeList kConvertibleTypes =
    kNumericTypes + kBoolType + TypeList{DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                         DataType::kFloat8E5M2,   DataType::kFloat8E5M2FNUZ,
                                         DataType::kFloat8E8M0,   DataType::kUInt4,
                                         DataType::kInt4,         DataType::kFloat4E2M1,
                                         DataType::kUInt2,        DataType::kInt2};

/// Floating point to integers truncates, integers to narrower ones lose their high bits, anything to a narrower
/// floating point type rounds to nearest even, once, but through float where the target is carried by it.
class ElementConversion {
 public:
  /// Throws Error(kNotImplemented) for a type that is not convertible.
  ElementConversion(DataType from, DataType to, const Narrowing& narrowing = {});

  /// Elements [begin, begin + n) of x to the same places of y, which may be x where both types have the same width. In
  /// ranges of parallel_for, begin is to be a multiple of kCarriedBlock.
  void run(const void* x, void* y, int64_t begin, int64_t n) const;

  /// All elements of x, which may have strides, to y, another tensor or the same as for run(), on the call's threads.
  void run_all(RunContext& context, const TensorView& x, const TensorView& y) const;

 private:
  using Loop = void (*)(const void* x, void* y, int64_t n);

  DataType from_;
  DataType to_;
  DataType carried_from_;
  DataType carried_to_;
  Narrowing narrowing_;
  Loop loop_ = nullptr;  ///< Between the carriers; null where these agree.
};

/// All elements of a tensor as T, one of the C++ types that carry elements.
template <class T>
std::vector<T> elements_as(const TensorView& view) {
  std::vector<T> values(static_cast<size_t>(view.element_count));
  ElementConversion(view.dtype, kDataTypeOf<T>).run(view.data, values.data(), 0, view.element_count);
  return values;
}

}  // namespace onnx_light_ort::kernels
