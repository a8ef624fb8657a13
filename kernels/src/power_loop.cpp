#include "power_loop.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu_level.h"
#include "half_float.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kBlock = 256;

// Whether x^y is 2^(y log2 x) without further ado.
[[gnu::always_inline]] inline bool is_plain(double x, double y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return (x > 0) & (x < kInfinity) & (std::fabs(y) < kInfinity);
}

// log2 of a positive number: e + log2(m), m in [sqrt(1/2), sqrt(2)). Relative error 2^-35.8.
[[gnu::always_inline]] inline double log2_of_positive(double x) {
  constexpr uint64_t kRootHalf = 0x3FE6A09E667F3BCDu;
  constexpr uint64_t kTwo52 = 0x4330000000000000u;  // an integer in the low bits of 2^52 is a number without converting
  const uint64_t moved = bits_as<uint64_t>(x) - kRootHalf + (uint64_t{1023} << 52);
  const double e = bits_as<double>((moved >> 52) | kTwo52) - (0x1p52 + 1023);
  const double f = bits_as<double>((moved & 0x000FFFFFFFFFFFFFu) + kRootHalf) - 1.0;
  double p = 0.077369480044227931;
  p = p * f - 0.14283866282265678;
  p = p * f + 0.14474855534062245;
  p = p * f - 0.1431566185412517;
  p = p * f + 0.15876980511225253;
  p = p * f - 0.1803005873738433;
  p = p * f + 0.20617535859847286;
  p = p * f - 0.24045316614708995;
  p = p * f + 0.28853729350475676;
  p = p * f - 0.36067367481858875;
  p = p * f + 0.48089836139510594;
  p = p * f - 0.72134752086880261;
  p = p * f + 1.4426950408687058;
  return p * f + e;
}

// 2^t, beyond the range of float too. Relative error 2^-29.
[[gnu::always_inline]] inline double exp2_of(double t) {
  constexpr double kRoundToInteger = 0x1.8p52;
  t = t < -200.0 ? -200.0 : t;
  t = t > 200.0 ? 200.0 : t;
  const double shifted = t + kRoundToInteger;
  const double r = t - (shifted - kRoundToInteger);
  double p = 0.00015475876033146693;
  p = p * r + 0.0013400248777527507;
  p = p * r + 0.0096180055029202911;
  p = p * r + 0.055503278603476314;
  p = p * r + 0.24022651331499958;
  p = p * r + 0.69314720619967707;
  p = p * r + 1.0;
  return p * bits_as<double>((bits_as<uint64_t>(shifted) + 1023) << 52);
}

// |x|^y, and in `plain` whether that was right everywhere.
[[gnu::always_inline]] inline void plain_powers(const double* x, const double* y, float* out, int64_t n,
                                                uint64_t* plain) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(exp2_of(y[i] * log2_of_positive(std::fabs(x[i]))));
  uint64_t all = 1;
  for (int64_t i = 0; i < n; ++i) all &= is_plain(x[i], y[i]) ? uint64_t{1} : uint64_t{0};
  *plain = all;
}

// Of a negative base the result is known but for its sign; zeros, infinities and NaN go to the C library.
void correct_powers(const double* x, const double* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (is_plain(x[i], y[i])) continue;
    if (!is_plain(-x[i], y[i])) {
      out[i] = static_cast<float>(std::pow(x[i], y[i]));
    } else if (y[i] != std::floor(y[i])) {
      out[i] = std::numeric_limits<float>::quiet_NaN();
    } else if (0.5 * y[i] != std::floor(0.5 * y[i])) {
      out[i] = -out[i];
    }
  }
}

void powers(const double* x, const double* y, float* out, int64_t n) {
  static const auto loop = CostlyVersions<&plain_powers>::best();
  uint64_t plain = 0;
  loop(x, y, out, n, &plain);
  if (plain == 0) correct_powers(x, y, out, n);
}

template <class T>
void widen_strided(const T* x, int64_t stride, double* y, int64_t n) {
  if (stride == 0) {
    std::fill_n(y, n, static_cast<double>(*x));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<double>(x[i]);
  }
}

