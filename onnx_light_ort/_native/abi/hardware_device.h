// Hardware that execution providers can run on: the host's CPU, what a caller describes, and what a plugin makes up.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstdint>
#include <memory>
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

using Hardware = std::shared_ptr<const OrtHardwareDevice>;

/// The CPU that this process runs on, with the vendor's name and PCI id; "unknown" and 0 where it is none of those that
/// ORT names.
const Hardware& cpu_hardware();

/// Hardware that plugins can name by its address.
Hardware make_hardware(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id, std::string vendor,
                       const OrtKeyValuePairs& metadata);

/// The hardware at an address, if there is any.
Hardware find_hardware(const OrtHardwareDevice* address);

}  // namespace onnx_light_ort::abi
