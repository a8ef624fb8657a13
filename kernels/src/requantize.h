// Sums of products of 8-bit integers back to 8 bits: round(sum * scale) + zero, saturated; halves go to the even
// neighbour. In float, as ORT computes it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "cpu_level.h"
#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

/// n sums, with a scale for each or one for all.
template <class T, bool kScaleForEach>
[[gnu::always_inline]] inline void requantize_run(const int32_t* sums, T* y, int64_t n, const float* scale,
                                                  int32_t zero) {
  const float low = static_cast<float>(std::numeric_limits<T>::min() - zero);
  const float high = static_cast<float>(std::numeric_limits<T>::max() - zero);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float value = static_cast<float>(sums[i]) * scale[kScaleForEach ? i : 0];
    const float raised = value > low ? value : low;
    const float clamped = raised < high ? raised : high;
    y[i] = static_cast<T>(static_cast<int32_t>(std::nearbyint(clamped)) + zero);
  }
}

/// Elements [at, at + n) of y, a tensor of int8 or uint8.
template <bool kScaleForEach>
void requantize(const int32_t* sums, const TensorView& y, int64_t at, int64_t n, const float* scale, int32_t zero) {
  if (y.dtype == DataType::kInt8) {
    Versions<&requantize_run<int8_t, kScaleForEach>>::best()(sums, y.as<int8_t>() + at, n, scale, zero);
  } else {
    Versions<&requantize_run<uint8_t, kScaleForEach>>::best()(sums, y.as<uint8_t>() + at, n, scale, zero);
  }
}

}  // namespace onnx_light_ort::kernels
