// Hardware that execution providers can run on: the host's CPU, what a caller describes, and what a plugin makes up.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstdint>
#include <string>

#include "key_value_pairs.h"

/// Does not change once it is made.
struct OrtHardwareDevice {
  OrtHardwareDeviceType type = OrtHardwareDeviceType_CPU;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::string vendor;
  OrtKeyValuePairs metadata;
};

namespace onnx_light_ort::abi {

/// The CPU that this process runs on, with the vendor's name and PCI id; "unknown" and 0 where it is none of those that
/// ORT names. Lives as long as the process.
const OrtHardwareDevice& cpu_hardware_device();

/// "CPU", "GPU" or "NPU", for messages.
const char* type_name(OrtHardwareDeviceType type) noexcept;

}  // namespace onnx_light_ort::abi
