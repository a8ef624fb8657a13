#include "half_float.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cpu_level.h"

namespace onnx_light_ort::kernels {
namespace {

template <class Half>
[[gnu::always_inline]] inline void widen_loop(const Half* x, float* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = to_float(x[i]);
}

template <class Half>
[[gnu::always_inline]] inline void narrow_loop(const float* x, Half* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) from_float(x[i], y[i]);
}

#if defined(__x86_64__)
// Eight at a time with the CPU's own conversions, which round to nearest even as well.
ONNX_LIGHT_TARGET_AVX2 void widen_f16c(const Float16* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
  widen_loop(x + i, y + i, n - i);
}

ONNX_LIGHT_TARGET_AVX2 void narrow_f16c(const float* x, Float16* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), halves);
  }
  narrow_loop(x + i, y + i, n - i);
}

template <class Loop>
Loop* pick(Loop* baseline, Loop* f16c) {
  return cpu_level() >= CpuLevel::kAvx2 ? f16c : baseline;
}
#else
constexpr auto widen_f16c = &widen_loop<Float16>;
constexpr auto narrow_f16c = &narrow_loop<Float16>;
template <class Loop>
Loop* pick(Loop* baseline, Loop*) {
  return baseline;
}
#endif

}  // namespace

void widen(const BFloat16* x, float* y, int64_t n) noexcept {
  static const auto loop = Versions<&widen_loop<BFloat16>>::best();
  loop(x, y, n);
}

void widen(const Float16* x, float* y, int64_t n) noexcept {
  static const auto loop = pick(&Versions<&widen_loop<Float16>>::baseline, &widen_f16c);
  loop(x, y, n);
}

void narrow(const float* x, BFloat16* y, int64_t n) noexcept {
  static const auto loop = Versions<&narrow_loop<BFloat16>>::best();
  loop(x, y, n);
}

void narrow(const float* x, Float16* y, int64_t n) noexcept {
  static const auto loop = pick(&Versions<&narrow_loop<Float16>>::baseline, &narrow_f16c);
  loop(x, y, n);
}

}  // namespace onnx_light_ort::kernels
