// Element types under the runtime's numbers, which leave ONNX's after 23.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::reverse {

/// kUndefined for anything that kernels do not know.
constexpr kernels::DataType from_ort(ONNXTensorElementDataType type) noexcept {
  using kernels::DataType;
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2:
      return DataType::kUInt2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2:
      return DataType::kInt2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0:
      return DataType::kFloat8E8M0;
    default:
      return type >= 0 && type <= static_cast<int>(DataType::kFloat4E2M1) ? static_cast<DataType>(type)
                                                                          : DataType::kUndefined;
  }
}

constexpr ONNXTensorElementDataType to_ort(kernels::DataType type) noexcept {
  using kernels::DataType;
  switch (type) {
    case DataType::kUInt2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2;
    case DataType::kInt2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2;
    case DataType::kFloat8E8M0:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0;
    default:
      return static_cast<ONNXTensorElementDataType>(type);
  }
}

/// Whether the ABI shows the elements of such tensors as memory. Strings are the runtime's own objects.
constexpr bool is_expressible(kernels::DataType type) noexcept {
  return type != kernels::DataType::kUndefined && type != kernels::DataType::kString;
}

}  // namespace onnx_light_ort::reverse
