// Trigonometric and hyperbolic functions in single precision that the compiler vectorises: no branch, no table, no
// call. Errors are a few units in the last place. Polynomials: S. Moshier, Cephes Mathematical Library 2.8 (sinf,
// asinf, atanf, asinhf, acoshf) but where another source is named. The overloads for double are the C library's.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "vector_math.h"

namespace onnx_light_ort::kernels::vector_math {

/// Largest argument of sin, cos and tan: beyond, results near zero lose too many places to the parts of pi/2.
inline constexpr float kLargestAngle = 1024.0f;

/// x = quadrant * pi/2 + rest with |rest| <= pi/4, for |x| <= kLargestAngle. pi/2 in three parts.
struct ReducedAngle {
  float rest;
  int32_t quadrant;

  [[gnu::always_inline]] explicit ReducedAngle(float x) noexcept {
    constexpr float kRoundToInteger = 12582912.0f;
    const float shifted = x * 0.636619772367581343f + kRoundToInteger;
    const float n = shifted - kRoundToInteger;
    quadrant = bits_as<int32_t>(shifted) - bits_as<int32_t>(kRoundToInteger);
    rest = ((x - n * 1.5703125f) - n * 4.837512969970703125e-4f) - n * 7.54978995489188216e-8f;
  }

  [[gnu::always_inline]] float sine() const noexcept {
    const float z = rest * rest;
    float p = -1.9515295891e-4f;
    p = p * z + 8.3321608736e-3f;
    p = p * z - 1.6666654611e-1f;
    return p * z * rest + rest;
  }

  [[gnu::always_inline]] float cosine() const noexcept {
    const float z = rest * rest;
    float p = 2.443315711809948e-5f;
    p = p * z - 1.388731625493765e-3f;
    p = p * z + 4.166664568298827e-2f;
    return p * z * z - 0.5f * z + 1.0f;
  }

  /// The sine of this angle plus `quadrants` right angles.
  [[gnu::always_inline]] float sine_after(int32_t quadrants) const noexcept {
    const int32_t q = quadrant + quadrants;
    const float value = (q & 1) != 0 ? cosine() : sine();
    return (q & 2) != 0 ? -value : value;
  }
};

[[gnu::always_inline]] inline float sin(float x) noexcept { return ReducedAngle(x).sine_after(0); }
[[gnu::always_inline]] inline float cos(float x) noexcept { return ReducedAngle(x).sine_after(1); }

/// The tangent of the rest by a polynomial (fitted to the least relative error, 2^-25.5); of odd quadrants the negative
/// cotangent.
[[gnu::always_inline]] inline float tan(float x) noexcept {
  const ReducedAngle angle(x);
  const float z = angle.rest * angle.rest;
  float p = 9.48568061e-3f;
  p = p * z + 2.94088526e-3f;
  p = p * z + 2.45489385e-2f;
  p = p * z + 5.33755384e-2f;
  p = p * z + 1.33392677e-1f;
  p = p * z + 3.33331376e-1f;
  const float tangent = p * z * angle.rest + angle.rest;
  return (angle.quadrant & 1) != 0 ? -1.0f / tangent : tangent;
}

/// asin(t) for t in [0, sqrt(1/2)], z = t^2.
[[gnu::always_inline]] inline float small_asin(float t, float z) noexcept {
  float p = 4.2163199048e-2f;
  p = p * z + 2.4181311049e-2f;
  p = p * z + 4.5470025998e-2f;
  p = p * z + 7.4953002686e-2f;
  p = p * z + 1.6666752422e-1f;
  return p * z * t + t;
}

inline constexpr float kHalfPi = 1.57079632679489661923f;

/// Near 1 by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)). NaN outside [-1, 1], by the square root.
[[gnu::always_inline]] inline float asin(float x) noexcept {
  const float magnitude = std::fabs(x);
  const bool near_one = magnitude > 0.5f;
  const float half = 0.5f * (1.0f - magnitude);
  const float p = small_asin(near_one ? std::sqrt(half) : magnitude, near_one ? half : x * x);
  const float result = near_one ? kHalfPi - (p + p) : p;
  return std::copysign(result, x);
}

[[gnu::always_inline]] inline float acos(float x) noexcept {
  const float magnitude = std::fabs(x);
  const bool near_one = magnitude > 0.5f;
  const float half = 0.5f * (1.0f - magnitude);
  const float p = small_asin(near_one ? std::sqrt(half) : magnitude, near_one ? half : x * x);
  const float far = x < 0.0f ? 2.0f * kHalfPi - (p + p) : p + p;
  return near_one ? far : kHalfPi - std::copysign(p, x);
}

/// By tan(pi/8) and tan(3 pi/8) in three parts.
[[gnu::always_inline]] inline float atan(float x) noexcept {
  const float magnitude = std::fabs(x);
  const bool large = magnitude > 2.414213562373095f;
  const bool middle = magnitude > 0.4142135623730950f;
  const float numerator = large ? -1.0f : middle ? magnitude - 1.0f : magnitude;
  const float denominator = large ? magnitude : middle ? magnitude + 1.0f : 1.0f;
  const float base = large ? kHalfPi : middle ? 0.5f * kHalfPi : 0.0f;
  const float t = numerator / denominator;
  const float z = t * t;
  float p = 8.05374449538e-2f;
  p = p * z - 1.38776856032e-1f;
  p = p * z + 1.99777106478e-1f;
  p = p * z - 3.33329491539e-1f;
  return std::copysign(base + (p * z * t + t), x);
}

/// cosh and sinh of a magnitude x = n ln 2 + r, by those of r (polynomials fitted to the least relative error, 2^-34
/// and 2^-37): exp(x) / 4 = up (cosh(r) + sinh(r)) and exp(-x) / 4 = down (cosh(r) - sinh(r)), without a division. A
/// quarter, so that no factor overflows before the function does. NaN stays.
struct ReducedHyperbolic {
  float up;
  float down;
  float cosine;
  float sine;

