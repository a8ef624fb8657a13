// An execution provider on a piece of hardware: what a factory offers, and a user chooses.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>

#include "hardware_device.h"
#include "key_value_pairs.h"
#include "memory_info.h"

/// Made by a plugin, which hands it over to the host when its factory is asked for devices.
struct OrtEpDevice {
  std::string ep_name;
  std::string ep_vendor;
  OrtKeyValuePairs ep_metadata;
  OrtKeyValuePairs ep_options;
  onnx_light_ort::abi::Hardware device;
  OrtEpFactory* factory;
  // The plugin's, which keeps them as long as the device.
  const OrtMemoryInfo* device_memory = nullptr;
  const OrtMemoryInfo* host_accessible_memory = nullptr;
  const OrtMemoryInfo* read_only_memory = nullptr;
};

namespace onnx_light_ort::abi {

/// Takes a device over from its plugin; null where the address is no device, or one that was taken over before.
std::unique_ptr<OrtEpDevice> take_over(OrtEpDevice* device);

}  // namespace onnx_light_ort::abi
