// Element types without arithmetic of their own, as runs of a type that carries their values exactly: 16-bit floats,
// float8, float4 and float8e8m0 as float, int4 and int2 as int8, uint4 and uint2 as uint8. Types that share a byte are
// packed from the low bits up.
#pragma once

#include <cstdint>
#include <string>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::kernels {

/// What a number that the target does not hold exactly becomes.
struct Narrowing {
  enum class ScaleRounding { kUp, kDown, kNearest };
  /// float8: beyond the largest number stop at it, infinity too; else NaN or infinity, as the type has it.
  bool saturate = true;
  /// float8e8m0, which holds powers of two.
  ScaleRounding scale_rounding = ScaleRounding::kUp;
};

/// The type that carries the elements of `type`: `type` itself where C++ computes with it.
DataType carrier_of(DataType type) noexcept;

/// Elements that the loops on carried types take at once; a multiple of the elements that share a byte.
inline constexpr int64_t kCarriedBlock = 512;

/// Elements [begin, begin + n) of `data` to `out`, an array of the carrier.
void unpack(DataType type, const void* data, int64_t begin, int64_t n, void* out) noexcept;

/// n elements of the carrier at `values` to elements [begin, begin + n) of `data`. Numbers round to nearest even;
/// integers lose their high bits. Where elements share a byte, begin is a multiple of those that share one; the rest
/// of the last byte becomes zero.
void pack(DataType type, const void* values, void* data, int64_t begin, int64_t n,
          const Narrowing& narrowing = {}) noexcept;

}  // namespace onnx_light_ort::kernels
