#include "external_initializer.h"

#include "slots.h"

namespace onnx_light_ort::abi {

void OrtApiSlots::ReleaseExternalInitializerInfo(OrtExternalInitializerInfo* input) { delete input; }

const ORTCHAR_T* OrtApiSlots::ExternalInitializerInfo_GetFilePath(const OrtExternalInitializerInfo* info) {
  return info->file_path.c_str();
}

int64_t OrtApiSlots::ExternalInitializerInfo_GetFileOffset(const OrtExternalInitializerInfo* info) {
  return info->file_offset;
}

size_t OrtApiSlots::ExternalInitializerInfo_GetByteSize(const OrtExternalInitializerInfo* info) {
  return info->byte_size;
}

}  // namespace onnx_light_ort::abi
