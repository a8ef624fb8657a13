// Filling a dense tensor from a strided one: what slicing, transposing, expanding and tiling come down to.
// onnx_light_ort/kernels/dense_copy.h has it for whole views.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dims.h"
#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// Copies element (i0, i1, ...) of a dense tensor of `dims` from `from` + sum of i_d * strides[d], in elements of
/// `width` bytes (1, 2, 4, 8 or 16). Strides may be zero or negative.
void strided_copy(RunContext& context, void* to, const Dims& dims, const void* from, const Dims& strides, size_t width);

/// The same for a tile of two dimensions, in the calling thread. Rows of `to` are `columns` elements apart.
void copy_tile(void* to, const void* from, int64_t rows, int64_t row_stride, int64_t columns, int64_t column_stride,
               size_t width);

/// Strides of a dense row-major tensor.
Dims dense_strides(const int64_t* dims, size_t rank);

/// Strides of a view, row-major where it has none of its own.
Dims strides_of(const TensorView& view);

}  // namespace onnx_light_ort::kernels
