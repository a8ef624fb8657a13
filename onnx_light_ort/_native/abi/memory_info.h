// Where memory lives: the device, and the description that the C API passes around.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// A device's memory, without the name and the kind of allocator.
struct OrtMemoryDevice {
  OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_CPU;
  OrtDeviceMemoryType memory_type = OrtDeviceMemoryType_DEFAULT;
  uint32_t vendor_id = 0;
  int16_t device_id = 0;
  size_t alignment = 0;

  /// Whether the CPU may read and write it through a plain pointer.
  bool host_accessible() const noexcept {
    return type == OrtMemoryInfoDeviceType_CPU || memory_type == OrtDeviceMemoryType_HOST_ACCESSIBLE;
  }
};

bool operator==(const OrtMemoryDevice& a, const OrtMemoryDevice& b) noexcept;

struct OrtMemoryInfo {
  std::string name;
  OrtAllocatorType allocator_type = OrtDeviceAllocator;
  OrtMemType mem_type = OrtMemTypeDefault;
  OrtMemoryDevice device;
};

bool operator==(const OrtMemoryInfo& a, const OrtMemoryInfo& b) noexcept;

namespace onnx_light_ort::abi {

/// The CPU's memory, as every tensor of the engine has it. Lives as long as the process.
const OrtMemoryInfo& cpu_memory_info() noexcept;

/// "CPU", "GPU", "FPGA" or "NPU", for messages.
const char* type_name(OrtMemoryInfoDeviceType type) noexcept;

}  // namespace onnx_light_ort::abi
