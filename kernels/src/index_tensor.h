// Indices of either index type, checked against what they index.
#pragma once

#include <cstdint>
#include <string>

#include "onnx_light_ort/kernels/error.h"
#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

/// Element i of `indices` (int32 or int64) as a position in [0, extent); negative ones count from the end. Throws Error
/// where it is out of range, as ORT does.
inline int64_t index_at(const TensorView& indices, int64_t i, int64_t extent, const char* op) {
  const int64_t index = indices.dtype == DataType::kInt32 ? indices.as<int32_t>()[i] : indices.as<int64_t>()[i];
  if (index < -extent || index >= extent) {
    invalid_argument(std::string(op) + ": index " + std::to_string(index) + " is outside [" + std::to_string(-extent) +
                     ", " + std::to_string(extent) + ")");
  }
  return index < 0 ? index + extent : index;
}

}  // namespace onnx_light_ort::kernels
