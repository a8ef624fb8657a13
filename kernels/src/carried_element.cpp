#include "carried_element.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "cpu_level.h"
#include "half_float.h"

namespace onnx_light_ort::kernels {
namespace {

// Floating point of at most eight bits: sign, exponent, mantissa, and what lies beyond the largest number.
struct Float8E4M3FN {
  static constexpr int kMantissa = 3, kBias = 7;
  static constexpr uint32_t kSign = 0x80, kMax = 0x7E, kOverflow = 0x7F, kNan = 0x7F;
  static constexpr bool kNegativeZero = true;
};
struct Float8E4M3FNUZ {
  static constexpr int kMantissa = 3, kBias = 8;
  static constexpr uint32_t kSign = 0x80, kMax = 0x7F, kOverflow = 0x80, kNan = 0x80;
  static constexpr bool kNegativeZero = false;
};
struct Float8E5M2 {
  static constexpr int kMantissa = 2, kBias = 15;
  static constexpr uint32_t kSign = 0x80, kMax = 0x7B, kOverflow = 0x7C, kNan = 0x7E;
  static constexpr bool kNegativeZero = true;
};
struct Float8E5M2FNUZ {
  static constexpr int kMantissa = 2, kBias = 16;
  static constexpr uint32_t kSign = 0x80, kMax = 0x7F, kOverflow = 0x80, kNan = 0x80;
  static constexpr bool kNegativeZero = false;
};
// No infinity and no NaN: beyond the largest number there is nothing, and NaN becomes -0.
struct Float4E2M1 {
  static constexpr int kMantissa = 1, kBias = 1;
  static constexpr uint32_t kSign = 0x08, kMax = 0x07, kOverflow = 0x07, kNan = 0x08;
  static constexpr bool kNegativeZero = true;
};

// Counts |x| in steps of the format's last place at x's exponent. Steps and exponent together are the code: a mantissa
// that rounds up beyond its bits carries into the exponent.
template <class Format>
[[gnu::always_inline]] inline void encode_run(const float* x, uint8_t* codes, int64_t n, uint32_t beyond) {
  constexpr int32_t kLowestExponent = 1 - Format::kBias;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = bits_as<uint32_t>(x[i]);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    const int32_t own = static_cast<int32_t>(magnitude >> 23) - 127;
    const int32_t exponent = own < kLowestExponent ? kLowestExponent : own > 100 ? 100 : own;
    const float steps_per_unit = bits_as<float>(static_cast<uint32_t>(127 + Format::kMantissa - exponent) << 23);
    const float capped = bits_as<float>(magnitude > 0x71800000u ? 0x71800000u : magnitude);
    const auto steps = static_cast<int32_t>(std::nearbyint(capped * steps_per_unit));
    const auto rounded = static_cast<uint32_t>(steps + ((exponent - kLowestExponent) << Format::kMantissa));
    uint32_t code = rounded > Format::kMax ? beyond : rounded;
    code = magnitude > 0x7F800000u ? Format::kNan : code;
    const uint32_t sign = (bits >> 31) * Format::kSign;
    const bool keeps_sign = Format::kNegativeZero || (code != 0 && code != Format::kNan);
    codes[i] = static_cast<uint8_t>(keeps_sign ? code | sign : code);
  }
}

template <class Format>
float decode(uint32_t code) {
  const uint32_t magnitude = code & (Format::kSign - 1);
  const float sign = (code & Format::kSign) != 0 ? -1.0f : 1.0f;
  if constexpr (Format::kOverflow != Format::kMax) {
    if (!Format::kNegativeZero && code == Format::kNan) return std::numeric_limits<float>::quiet_NaN();
    if (Format::kNegativeZero && magnitude > Format::kMax) {
      const bool infinite = Format::kOverflow != Format::kNan && magnitude == Format::kOverflow;
      return sign * (infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
    }
  }
  const auto exponent = static_cast<int>(magnitude >> Format::kMantissa);
  const auto mantissa = static_cast<int>(magnitude & ((1u << Format::kMantissa) - 1));
  const int steps = exponent == 0 ? mantissa : mantissa + (1 << Format::kMantissa);
  const int place = (exponent == 0 ? 1 : exponent) - Format::kBias - Format::kMantissa;
  return sign * std::ldexp(static_cast<float>(steps), place);
}

// Powers of two from 2^-127 to 2^127, and NaN.
float decode_scale(uint32_t code) {
  return code == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(code) - 127);
}

// The exponent of |x|, and one more where the rounding says so; infinity and NaN become NaN.
uint8_t encode_scale(float x, const Narrowing& narrowing) {
  const auto bits = bits_as<uint32_t>(x);
  const uint32_t exponent = (bits >> 23) & 0xFFu;
  const uint32_t fraction = bits & 0x7FFFFFu;
  if (exponent == 0xFF) return 0xFF;
  bool up = false;
  if (narrowing.scale_rounding == Narrowing::ScaleRounding::kUp) {
    up = fraction != 0;
  } else if (narrowing.scale_rounding == Narrowing::ScaleRounding::kNearest) {
    up = fraction > 0x400000u || (fraction == 0x400000u && exponent > 0);
  }
  if (up && exponent == 0xFE && narrowing.saturate) up = false;
  return static_cast<uint8_t>(exponent + (up ? 1 : 0));
}

template <float (*decode_one)(uint32_t), size_t kCodes>
const float* table() {
  static const std::array<float, kCodes> values = [] {
    std::array<float, kCodes> filled{};
    for (uint32_t code = 0; code < kCodes; ++code) filled[code] = decode_one(code);
    return filled;
  }();
  return values.data();
}

// Values of the codes of a floating point type of at most eight bits; null for any other type.
const float* decoded(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
      return table<&decode<Float8E4M3FN>, 256>();
    case DataType::kFloat8E4M3FNUZ:
      return table<&decode<Float8E4M3FNUZ>, 256>();
    case DataType::kFloat8E5M2:
      return table<&decode<Float8E5M2>, 256>();
    case DataType::kFloat8E5M2FNUZ:
      return table<&decode<Float8E5M2FNUZ>, 256>();
    case DataType::kFloat8E8M0:
      return table<&decode_scale, 256>();
    case DataType::kFloat4E2M1:
      return table<&decode<Float4E2M1>, 16>();
    default:
      return nullptr;
  }
}

