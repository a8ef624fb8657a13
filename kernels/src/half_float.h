// The two 16-bit floating point types as storage, and their conversion from and to float. Arithmetic on them is done in
// float and rounded once, to nearest even.
#pragma once

#include <cstdint>
#include <cstring>

namespace onnx_light_ort::kernels {

template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From value) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

/// Upper half of an IEEE binary32.
struct BFloat16 {
  uint16_t bits;
};

/// IEEE binary16.
struct Float16 {
  uint16_t bits;
};

[[gnu::always_inline]] inline float to_float(BFloat16 value) noexcept {
  return bits_as<float>(static_cast<uint32_t>(value.bits) << 16);
}

[[gnu::always_inline]] inline BFloat16 to_bfloat16(float value) noexcept {
  const auto bits = bits_as<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x0040u;
  const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return BFloat16{static_cast<uint16_t>(is_nan ? quiet_nan : rounded)};
}

/// Exact: the exponent is rebased by a multiplication, which also normalises subnormal numbers.
[[gnu::always_inline]] inline float to_float(Float16 value) noexcept {
  const uint32_t magnitude = static_cast<uint32_t>(value.bits & 0x7FFFu) << 13;
  const float scaled = bits_as<float>(magnitude) * 0x1p112f;
  const uint32_t special = magnitude | 0x7F800000u;  // infinity and NaN keep their all-ones exponent
  const uint32_t result = magnitude >= (0x7C00u << 13) ? special : bits_as<uint32_t>(scaled);
  return bits_as<float>(result | (static_cast<uint32_t>(value.bits & 0x8000u) << 16));
}

/// Normal results are rounded in integers; subnormal ones by adding a power of two whose last place is theirs.
[[gnu::always_inline]] inline Float16 to_float16(float value) noexcept {
  const auto bits = bits_as<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t normal = (magnitude + 0xC8000FFFu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t subnormal = bits_as<uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3F000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477FF000u ? 0x7C00u : result;
  result = magnitude > 0x7F800000u ? (0x7E00u | (magnitude >> 13 & 0x3FFu)) : result;
  return Float16{static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u))};
}

[[gnu::always_inline]] inline void from_float(float value, BFloat16& out) noexcept { out = to_bfloat16(value); }
[[gnu::always_inline]] inline void from_float(float value, Float16& out) noexcept { out = to_float16(value); }

/// Conversions of n contiguous elements.
void widen(const BFloat16* x, float* y, int64_t n) noexcept;
void widen(const Float16* x, float* y, int64_t n) noexcept;
void narrow(const float* x, BFloat16* y, int64_t n) noexcept;
void narrow(const float* x, Float16* y, int64_t n) noexcept;

}  // namespace onnx_light_ort::kernels
