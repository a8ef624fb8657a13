// Sign and order of 16-bit floats by their bits alone: what needs no arithmetic needs no conversion to float either.
#pragma once

#include <cstdint>

#include "half_float.h"

namespace onnx_light_ort::kernels {

/// Bits of infinity; larger magnitudes are NaN.
template <class Half>
inline constexpr uint16_t kInfinityBits = 0x7F80;
template <>
inline constexpr uint16_t kInfinityBits<Float16> = 0x7C00;

template <class Half>
[[gnu::always_inline]] inline bool is_nan_bits(uint16_t bits) noexcept {
  return static_cast<uint16_t>(bits & 0x7FFFu) > kInfinityBits<Half>;
}

/// Integers in the order of the numbers, -0 before 0.
[[gnu::always_inline]] inline int16_t order_of_bits(uint16_t bits) noexcept {
  const auto value = static_cast<int16_t>(bits);
  return static_cast<int16_t>(value ^ static_cast<int16_t>((value >> 15) & 0x7FFF));
}

}  // namespace onnx_light_ort::kernels
