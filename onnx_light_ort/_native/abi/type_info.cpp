#include "type_info.h"

#include "element_type.h"
#include "ort_value.h"
#include "slots.h"

namespace onnx_light_ort::abi {

void OrtApiSlots::CastTypeInfoToTensorInfo(const OrtTypeInfo* type_info, const OrtTensorTypeAndShapeInfo** out) {
  *out = type_info->tensor.get();
}

void OrtApiSlots::GetOnnxTypeFromTypeInfo(const OrtTypeInfo* type_info, ONNXType* out) { *out = type_info->type; }

void OrtApiSlots::GetTypeInfo(const OrtValue* value, OrtTypeInfo** out) {
  if (value->view == nullptr) {  // A value without a type has no type information; that is no error.
    *out = nullptr;
    return;
  }
  const kernels::TensorView& view = *value->view;
  auto tensor = std::make_unique<OrtTensorTypeAndShapeInfo>(to_abi(view.dtype), view.dims, view.rank);
  *out = OrtTypeInfo::of_tensor(std::move(tensor)).release();
}

void OrtApiSlots::GetValueType(const OrtValue* value, ONNXType* out) {
  *out = value->view == nullptr ? ONNX_TYPE_UNKNOWN : ONNX_TYPE_TENSOR;
}

void OrtApiSlots::ReleaseTypeInfo(OrtTypeInfo* input) { delete input; }

void OrtApiSlots::GetDenotationFromTypeInfo(const OrtTypeInfo* type_info, const char** const denotation, size_t* len) {
  *denotation = type_info->denotation.c_str();
  *len = type_info->denotation.size();
}

void OrtApiSlots::CastTypeInfoToMapTypeInfo(const OrtTypeInfo*, const OrtMapTypeInfo** out) { *out = nullptr; }

void OrtApiSlots::CastTypeInfoToSequenceTypeInfo(const OrtTypeInfo*, const OrtSequenceTypeInfo** out) {
  *out = nullptr;
}

void OrtApiSlots::CastTypeInfoToOptionalTypeInfo(const OrtTypeInfo*, const OrtOptionalTypeInfo** out) {
  *out = nullptr;
}

}  // namespace onnx_light_ort::abi