  [[gnu::always_inline]] explicit ReducedHyperbolic(float magnitude) noexcept {
    constexpr float kRoundToInteger = 12582912.0f;
    const float x = magnitude > 89.5f ? 89.5f : magnitude;  // beyond 89.42 both functions overflow
    const float shifted = x * 1.44269504088896341f + kRoundToInteger;
    const float n = shifted - kRoundToInteger;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    const float z = r * r;
    sine = ((1.99050715e-4f * z + 8.33328906e-3f) * z + 1.66666672e-1f) * z * r + r;
    cosine = ((1.39463309e-3f * z + 4.16662656e-2f) * z + 0.5f) * z + 1.0f;
    const int32_t exponent = bits_as<int32_t>(shifted) - bits_as<int32_t>(kRoundToInteger);
    const int32_t down_exponent = 125 - exponent;
    up = bits_as<float>((exponent + 125) << 23);
    down = bits_as<float>((down_exponent > 0 ? down_exponent : 0) << 23);
  }
};

[[gnu::always_inline]] inline float sinh(float x) noexcept {
  const ReducedHyperbolic h(std::fabs(x));
  const float half = h.cosine * (h.up - h.down) + h.sine * (h.up + h.down);
  return std::copysign(half + half, x);
}

[[gnu::always_inline]] inline float cosh(float x) noexcept {
  const ReducedHyperbolic h(std::fabs(x));
  const float half = h.cosine * (h.up + h.down) + h.sine * (h.up - h.down);
  return half + half;
}

/// Above this, x^2 + 1 and x^2 - 1 are x^2.
inline constexpr float kLargeHyperbolic = 1500.0f;
inline constexpr float kLog2 = 0.693147180559945309f;

[[gnu::always_inline]] inline float asinh(float x) noexcept {
  const float magnitude = std::fabs(x);
  const float z = x * x;
  float p = 2.0122003309e-2f;
  p = p * z - 4.2699340972e-2f;
  p = p * z + 7.4847586088e-2f;
  p = p * z - 1.6666288134e-1f;
  const float near_zero = p * z * magnitude + magnitude;
  const bool large = magnitude > kLargeHyperbolic;
  const float far = log_of_normal(large ? magnitude : magnitude + std::sqrt(z + 1.0f)) + (large ? kLog2 : 0.0f);
  const float result = magnitude < 0.5f ? near_zero : far;
  return std::copysign(magnitude < std::numeric_limits<float>::infinity() ? result : magnitude, x);
}

/// NaN below 1, by the square root.
[[gnu::always_inline]] inline float acosh(float x) noexcept {
  const float z = x - 1.0f;
  float p = 1.7596881071e-3f;
  p = p * z - 7.5272886713e-3f;
  p = p * z + 2.6454905019e-2f;
  p = p * z - 1.1784741703e-1f;
  p = p * z + 1.4142135263e+0f;
  const float near_one = p * std::sqrt(z);
  const bool large = x > kLargeHyperbolic;
  const float far = log_of_normal(large ? x : x + std::sqrt(z * (x + 1.0f))) + (large ? kLog2 : 0.0f);
  const float result = z < 0.5f ? near_one : far;
  return x < std::numeric_limits<float>::infinity() ? result : x;
}

/// For |x| < 1: half the logarithm of q = (1 + x) / (1 - x) = 2^e (1 + s) / (1 - s), which is e / 2 ln 2 + atanh(s). e
/// is near log2(q), by which |s| < 0.2; it is 0 for small x, where s is x. Polynomial fitted to the least relative
/// error, 2^-28.
[[gnu::always_inline]] inline float atanh(float x) noexcept {
  const float magnitude = std::fabs(x);
  const float above = 1.0f + magnitude;
  const float below = 1.0f - magnitude;
  const int32_t e = (bits_as<int32_t>(above) - bits_as<int32_t>(below) + (1 << 22)) >> 23;
  const float scaled = below * bits_as<float>((e + 127) << 23);
  const float s = (e == 0 ? magnitude + magnitude : above - scaled) / (above + scaled);
  const float z = s * s;
  const float p = (0.151919529f * z + 0.199783683f) * z + 0.333334804f;
  return std::copysign(static_cast<float>(e) * (0.5f * kLog2) + (p * z * s + s), x);
}

inline double sin(double x) noexcept { return std::sin(x); }
inline double cos(double x) noexcept { return std::cos(x); }
inline double tan(double x) noexcept { return std::tan(x); }
inline double asin(double x) noexcept { return std::asin(x); }
inline double acos(double x) noexcept { return std::acos(x); }
inline double atan(double x) noexcept { return std::atan(x); }
inline double sinh(double x) noexcept { return std::sinh(x); }
inline double cosh(double x) noexcept { return std::cosh(x); }
inline double asinh(double x) noexcept { return std::asinh(x); }
inline double acosh(double x) noexcept { return std::acosh(x); }
inline double atanh(double x) noexcept { return std::atanh(x); }

}  // namespace onnx_light_ort::kernels::vector_math
