#include "hardware_device.h"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "logger.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

struct CpuVendor {
  std::string_view signature;  ///< As the CPUID instruction gives it.
  const char* name;
  uint32_t pci_id;
};

constexpr CpuVendor kCpuVendors[] = {{"AuthenticAMD", "AMD", 0x1022}, {"GenuineIntel", "Intel", 0x8086}};

CpuVendor cpu_vendor() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned highest = 0;
  std::array<unsigned, 3> words{};  // in the order in which they spell the signature
  if (__get_cpuid(0, &highest, &words[0], &words[2], &words[1]) != 0) {
    char signature[sizeof words];
    std::memcpy(signature, words.data(), sizeof words);
    for (const CpuVendor& vendor : kCpuVendors) {
      if (vendor.signature == std::string_view(signature, sizeof signature)) return vendor;
    }
  }
#endif
  return {"", "unknown", 0};
}

/// All hardware that lives. A plugin may release what it made while its EP devices still name it.
struct KnownHardware {
  std::mutex mutex;
  std::unordered_map<const OrtHardwareDevice*, std::weak_ptr<const OrtHardwareDevice>> all;
  std::unordered_map<const OrtHardwareDevice*, Hardware> made_by_plugins;
};

// Never destroyed: plugins may release hardware while the process ends.
KnownHardware& known_hardware() {
  static auto* const known = new KnownHardware;
  return *known;
}

void forget(const OrtHardwareDevice* device) {
  {
    const std::lock_guard lock(known_hardware().mutex);
    known_hardware().all.erase(device);
  }
  delete device;
}

}  // namespace

const Hardware& cpu_hardware() {
  static const auto* const device = [] {
    const CpuVendor vendor = cpu_vendor();
    return new Hardware(make_hardware(OrtHardwareDeviceType_CPU, vendor.pci_id, 0, vendor.name, {}));
  }();
  return *device;
}

Hardware make_hardware(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id, std::string vendor,
                       const OrtKeyValuePairs& metadata) {
  const Hardware device(new OrtHardwareDevice{type, vendor_id, device_id, std::move(vendor), metadata}, &forget);
  const std::lock_guard lock(known_hardware().mutex);
  known_hardware().all.emplace(device.get(), device);
  return device;
}

Hardware find_hardware(const OrtHardwareDevice* address) {
  const std::lock_guard lock(known_hardware().mutex);
  const auto found = known_hardware().all.find(address);
  return found == known_hardware().all.end() ? nullptr : found->second.lock();
}

OrtHardwareDeviceType OrtApiSlots::HardwareDevice_Type(const OrtHardwareDevice* device) { return device->type; }

uint32_t OrtApiSlots::HardwareDevice_VendorId(const OrtHardwareDevice* device) { return device->vendor_id; }

const char* OrtApiSlots::HardwareDevice_Vendor(const OrtHardwareDevice* device) { return device->vendor.c_str(); }

uint32_t OrtApiSlots::HardwareDevice_DeviceId(const OrtHardwareDevice* device) { return device->device_id; }

const OrtKeyValuePairs* OrtApiSlots::HardwareDevice_Metadata(const OrtHardwareDevice* device) {
  return &device->metadata;
}

void OrtEpApiSlots::CreateHardwareDevice(OrtHardwareDeviceType type, uint32_t vendor_id, uint32_t device_id,
                                         const char* vendor_name, const OrtKeyValuePairs* metadata,
                                         OrtHardwareDevice** hardware_device) {
  const Hardware device = make_hardware(type, vendor_id, device_id, vendor_name,
                                        metadata == nullptr ? OrtKeyValuePairs() : OrtKeyValuePairs(*metadata));
  const std::lock_guard lock(known_hardware().mutex);
  known_hardware().made_by_plugins.emplace(device.get(), device);
  *hardware_device = const_cast<OrtHardwareDevice*>(device.get());
}

void OrtEpApiSlots::ReleaseHardwareDevice(OrtHardwareDevice* device) {
  if (device == nullptr) return;
  Hardware released;  // Goes after the lock.
  {
    const std::lock_guard lock(known_hardware().mutex);
    const auto found = known_hardware().made_by_plugins.find(device);
    if (found != known_hardware().made_by_plugins.end()) {
      released = std::move(found->second);
      known_hardware().made_by_plugins.erase(found);
    }
  }
  if (released == nullptr) {
    log(default_logger(), ORT_LOGGING_LEVEL_ERROR,
        "a plugin releases an OrtHardwareDevice that it does not own: release what CreateHardwareDevice made, once");
  }
}

}  // namespace onnx_light_ort::abi
