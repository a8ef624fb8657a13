// Reductions of contiguous elements in a fixed number of independent lanes, so that the compiler vectorises them and
// the result does not depend on threads or on the CPU.
#pragma once

#include <cstdint>
#include <limits>

namespace onnx_light_ort::kernels {

/// Folds op over x[0..n), starting from `start`; op(accumulator, element) and merge(a, b) on accumulators.
template <class Accumulator, class T, class Op, class Merge>
[[gnu::always_inline]] inline Accumulator fold_lanes(const T* x, int64_t n, Accumulator start, Op op, Merge merge) {
  constexpr int kLanes = 32;
  Accumulator total = start;
  int64_t i = 0;
  if (n >= kLanes) {
    Accumulator lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = start;
    for (; i + kLanes <= n; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = op(lanes[lane], x[i + lane]);
    }
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) lanes[lane] = merge(lanes[lane], lanes[lane + width]);
    }
    total = lanes[0];
  }
  for (; i < n; ++i) total = op(total, x[i]);
  return total;
}

}  // namespace onnx_light_ort::kernels
