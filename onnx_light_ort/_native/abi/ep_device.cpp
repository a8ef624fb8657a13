#include "ep_device.h"

#include "error.h"
#include "live_handles.h"
#include "logger.h"
#include "plugin_call.h"
#include "semantic_version.h"
#include "slots.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

constexpr char kVersionKey[] = "version";
constexpr uint32_t kVersionSince = 23;

/// Devices that plugins made and have not handed over.
LiveHandles<OrtEpDevice>& made_by_plugins() {
  static auto* const handles = new LiveHandles<OrtEpDevice>;
  return *handles;
}

std::string required_text(const char* text, const char* callback) {
  if (text != nullptr) return text;
  throw Error(ORT_INVALID_ARGUMENT, std::string(callback) + " returned null: return a name");
}

std::string text_of(const OrtEpFactory* factory, const char* callback,
                    const char*(ORT_API_CALL* get)(const OrtEpFactory*)) {
  if (get == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT, std::string("the factory has no ") + callback + ": set the callback");
  }
  return required_text(call_plugin(callback, [&] { return get(factory); }), callback);
}

/// As the metadata of the factory's devices have it.
std::string version_of(const OrtEpFactory* factory) {
  std::string version = text_of(factory, "OrtEpFactory::GetVersion", field::OrtEpFactory::GetVersion(factory));
  if (is_semantic_version(version)) return version;
  throw Error(ORT_INVALID_ARGUMENT, "OrtEpFactory::GetVersion returned \"" + version +
                                        "\", which is no semantic version: return MAJOR.MINOR.PATCH");
}

}  // namespace

std::unique_ptr<OrtEpDevice> take_over(OrtEpDevice* device) {
  return std::unique_ptr<OrtEpDevice>(made_by_plugins().take(device) ? device : nullptr);
}

const char* OrtApiSlots::EpDevice_EpName(const OrtEpDevice* ep_device) { return ep_device->ep_name.c_str(); }

const char* OrtApiSlots::EpDevice_EpVendor(const OrtEpDevice* ep_device) { return ep_device->ep_vendor.c_str(); }

const OrtKeyValuePairs* OrtApiSlots::EpDevice_EpMetadata(const OrtEpDevice* ep_device) {
  return &ep_device->ep_metadata;
}

const OrtKeyValuePairs* OrtApiSlots::EpDevice_EpOptions(const OrtEpDevice* ep_device) { return &ep_device->ep_options; }

const OrtHardwareDevice* OrtApiSlots::EpDevice_Device(const OrtEpDevice* ep_device) { return ep_device->device.get(); }

const OrtMemoryInfo* OrtApiSlots::EpDevice_MemoryInfo(const OrtEpDevice* ep_device, OrtDeviceMemoryType memory_type) {
  switch (memory_type) {
    case OrtDeviceMemoryType_DEFAULT:
      return ep_device->device_memory;
    case OrtDeviceMemoryType_HOST_ACCESSIBLE:
      return ep_device->host_accessible_memory;
  }
  return nullptr;
}

void OrtEpApiSlots::CreateEpDevice(OrtEpFactory* ep_factory, const OrtHardwareDevice* hardware_device,
                                   const OrtKeyValuePairs* ep_metadata, const OrtKeyValuePairs* ep_options,
                                   OrtEpDevice** ep_device) {
  const auto copy_of = [](const OrtKeyValuePairs* pairs) {
    return pairs == nullptr ? OrtKeyValuePairs() : OrtKeyValuePairs(*pairs);
  };
  auto device = std::unique_ptr<OrtEpDevice>(new OrtEpDevice{
      text_of(ep_factory, "OrtEpFactory::GetName", field::OrtEpFactory::GetName(ep_factory)),
      text_of(ep_factory, "OrtEpFactory::GetVendor", field::OrtEpFactory::GetVendor(ep_factory)),
      copy_of(ep_metadata),
      copy_of(ep_options),
      find_hardware(hardware_device),
      ep_factory,
  });
  if (device->device == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT, "the hardware is none that the host offered or CreateHardwareDevice made");
  }
  if (ep_factory->ort_version_supported >= kVersionSince) {
    if (device->ep_metadata.find(kVersionKey) != nullptr) {
      throw Error(ORT_INVALID_ARGUMENT, std::string("the EP's metadata have the key \"") + kVersionKey +
                                            "\", which the host sets: leave it to OrtEpFactory::GetVersion");
    }
    device->ep_metadata.add(kVersionKey, version_of(ep_factory));
  }
  made_by_plugins().add(device.get());
  *ep_device = device.release();
}

void OrtEpApiSlots::ReleaseEpDevice(OrtEpDevice* input) {
  if (input == nullptr || take_over(input) != nullptr) return;
  log(default_logger(), ORT_LOGGING_LEVEL_ERROR,
      "a plugin releases an OrtEpDevice that it does not own: the host owns what GetSupportedDevices returned");
}

void OrtEpApiSlots::EpDevice_AddAllocatorInfo(OrtEpDevice* ep_device, const OrtMemoryInfo* allocator_memory_info) {
  switch (allocator_memory_info->device.memory_type) {
    case OrtDeviceMemoryType_DEFAULT:
      (allocator_memory_info->allocator_type == OrtReadOnlyAllocator ? ep_device->read_only_memory
                                                                     : ep_device->device_memory) =
          allocator_memory_info;
      return;
    case OrtDeviceMemoryType_HOST_ACCESSIBLE:
      ep_device->host_accessible_memory = allocator_memory_info;
      return;
  }
  throw Error(ORT_INVALID_ARGUMENT, "the memory is neither DEFAULT nor HOST_ACCESSIBLE");
}

}  // namespace onnx_light_ort::abi