#if defined(__x86_64__)
// 1/c and -log2(c) for the 32 cells [c-, c+) that the leading five bits of a mantissa tell apart, of [1, 3/2) and
// [3/4, 1). Both cells at 1 have c = 1, so that logarithms near zero keep their places.
struct LogarithmTable {
  alignas(64) float reciprocal[32];
  alignas(64) float high[32];  // few enough bits that adding an exponent is exact
  alignas(64) float low[32];

  LogarithmTable() {
    for (int i = 0; i < 32; ++i) {
      const double center = i < 16 ? 1 + (i + 0.5) / 32 : 0.5 + (i + 0.5) / 64;
      reciprocal[i] = i == 0 || i == 31 ? 1.0f : static_cast<float>(1 / center);
      const double logarithm = -std::log2(static_cast<double>(reciprocal[i]));
      high[i] = static_cast<float>(std::nearbyint(logarithm * 0x1p15) * 0x1p-15);
      low[i] = static_cast<float>(logarithm - static_cast<double>(high[i]));
    }
  }
};

// Sixteen powers at a time in single precision, logarithms as unevaluated sums of two floats. What is not plain, or has
// an exponent beyond kLargestExponent, is computed again in double.
constexpr float kLargestExponent = 32768.0f;

[[gnu::always_inline]] ONNX_LIGHT_TARGET_AVX512 inline __m512 all(float value) { return _mm512_set1_ps(value); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 means the undefined vectors of its own intrinsics

// A product that the compiler does not fuse with what is added to it.
[[gnu::always_inline]] ONNX_LIGHT_TARGET_AVX512 inline __m512 rounded_product(__m512 a, __m512 b) {
  return _mm512_mul_round_ps(a, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
template <bool kBaseMoves, bool kExponentMoves>
ONNX_LIGHT_TARGET_AVX512 void powers_avx512(const float* base, const float* exponent, float* out, int64_t n) {
  static const LogarithmTable table;
  const __m512 reciprocals[2] = {_mm512_load_ps(table.reciprocal), _mm512_load_ps(table.reciprocal + 16)};
  const __m512 highs[2] = {_mm512_load_ps(table.high), _mm512_load_ps(table.high + 16)};
  const __m512 lows[2] = {_mm512_load_ps(table.low), _mm512_load_ps(table.low + 16)};
  for (int64_t i = 0; i < n; i += 16) {
    const auto few = static_cast<__mmask16>(n - i < 16 ? (1u << (n - i)) - 1 : 0xFFFFu);
    const __m512 x = kBaseMoves ? _mm512_mask_loadu_ps(all(1), few, base + i) : all(*base);
    const __m512 y = kExponentMoves ? _mm512_mask_loadu_ps(all(1), few, exponent + i) : all(*exponent);

    // x = 2^e m, m = c (1 + r + r_low); log2(x) = e + log2(c) + log2(1 + r + r_low) = high + low
    const __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src);
    const __m512 e = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m));
    const __m512i cell = _mm512_srli_epi32(_mm512_castps_si512(m), 18);
    const __m512 reciprocal = _mm512_permutex2var_ps(reciprocals[0], cell, reciprocals[1]);
    const __m512 quotient = rounded_product(m, reciprocal);
    const __m512 r_low = _mm512_fmsub_ps(m, reciprocal, quotient);
    const __m512 r = _mm512_sub_ps(quotient, all(1));
    __m512 p = all(0.279950857f);
    p = _mm512_fmadd_ps(p, r, all(-0.360694975f));
    p = _mm512_fmadd_ps(p, r, all(0.480900437f));
    p = _mm512_fmadd_ps(p, r, all(-0.721347511f));
    p = _mm512_fmadd_ps(p, r, all(1.92596303e-8f));  // the low part of 1 / ln 2
    const __m512 log2_e = all(1.44269502f);
    const __m512 linear = rounded_product(r, log2_e);
    __m512 low = _mm512_fmsub_ps(r, log2_e, linear);
    low = _mm512_fmadd_ps(_mm512_fnmadd_ps(r_low, r, r_low), log2_e, low);  // r_low / (1 + r)
    low = _mm512_fmadd_ps(r, p, low);
    low = _mm512_add_ps(low, _mm512_permutex2var_ps(lows[0], cell, lows[1]));
    const __m512 whole = _mm512_add_ps(e, _mm512_permutex2var_ps(highs[0], cell, highs[1]));
    const __m512 high = _mm512_add_ps(whole, linear);
    low = _mm512_add_ps(low, _mm512_sub_ps(linear, _mm512_sub_ps(high, whole)));

    // 2^(y (high + low)) = 2^n 2^t
    const __m512 product = rounded_product(y, high);
    const __m512 rest = _mm512_fmadd_ps(y, low, _mm512_fmsub_ps(y, high, product));
    const __m512 nearest =
        _mm512_roundscale_ps(_mm512_add_ps(product, rest), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 t = _mm512_add_ps(_mm512_sub_ps(product, nearest), rest);
    __m512 q = all(0.000154761685f);
    q = _mm512_fmadd_ps(q, t, all(0.00134005165f));
    q = _mm512_fmadd_ps(q, t, all(0.00961800478f));
    q = _mm512_fmadd_ps(q, t, all(0.0555032715f));
    q = _mm512_fmadd_ps(q, t, all(0.240226507f));
    q = _mm512_fmadd_ps(q, t, all(0.693147182f));
    q = _mm512_fmadd_ps(q, t, all(1));
    _mm512_mask_storeu_ps(out + i, few, _mm512_scalef_ps(q, nearest));

    const __m512i above_subnormal = _mm512_sub_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x00800000));
    const __mmask16 plain = _mm512_cmplt_epu32_mask(above_subnormal, _mm512_set1_epi32(0x7F000000)) &
                            _mm512_cmp_ps_mask(_mm512_abs_ps(y), all(kLargestExponent), _CMP_LE_OQ);
    if (plain != 0xFFFF) {
      double wide_base[16];
      double wide_exponent[16];
      const int64_t count = std::min<int64_t>(16, n - i);
      widen_strided(base + (kBaseMoves ? i : 0), kBaseMoves, wide_base, count);
      widen_strided(exponent + (kExponentMoves ? i : 0), kExponentMoves, wide_exponent, count);
      powers(wide_base, wide_exponent, out + i, count);
    }
  }
}
#pragma GCC diagnostic pop
#endif

}  // namespace

