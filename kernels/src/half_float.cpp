#include "half_float.h"

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

}  // namespace

void widen(const BFloat16* x, float* y, int64_t n) noexcept {
  static const auto loop = Versions<&widen_loop<BFloat16>>::best();
  loop(x, y, n);
}

void widen(const Float16* x, float* y, int64_t n) noexcept {
  static const auto loop = Versions<&widen_loop<Float16>>::best();
  loop(x, y, n);
}

void narrow(const float* x, BFloat16* y, int64_t n) noexcept {
  static const auto loop = Versions<&narrow_loop<BFloat16>>::best();
  loop(x, y, n);
}

void narrow(const float* x, Float16* y, int64_t n) noexcept {
  static const auto loop = Versions<&narrow_loop<Float16>>::best();
  loop(x, y, n);
}

}  // namespace onnx_light_ort::kernels
