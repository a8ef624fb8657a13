// Element types, under ONNX's TensorProto.DataType numbers, and the size of a dense tensor of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace onnx_light_ort::kernels {

enum class DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};

inline constexpr int kDataTypeCount = 27;

/// Name of the type as ONNX's type strings write it ("float", "bfloat16", "int4"); "undefined" for anything else.
const char* data_type_name(DataType type) noexcept;

/// Bits that one element takes in a dense buffer. 0 for strings, whose size is that of std::string, and for kUndefined.
int bit_size(DataType type) noexcept;

/// True where several elements share a byte (int4, uint4, float4e2m1, int2, uint2), packed from the low bits up.
inline bool is_sub_byte(DataType type) noexcept {
  const int bits = bit_size(type);
  return bits > 0 && bits < 8;
}

/// Product of dims; nothing when a dimension is negative or the product leaves int64. A scalar has one element.
std::optional<int64_t> checked_element_count(const int64_t* dims, size_t rank) noexcept;

/// Bytes that `count` elements take, sub-byte types rounded up to whole bytes; nothing when that leaves size_t.
std::optional<size_t> checked_byte_size(DataType type, int64_t count) noexcept;

}  // namespace onnx_light_ort::kernels
