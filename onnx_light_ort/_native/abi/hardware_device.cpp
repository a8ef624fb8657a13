#include "hardware_device.h"

#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

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

}  // namespace

const OrtHardwareDevice& cpu_hardware_device() {
  static const OrtHardwareDevice* const device = [] {
    const CpuVendor vendor = cpu_vendor();
    return new OrtHardwareDevice{OrtHardwareDeviceType_CPU, vendor.pci_id, 0, vendor.name, {}};
  }();
  return *device;
}

const char* type_name(OrtHardwareDeviceType type) noexcept {
  switch (type) {
    case OrtHardwareDeviceType_CPU:
      return "CPU";
    case OrtHardwareDeviceType_GPU:
      return "GPU";
    case OrtHardwareDeviceType_NPU:
      return "NPU";
  }
  return "unknown";
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
  *hardware_device = new OrtHardwareDevice{type, vendor_id, device_id, vendor_name,
                                           metadata == nullptr ? OrtKeyValuePairs() : OrtKeyValuePairs(*metadata)};
}

void OrtEpApiSlots::ReleaseHardwareDevice(OrtHardwareDevice* device) { delete device; }

}  // namespace onnx_light_ort::abi
