// Element types of C++ and their DataType, the type lists that kernels register, and the step from a run-time DataType
// to a compile-time type.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "half_float.h"
#include "onnx_light_ort/kernels/data_type.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::kernels {

template <class T>
inline constexpr DataType kDataTypeOf = DataType::kUndefined;
template <>
inline constexpr DataType kDataTypeOf<float> = DataType::kFloat;
template <>
inline constexpr DataType kDataTypeOf<double> = DataType::kDouble;
template <>
inline constexpr DataType kDataTypeOf<int8_t> = DataType::kInt8;
template <>
inline constexpr DataType kDataTypeOf<int16_t> = DataType::kInt16;
template <>
inline constexpr DataType kDataTypeOf<int32_t> = DataType::kInt32;
template <>
inline constexpr DataType kDataTypeOf<int64_t> = DataType::kInt64;
template <>
inline constexpr DataType kDataTypeOf<uint8_t> = DataType::kUInt8;
template <>
inline constexpr DataType kDataTypeOf<uint16_t> = DataType::kUInt16;
template <>
inline constexpr DataType kDataTypeOf<uint32_t> = DataType::kUInt32;
template <>
inline constexpr DataType kDataTypeOf<uint64_t> = DataType::kUInt64;
template <>
inline constexpr DataType kDataTypeOf<bool> = DataType::kBool;
template <>
inline constexpr DataType kDataTypeOf<Float16> = DataType::kFloat16;
template <>
inline constexpr DataType kDataTypeOf<BFloat16> = DataType::kBFloat16;

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

inline bool is_half(DataType type) noexcept { return type == DataType::kFloat16 || type == DataType::kBFloat16; }

using TypeList = std::vector<DataType>;

inline TypeList operator+(TypeList a, const TypeList& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline const TypeList kFloatTypes = {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBFloat16};
inline const TypeList kSignedTypes = {DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64};
inline const TypeList kUnsignedTypes = {DataType::kUInt8, DataType::kUInt16, DataType::kUInt32, DataType::kUInt64};
inline const TypeList kWideIntegerTypes = {DataType::kInt32, DataType::kInt64, DataType::kUInt32, DataType::kUInt64};
inline const TypeList kNumericTypes = kFloatTypes + kSignedTypes + kUnsignedTypes;
inline const TypeList kBoolType = {DataType::kBool};
inline const TypeList kIndexTypes = {DataType::kInt32, DataType::kInt64};
inline const TypeList kInt64Type = {DataType::kInt64};
inline const TypeList kFloatType = {DataType::kFloat};

/// Types that move as whole bytes: everything but strings and the types that share a byte.
inline const TypeList kByteTypes =
    kNumericTypes + kBoolType + TypeList{DataType::kComplex64,      DataType::kComplex128, DataType::kFloat8E4M3FN,
                                         DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ,
                                         DataType::kFloat8E8M0};

/// Types of which several elements share a byte.
inline const TypeList kSubByteTypes = {DataType::kUInt4, DataType::kInt4, DataType::kFloat4E2M1, DataType::kUInt2,
                                       DataType::kInt2};

/// Every type that a tensor can have.
inline const TypeList kAllTypes = kByteTypes + kSubByteTypes + TypeList{DataType::kString};

inline size_t byte_width(DataType type) noexcept { return static_cast<size_t>(bit_size(type)) / 8; }

template <class T>
struct TypeTag {
  using type = T;
};

/// Calls visit(TypeTag<T>{}) for the one of Types that `type` names. Throws Error where it is none of them.
template <class... Types, class Visitor>
auto dispatch(DataType type, Visitor&& visit) {
  using Result = std::common_type_t<decltype(visit(TypeTag<Types>{}))...>;
  Result result{};
  const bool found =
      ((type == kDataTypeOf<Types> ? (static_cast<void>(result = visit(TypeTag<Types>{})), true) : false) || ...);
  if (!found) fail(ErrorKind::kNotImplemented, std::string("no native kernel for type ") + data_type_name(type));
  return result;
}

/// An element of 16 bytes that is only moved.
struct SixteenBytes {
  uint64_t parts[2];
};

/// Calls visit(TypeTag<T>{}) for an unsigned type of `width` bytes (1, 2, 4, 8 or 16): for elements that are only
/// moved.
template <class Visitor>
auto dispatch_width(size_t width, Visitor&& visit) {
  switch (width) {
    case 1:
      return visit(TypeTag<uint8_t>{});
    case 2:
      return visit(TypeTag<uint16_t>{});
    case 4:
      return visit(TypeTag<uint32_t>{});
    case 8:
      return visit(TypeTag<uint64_t>{});
    default:
      return visit(TypeTag<SixteenBytes>{});
  }
}

}  // namespace onnx_light_ort::kernels
