// Micro-kernels of gemm.h for CPU level avx2.
#include "gemm_levels.h"

#if defined(__x86_64__)
#pragma GCC target("avx2,fma,f16c,bmi,bmi2")
#endif

namespace onnx_light_ort::kernels {
namespace {
constexpr int kVectorBytes = 32;
constexpr int kRows = 6;
#include "gemm_micro_kernel.inc"
}  // namespace

const MicroKernels<float>& avx2_micro_kernels(float) { return kernels_of_level<float>(); }
const MicroKernels<double>& avx2_micro_kernels(double) { return kernels_of_level<double>(); }

}  // namespace onnx_light_ort::kernels
