// What plugins ask of an OrtMemoryDevice, which lies in the OrtMemoryInfo that it describes.
#include "memory_info.h"
#include "ort_value.h"
#include "slots.h"

namespace onnx_light_ort::abi {

const OrtMemoryDevice* OrtEpApiSlots::MemoryInfo_GetMemoryDevice(const OrtMemoryInfo* memory_info) {
  return &memory_info->device;
}

const OrtMemoryDevice* OrtEpApiSlots::Value_GetMemoryDevice(const OrtValue* value) {
  if (value == nullptr || value->view == nullptr) return nullptr;
  return value->owned ? &static_cast<const OwnedValue*>(value)->memory.device : &cpu_memory_info().device;
}

bool OrtEpApiSlots::MemoryDevice_AreEqual(const OrtMemoryDevice* a, const OrtMemoryDevice* b) {
  return a != nullptr && b != nullptr && *a == *b;
}

OrtMemoryInfoDeviceType OrtEpApiSlots::MemoryDevice_GetDeviceType(const OrtMemoryDevice* memory_device) {
  return memory_device->type;
}

OrtDeviceMemoryType OrtEpApiSlots::MemoryDevice_GetMemoryType(const OrtMemoryDevice* memory_device) {
  return memory_device->memory_type;
}

uint32_t OrtEpApiSlots::MemoryDevice_GetVendorId(const OrtMemoryDevice* memory_device) {
  return memory_device->vendor_id;
}

uint32_t OrtEpApiSlots::MemoryDevice_GetDeviceId(const OrtMemoryDevice* memory_device) {
  return static_cast<uint32_t>(memory_device->device_id);
}

}  // namespace onnx_light_ort::abi
