// Dense copies of tensors with strides.
#pragma once

#include "onnx_light_ort/kernels/run_context.h"
#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

/// Writes the elements of `from`, of a type that has whole bytes, to `to` in row-major order, on the context's threads.
void copy_dense(RunContext& context, const TensorView& from, void* to);

/// The view itself where it is dense, else one of a dense copy in scratch memory of the call.
TensorView dense(RunContext& context, const TensorView& view);

}  // namespace onnx_light_ort::kernels
