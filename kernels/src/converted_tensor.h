// A tensor's elements as another type, for the length of a call.
#pragma once

#include "element_conversion.h"
#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// Converts all elements of x to those of y, as many, on the call's threads.
inline void convert_tensor(RunContext& context, const TensorView& x, const TensorView& y,
                           const Narrowing& narrowing = {}) {
  ElementConversion(x.dtype, y.dtype, narrowing).run_all(context, x, y);
}

/// A dense view like x of elements of `type` in scratch memory, uninitialised.
inline TensorView scratch_like(RunContext& context, const TensorView& x, DataType type) {
  TensorView view = x;
  view.dtype = type;
  view.strides = nullptr;
  view.data = context.scratch(checked_byte_size(type, x.element_count).value());
  return view;
}

/// x itself where it is of the type, else a converted copy, which is dense, in scratch memory.
inline TensorView converted(RunContext& context, const TensorView& x, DataType type) {
  if (x.dtype == type) return x;
  const TensorView copy = scratch_like(context, x, type);
  convert_tensor(context, x, copy);
  return copy;
}

}  // namespace onnx_light_ort::kernels
