// Micro-kernels of gemm.h for CPU level avx512.
#include "gemm_levels.h"

#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")
#endif

namespace onnx_light_ort::kernels {
namespace {
constexpr int kVectorBytes = 64;
constexpr int kRows = 12;
#include "gemm_micro_kernel.inc"
}  // namespace

const MicroKernels<float>& avx512_micro_kernels(float) { return kernels_of_level<float>(); }
const MicroKernels<double>& avx512_micro_kernels(double) { return kernels_of_level<double>(); }

}  // namespace onnx_light_ort::kernels
