// Filling a dense tensor by a table of source indices for each dimension: padding and nearest-neighbour resizing.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// Element (i0, i1, ...) of `to` is element (tables[0][i0], tables[1][i1], ...) of `from`, or the element at `fill`
/// where a table says -1. `from` may have strides. Elements have `width` bytes (1, 2, 4, 8 or 16).
void table_copy(RunContext& context, const TensorView& to, const TensorView& from,
                const std::vector<std::vector<int64_t>>& tables, const void* fill, size_t width);

}  // namespace onnx_light_ort::kernels
