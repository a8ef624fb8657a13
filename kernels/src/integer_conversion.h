// Floating point to integer, defined for every value: toward zero in range; outside, and for NaN, what x86's conversion
// instructions give, which is what ORT and numpy show on this platform.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace onnx_light_ort::kernels {

template <class Integer, class Real>
[[gnu::always_inline]] inline Integer integer_from(Real x) noexcept {
  constexpr Real k2To31 = static_cast<Real>(2147483648.0);
  constexpr Real k2To63 = static_cast<Real>(9223372036854775808.0);
  if constexpr (sizeof(Integer) < 4 || std::is_same_v<Integer, int32_t>) {
    // Narrow types take the low bits of the 32-bit result. For float, -2^31 - 1 rounds to -2^31, which is in range.
    const bool in_range = (std::is_same_v<Real, float> ? x >= -k2To31 : x > -k2To31 - 1) && x < k2To31;
    return static_cast<Integer>(in_range ? static_cast<int32_t>(in_range ? x : Real(0))
                                         : std::numeric_limits<int32_t>::min());
  } else if constexpr (std::is_same_v<Integer, uint64_t>) {
    if (x >= k2To63) return static_cast<uint64_t>(integer_from<int64_t>(x - k2To63)) ^ (uint64_t{1} << 63);
    return static_cast<uint64_t>(integer_from<int64_t>(x));
  } else {
    const bool in_range = x >= -k2To63 && x < k2To63;
    return static_cast<Integer>(in_range ? static_cast<int64_t>(in_range ? x : Real(0))
                                         : std::numeric_limits<int64_t>::min());
  }
}

}  // namespace onnx_light_ort::kernels
