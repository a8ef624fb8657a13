// Elementary functions in single precision that the compiler vectorises: no branch, no table, no call. Errors are a few
// units in the last place. Polynomials: S. Moshier, Cephes Mathematical Library 2.8 (expf, logf, tanhf, ndtrf).
// The overloads for double are the C library's.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "half_float.h"

namespace onnx_light_ort::kernels::vector_math {

/// exp(x) = 2^n * exp(r) with n = round(x / ln 2). Overflows to infinity, underflows through subnormal numbers, NaN
/// stays.
[[gnu::always_inline]] inline float exp(float x) noexcept {
  constexpr float kRoundToInteger = 12582912.0f;  // 1.5 * 2^23: adding it leaves the rounded integer in the low bits
  x = x < -104.0f ? -104.0f : x;
  x = x > 90.0f ? 90.0f : x;
  const float shifted = x * 1.44269504088896341f + kRoundToInteger;
  const float n = shifted - kRoundToInteger;
  const int32_t exponent = bits_as<int32_t>(shifted) - bits_as<int32_t>(kRoundToInteger);
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float mantissa = p * (r * r) + r + 1.0f;
  // In two factors, since 2^n alone may leave the range although the product does not.
  const int32_t half = exponent >> 1;
  const float scale_a = bits_as<float>(static_cast<uint32_t>(half + 127) << 23);
  const float scale_b = bits_as<float>(static_cast<uint32_t>(exponent - half + 127) << 23);
  return mantissa * scale_a * scale_b;
}

/// log(x) = e * ln 2 + log(m), m in [sqrt(1/2), sqrt(2)), for positive normal numbers.
[[gnu::always_inline]] inline float log_of_normal(float x) noexcept {
  // Moves sqrt(1/2) to a power of two, so that the exponent field counts from there.
  const uint32_t moved = bits_as<uint32_t>(x) - 0x3F3504F3u;
  const auto e = static_cast<float>(static_cast<int32_t>(moved) >> 23);
  const float m = bits_as<float>((moved & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z;
  y = y - 2.12194440e-4f * e;
  y = y - 0.5f * z;
  return m + y + 0.693359375f * e;
}

/// -infinity at 0, NaN below.
[[gnu::always_inline]] inline float log(float x) noexcept {
  const bool subnormal = x < std::numeric_limits<float>::min();
  float result = log_of_normal(subnormal ? x * 0x1p25f : x) - (subnormal ? 25.0f * 0.693147180559945309f : 0.0f);
  result = x == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  result = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : result;
  // Infinity and NaN are their own logarithms.
  return (bits_as<uint32_t>(x) & 0x7FFFFFFFu) >= 0x7F800000u && !(x < 0.0f) ? x : result;
}

/// log(1 + x) for x in [0, 1], as 2 atanh(x / (2 + x)); polynomial fitted to the least relative error, 2^-33. NaN
/// stays.
[[gnu::always_inline]] inline float log1p(float x) noexcept {
  const float s = x / (2.0f + x);
  const float z = s * s;
  float p = 1.21502273e-1f;
  p = p * z + 1.07138984e-1f;
  p = p * z + 1.43084347e-1f;
  p = p * z + 1.99994385e-1f;
  p = p * z + 3.33333373e-1f;
  const float half = p * z * s + s;
  return half + half;
}

/// x P(x^2) / Q(x^2) with the least relative error on [-9, 9], 2e-8 before rounding (fitted by reweighted least
/// squares); beyond, tanh is 1 in single precision.
[[gnu::always_inline]] inline float tanh(float x) noexcept {
  float clamped = x > 9.0f ? 9.0f : x;
  clamped = clamped < -9.0f ? -9.0f : clamped;
  const float z = clamped * clamped;
  float p = 1.335463029050743e-8f;
  p = p * z + 2.0609057173714973e-5f;
  p = p * z + 3.495586570352316e-3f;
  p = p * z + 1.3381023705005646e-1f;
  p = p * z + 1.0f;
  float q = 7.776544634907623e-7f;
  q = q * z + 3.285632119514048e-4f;
  q = q * z + 2.5876976549625397e-2f;
  q = q * z + 4.6714338660240173e-1f;
  q = q * z + 1.0f;
  float y = clamped * (p / q);
  y = y > 1.0f ? 1.0f : y;
  return y < -1.0f ? -1.0f : y;
}

/// By exp of a negative number only, so that small results keep their relative precision.
[[gnu::always_inline]] inline float sigmoid(float x) noexcept {
  const float e = exp(x < 0.0f ? x : -x);
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

[[gnu::always_inline]] inline float erf(float x) noexcept {
  const float magnitude = x < 0.0f ? -x : x;
  const float z = x * x;
  float t = 7.853861353153693e-5f;
  t = t * z - 8.010193625184903e-4f;
  t = t * z + 5.188327685732524e-3f;
  t = t * z - 2.685381193529856e-2f;
  t = t * z + 1.128358514861418e-1f;
  t = t * z - 3.761262582423300e-1f;
  t = t * z + 1.128379165726710e+0f;
  const float near_zero = x * t;

  const float q = 1.0f / (magnitude > 1.0f ? magnitude : 1.0f);
  const float y = q * q;
  float p = 2.326819970068386e-2f;
  p = p * y - 1.387039388740657e-1f;
  p = p * y + 3.687424674597105e-1f;
  p = p * y - 5.824733027278666e-1f;
  p = p * y + 6.210004621745983e-1f;
  p = p * y - 4.944515323274145e-1f;
  p = p * y + 3.404879937665872e-1f;
  p = p * y - 2.741127028184656e-1f;
  p = p * y + 5.638259427386472e-1f;
  float r = -1.047766399936249e+1f;
  r = r * y + 1.297719955372516e+1f;
  r = r * y - 7.495518717768503e+0f;
  r = r * y + 2.921019019210786e+0f;
  r = r * y - 1.015265279202700e+0f;
  r = r * y + 4.218463358204948e-1f;
  r = r * y - 2.820767439740514e-1f;
  r = r * y + 5.641895067754075e-1f;
  const float far = 1.0f - exp(-z) * q * (magnitude < 2.0f ? p : r);
  const float signed_far = x < 0.0f ? -far : far;
  return magnitude > 1.0f ? signed_far : near_zero;
}

inline double exp(double x) noexcept { return std::exp(x); }
inline double log(double x) noexcept { return std::log(x); }
inline double log1p(double x) noexcept { return std::log1p(x); }
inline double tanh(double x) noexcept { return std::tanh(x); }
inline double sigmoid(double x) noexcept {
  const double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
inline double erf(double x) noexcept { return std::erf(x); }

}  // namespace onnx_light_ort::kernels::vector_math