template <class Format>
void encode(const float* x, uint8_t* codes, int64_t n, bool saturate) {
  static const auto run = Versions<&encode_run<Format>>::best();
  run(x, codes, n, saturate ? Format::kMax : Format::kOverflow);
}

void encode(DataType type, const float* x, uint8_t* codes, int64_t n, const Narrowing& narrowing) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
      return encode<Float8E4M3FN>(x, codes, n, narrowing.saturate);
    case DataType::kFloat8E4M3FNUZ:
      return encode<Float8E4M3FNUZ>(x, codes, n, narrowing.saturate);
    case DataType::kFloat8E5M2:
      return encode<Float8E5M2>(x, codes, n, narrowing.saturate);
    case DataType::kFloat8E5M2FNUZ:
      return encode<Float8E5M2FNUZ>(x, codes, n, narrowing.saturate);
    case DataType::kFloat4E2M1:
      return encode<Float4E2M1>(x, codes, n, narrowing.saturate);
    default:
      for (int64_t i = 0; i < n; ++i) codes[i] = encode_scale(x[i], narrowing);
  }
}

// Codes of less than a byte, one a byte.
void unpack_codes(int bits, const uint8_t* data, int64_t begin, int64_t n, uint8_t* codes) {
  const int64_t per_byte = 8 / bits;
  const auto mask = static_cast<uint8_t>((1 << bits) - 1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = begin + i;
    codes[i] = static_cast<uint8_t>(data[at / per_byte] >> (at % per_byte * bits)) & mask;
  }
}

