// Element types under the numbers of the ORT ABI, which leave ONNX's after 23. The only place that converts.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::abi {

/// ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED for kUndefined and for anything out of range.
ONNXTensorElementDataType to_abi(kernels::DataType type) noexcept;

/// kUndefined for UNDEFINED and for anything out of range, which a plugin may well pass.
kernels::DataType from_abi(ONNXTensorElementDataType type) noexcept;

/// As from_abi, for a type of which tensors are made. Throws Error (ORT_NOT_IMPLEMENTED) when it is none.
kernels::DataType tensor_element_type(ONNXTensorElementDataType type);

}  // namespace onnx_light_ort::abi