template <class Exponent>
void power_loop(const float* base, int64_t base_stride, const Exponent* exponent, int64_t exponent_stride, float* out,
                int64_t n) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<Exponent, float>) {
    if (cpu_level() >= CpuLevel::kAvx512) {
      const auto loop = base_stride == 0       ? &powers_avx512<false, true>
                        : exponent_stride == 0 ? &powers_avx512<true, false>
                                               : &powers_avx512<true, true>;
      loop(base, exponent, out, base_stride == 0 && exponent_stride == 0 ? 1 : n);
      if (base_stride == 0 && exponent_stride == 0) std::fill_n(out, n, *out);
      return;
    }
  }
#endif
  if (cpu_level() == CpuLevel::kBaseline) {  // two doubles at a time take longer than the C library does
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<float>(std::pow(base[i * base_stride], exponent[i * exponent_stride]));
    }
    return;
  }
  double wide_base[kBlock];
  double wide_exponent[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    widen_strided(base + i * base_stride, base_stride, wide_base, count);
    widen_strided(exponent + i * exponent_stride, exponent_stride, wide_exponent, count);
    powers(wide_base, wide_exponent, out + i, count);
  }
}

template void power_loop(const float*, int64_t, const float*, int64_t, float*, int64_t);
template void power_loop(const float*, int64_t, const double*, int64_t, float*, int64_t);
template void power_loop(const float*, int64_t, const int32_t*, int64_t, float*, int64_t);
template void power_loop(const float*, int64_t, const int64_t*, int64_t, float*, int64_t);

}  // namespace onnx_light_ort::kernels