void pack_codes(int bits, const uint8_t* codes, int64_t n, uint8_t* data) {
  const int64_t per_byte = 8 / bits;
  const unsigned mask = (1u << bits) - 1;
  for (int64_t i = 0; i < n; i += per_byte) {
    unsigned byte = 0;
    for (int64_t j = 0; j < per_byte && i + j < n; ++j) byte |= (codes[i + j] & mask) << (j * bits);
    data[i / per_byte] = static_cast<uint8_t>(byte);
  }
}

bool is_signed_integer(DataType type) { return type == DataType::kInt4 || type == DataType::kInt2; }

}  // namespace

DataType carrier_of(DataType type) noexcept {
  switch (type) {
    case DataType::kFloat16:
    case DataType::kBFloat16:
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FNUZ:
    case DataType::kFloat8E8M0:
    case DataType::kFloat4E2M1:
      return DataType::kFloat;
    case DataType::kInt4:
    case DataType::kInt2:
      return DataType::kInt8;
    case DataType::kUInt4:
    case DataType::kUInt2:
      return DataType::kUInt8;
    default:
      return type;
  }
}

void unpack(DataType type, const void* data, int64_t begin, int64_t n, void* out) noexcept {
  if (type == DataType::kFloat16) return widen(static_cast<const Float16*>(data) + begin, static_cast<float*>(out), n);
  if (type == DataType::kBFloat16)
    return widen(static_cast<const BFloat16*>(data) + begin, static_cast<float*>(out), n);
  const int bits = bit_size(type);
  const auto* bytes = static_cast<const uint8_t*>(data);
  if (const float* values = decoded(type)) {
    auto* floats = static_cast<float*>(out);
    if (bits == 8) {
      for (int64_t i = 0; i < n; ++i) floats[i] = values[bytes[begin + i]];
    } else {
      for (int64_t i = 0; i < n; ++i) floats[i] = values[(bytes[(begin + i) / 2] >> ((begin + i) % 2 * 4)) & 0xF];
    }
    return;
  }
  if (bits >= 8) {
    const auto width = static_cast<size_t>(bits / 8);
    std::memcpy(out, bytes + static_cast<size_t>(begin) * width, static_cast<size_t>(n) * width);
    return;
  }
  auto* codes = static_cast<uint8_t*>(out);
  unpack_codes(bits, bytes, begin, n, codes);
  if (!is_signed_integer(type)) return;
  const int unused = 8 - bits;
  for (int64_t i = 0; i < n; ++i) {
    codes[i] = static_cast<uint8_t>(static_cast<int8_t>(static_cast<uint8_t>(codes[i] << unused)) >> unused);
  }
}

void pack(DataType type, const void* values, void* data, int64_t begin, int64_t n,
          const Narrowing& narrowing) noexcept {
  const auto* floats = static_cast<const float*>(values);
  if (type == DataType::kFloat16) return narrow(floats, static_cast<Float16*>(data) + begin, n);
  if (type == DataType::kBFloat16) return narrow(floats, static_cast<BFloat16*>(data) + begin, n);
  const int bits = bit_size(type);
  auto* bytes = static_cast<uint8_t*>(data);
  if (bits == 8 && decoded(type) != nullptr) return encode(type, floats, bytes + begin, n, narrowing);
  if (bits >= 8) {
    const auto width = static_cast<size_t>(bits / 8);
    std::memcpy(bytes + static_cast<size_t>(begin) * width, values, static_cast<size_t>(n) * width);
    return;
  }
  uint8_t* to = bytes + begin * bits / 8;
  if (type != DataType::kFloat4E2M1) return pack_codes(bits, static_cast<const uint8_t*>(values), n, to);
  uint8_t codes[kCarriedBlock];
  for (int64_t i = 0; i < n; i += kCarriedBlock) {
    const int64_t count = n - i < kCarriedBlock ? n - i : kCarriedBlock;
    encode(type, floats + i, codes, count, narrowing);
    pack_codes(bits, codes, count, to + i * bits / 8);
  }
}

}  // namespace onnx_light_ort::kernels
