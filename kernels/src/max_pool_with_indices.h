// MaxPool with its second output: where in the input each maximum lies.
#pragma once

#include <memory>

#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// A kernel for MaxPool of float, double, int8 or uint8. An index counts the elements of the whole input, in row-major
/// order, or with storage_order 1 in column-major order within each plane; of equal elements it is the first. A window
/// without any element has the index -1.
std::unique_ptr<Kernel> make_max_pool_with_indices(const Node& node);

}  // namespace onnx_light_ort::kernels
