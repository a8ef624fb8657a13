// Micro-kernels of gemm.h for CPU level baseline.
#include "gemm_levels.h"

namespace onnx_light_ort::kernels {
namespace {
constexpr int kVectorBytes = 16;
constexpr int kRows = 4;
#include "gemm_micro_kernel.inc"
}  // namespace

const MicroKernels<float>& baseline_micro_kernels(float) { return kernels_of_level<float>(); }
const MicroKernels<double>& baseline_micro_kernels(double) { return kernels_of_level<double>(); }

}  // namespace onnx_light_ort::kernels
