// The type of a value: what kind of thing it is and, for a tensor, its element type and shape.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>

#include "tensor_type_and_shape.h"

struct OrtTypeInfo {
  ONNXType type = ONNX_TYPE_UNKNOWN;
  /// Set for tensors and sparse tensors; what CastTypeInfoToTensorInfo lends.
  std::unique_ptr<OrtTensorTypeAndShapeInfo> tensor;
  /// The meaning that the model gives the value, such as "IMAGE"; "" where it gives none.
  std::string denotation;

  std::unique_ptr<OrtTypeInfo> clone() const {
    auto copy = std::make_unique<OrtTypeInfo>();
    copy->type = type;
    if (tensor != nullptr) copy->tensor = std::make_unique<OrtTensorTypeAndShapeInfo>(*tensor);
    copy->denotation = denotation;
    return copy;
  }

  static std::unique_ptr<OrtTypeInfo> of_tensor(std::unique_ptr<OrtTensorTypeAndShapeInfo> tensor) {
    auto info = std::make_unique<OrtTypeInfo>();
    info->type = ONNX_TYPE_TENSOR;
    info->tensor = std::move(tensor);
    return info;
  }
};
