// The builds of gemm's micro-kernels, one for each CPU level. The argument only selects the element type.
#pragma once

#include <utility>

#include "gemm.h"

namespace onnx_light_ort::kernels {

const MicroKernels<float>& baseline_micro_kernels(float);
const MicroKernels<double>& baseline_micro_kernels(double);
const MicroKernels<float>& avx2_micro_kernels(float);
const MicroKernels<double>& avx2_micro_kernels(double);
const MicroKernels<float>& avx512_micro_kernels(float);
const MicroKernels<double>& avx512_micro_kernels(double);

}  // namespace onnx_light_ort::kernels
