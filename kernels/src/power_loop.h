// Powers of float, many at once.
#pragma once

#include <cstdint>

namespace onnx_light_ort::kernels {

/// out[i] = base[i * base_stride] ^ exponent[i * exponent_stride] for i in [0, n), strides 0 or 1, with the special
/// cases of C's pow. Within two units in the last place where the CPU has AVX-512, else within one. For exponents of
/// float, double, int32 and int64.
template <class Exponent>
void power_loop(const float* base, int64_t base_stride, const Exponent* exponent, int64_t exponent_stride, float* out,
                int64_t n);

}  // namespace onnx_light_ort::kernels
