#include "memory_info.h"

#include <limits>
#include <memory>
#include <string_view>

#include "error.h"
#include "slots.h"

bool operator==(const OrtMemoryDevice& a, const OrtMemoryDevice& b) noexcept {
  return a.type == b.type && a.memory_type == b.memory_type && a.vendor_id == b.vendor_id &&
         a.device_id == b.device_id && a.alignment == b.alignment;
}

bool operator==(const OrtMemoryInfo& a, const OrtMemoryInfo& b) noexcept {
  return a.mem_type == b.mem_type && a.allocator_type == b.allocator_type && a.device == b.device && a.name == b.name;
}

namespace onnx_light_ort::abi {
namespace {

constexpr uint32_t kAmd = 0x1002;
constexpr uint32_t kNvidia = 0x10DE;
constexpr uint32_t kMicrosoft = 0x1414;
constexpr uint32_t kQualcomm = 0x5143;
constexpr uint32_t kIntel = 0x8086;

struct NamedDevice {
  std::string_view accepted;
  const char* name;  ///< What the description calls it; older names are accepted and replaced.
  OrtMemoryInfoDeviceType type;
  OrtDeviceMemoryType memory_type;
  uint32_t vendor_id;
  size_t alignment;
};

// The names that CreateMemoryInfo knows. A plugin for any device describes its memory through CreateMemoryInfo_V2.
constexpr NamedDevice kNamedDevices[] = {
    {"Cuda", "Cuda", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kNvidia, 0},
    {"CudaPinned", "CudaPinned", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_HOST_ACCESSIBLE, kNvidia, 0},
    {"Hip", "Hip", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kAmd, 0},
    {"HipPinned", "HipPinned", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_HOST_ACCESSIBLE, kAmd, 0},
    {"OpenVINO_GPU", "OpenVINO_GPU", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kIntel, 0},
    {"OpenVINO_RT_NPU", "OpenVINO_RT_NPU", OrtMemoryInfoDeviceType_NPU, OrtDeviceMemoryType_DEFAULT, kIntel, 0},
    {"DML", "DML", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kMicrosoft, 0},
    {"WebGPU_Buf", "WebGPU_Buf", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, 0, 0},
    {"WebGPU_Buffer", "WebGPU_Buf", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, 0, 0},
    {"WebNN_Ten", "WebNN_Ten", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, 0, 0},
    {"WebNN_Tensor", "WebNN_Ten", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, 0, 0},
    {"QnnHtpShared", "QnnHtpShared", OrtMemoryInfoDeviceType_CPU, OrtDeviceMemoryType_HOST_ACCESSIBLE, kQualcomm, 0},
    {"CpuAligned4K", "CpuAligned4K", OrtMemoryInfoDeviceType_CPU, OrtDeviceMemoryType_DEFAULT, 0, 4096},
};

constexpr char kCpuName[] = "Cpu";

}  // namespace

const OrtMemoryInfo& cpu_memory_info() noexcept {
  static const OrtMemoryInfo* const info = new OrtMemoryInfo{kCpuName, OrtDeviceAllocator, OrtMemTypeDefault, {}};
  return *info;
}

const char* type_name(OrtMemoryInfoDeviceType type) noexcept {
  switch (type) {
    case OrtMemoryInfoDeviceType_CPU:
      return "CPU";
    case OrtMemoryInfoDeviceType_GPU:
      return "GPU";
    case OrtMemoryInfoDeviceType_FPGA:
      return "FPGA";
    case OrtMemoryInfoDeviceType_NPU:
      return "NPU";
  }
  return "unknown";
}

void OrtApiSlots::CreateMemoryInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type,
                                   OrtMemoryInfo** out) {
  if (std::string_view(name) == kCpuName) {  // There is one CPU, whatever id the caller gives it.
    *out = new OrtMemoryInfo{kCpuName, type, mem_type, {}};
    return;
  }
  for (const NamedDevice& device : kNamedDevices) {
    if (device.accepted != name) continue;
    *out = new OrtMemoryInfo{
        device.name,
        type,
        mem_type,
        {device.type, device.memory_type, device.vendor_id, static_cast<int16_t>(id), device.alignment}};
    return;
  }
  throw Error(ORT_INVALID_ARGUMENT,
              "CreateMemoryInfo knows no device \"" + std::string(name) + "\": describe it with CreateMemoryInfo_V2");
}

void OrtApiSlots::CreateCpuMemoryInfo(OrtAllocatorType type, OrtMemType mem_type, OrtMemoryInfo** out) {
  *out = new OrtMemoryInfo{kCpuName, type, mem_type, {}};
}

void OrtApiSlots::CompareMemoryInfo(const OrtMemoryInfo* info1, const OrtMemoryInfo* info2, int* out) {
  *out = *info1 == *info2 ? 0 : -1;
}

void OrtApiSlots::MemoryInfoGetName(const OrtMemoryInfo* ptr, const char** out) { *out = ptr->name.c_str(); }

void OrtApiSlots::MemoryInfoGetId(const OrtMemoryInfo* ptr, int* out) { *out = ptr->device.device_id; }

void OrtApiSlots::MemoryInfoGetMemType(const OrtMemoryInfo* ptr, OrtMemType* out) { *out = ptr->mem_type; }

void OrtApiSlots::MemoryInfoGetType(const OrtMemoryInfo* ptr, OrtAllocatorType* out) { *out = ptr->allocator_type; }

void OrtApiSlots::ReleaseMemoryInfo(OrtMemoryInfo* input) { delete input; }

void OrtApiSlots::MemoryInfoGetDeviceType(const OrtMemoryInfo* ptr, OrtMemoryInfoDeviceType* out) {
  *out = ptr->device.type;
}

void OrtApiSlots::CreateMemoryInfo_V2(const char* name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id,
                                      int32_t device_id, OrtDeviceMemoryType mem_type, size_t alignment,
                                      OrtAllocatorType allocator_type, OrtMemoryInfo** out) {
  switch (device_type) {
    case OrtMemoryInfoDeviceType_CPU:
    case OrtMemoryInfoDeviceType_GPU:
    case OrtMemoryInfoDeviceType_FPGA:
    case OrtMemoryInfoDeviceType_NPU:
      break;
    default:
      throw Error(ORT_INVALID_ARGUMENT, "device type " + std::to_string(static_cast<int>(device_type)) +
                                            " is none of OrtMemoryInfoDeviceType: pass CPU, GPU, FPGA or NPU");
  }
  if (device_id < std::numeric_limits<int16_t>::min() || device_id > std::numeric_limits<int16_t>::max()) {
    throw Error(ORT_RUNTIME_EXCEPTION,
                "device id " + std::to_string(device_id) + " does not fit: pass one from -32768 to 32767");
  }
  // Whatever is not the device's own memory is taken for memory that the host can reach.
  const bool own = mem_type == OrtDeviceMemoryType_DEFAULT;
  *out = new OrtMemoryInfo{name,
                           allocator_type,
                           own ? OrtMemTypeDefault : OrtMemTypeCPU,
                           {device_type, own ? OrtDeviceMemoryType_DEFAULT : OrtDeviceMemoryType_HOST_ACCESSIBLE,
                            vendor_id, static_cast<int16_t>(device_id), alignment}};
}

OrtDeviceMemoryType OrtApiSlots::MemoryInfoGetDeviceMemType(const OrtMemoryInfo* ptr) {
  return ptr->device.memory_type;
}

uint32_t OrtApiSlots::MemoryInfoGetVendorId(const OrtMemoryInfo* ptr) { return ptr->device.vendor_id; }

}  // namespace onnx_light_ort::abi
