#include "element_type.h"

#include <string>

#include "error.h"

namespace onnx_light_ort::abi {

using kernels::DataType;

ONNXTensorElementDataType to_abi(DataType type) noexcept {
  switch (type) {
    case DataType::kUInt2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2;
    case DataType::kInt2:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2;
    case DataType::kFloat8E8M0:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0;
    default:
      break;
  }
  const auto number = static_cast<int32_t>(type);
  return number > 0 && number <= static_cast<int32_t>(DataType::kFloat4E2M1)
             ? static_cast<ONNXTensorElementDataType>(number)
             : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

DataType from_abi(ONNXTensorElementDataType type) noexcept {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2:
      return DataType::kUInt2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2:
      return DataType::kInt2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0:
      return DataType::kFloat8E8M0;
    default:
      break;
  }
  const auto number = static_cast<int64_t>(type);
  return number > 0 && number <= static_cast<int64_t>(DataType::kFloat4E2M1) ? static_cast<DataType>(number)
                                                                             : DataType::kUndefined;
}

DataType tensor_element_type(ONNXTensorElementDataType type) {
  const DataType converted = from_abi(type);
  if (converted == DataType::kUndefined) {
    throw Error(ORT_NOT_IMPLEMENTED, "there is no tensor of element type " + std::to_string(static_cast<int>(type)) +
                                         ": pass a defined member of ONNXTensorElementDataType");
  }
  return converted;
}

}  // namespace onnx_light_ort::abi
