#include "ep_library.h"

#include <algorithm>
#include <array>
#include <utility>

#include "error.h"
#include "logger.h"
#include "plugin_call.h"
#include "served_tables.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

// What ORT has room for.
constexpr size_t kMostFactories = 4;
constexpr size_t kMostDevices = 8;
constexpr char kLibraryPathKey[] = "library_path";

using Factories = std::vector<std::shared_ptr<EpFactory>>;

[[noreturn]] void refuse_count(const char* callback, size_t count, size_t room, const char* what) {
  throw Error(ORT_INVALID_ARGUMENT, std::string(callback) + " reports " + std::to_string(count) + " " + what +
                                        ", and was given room for " + std::to_string(room));
}

/// Owns each of the factories that were handed over, once.
Factories own(const std::array<OrtEpFactory*, kMostFactories>& given, ReleaseEpFactoryFunction release,
              const std::shared_ptr<const void>& library) {
  Factories factories;
  for (auto* const* factory = given.begin(); factory != given.end(); ++factory) {
    if (*factory == nullptr || std::find(given.begin(), factory, *factory) != factory) continue;
    factories.push_back(std::make_shared<EpFactory>(*factory, release, library));
  }
  return factories;
}

/// `factories` own what is in `given`. Throws Error when it is not what `count` says, or cannot be used.
void check(const std::array<OrtEpFactory*, kMostFactories>& given, size_t count, const Factories& factories) {
  if (count == 0) throw Error(ORT_INVALID_ARGUMENT, "CreateEpFactories created no factory: create at least one");
  if (count > kMostFactories) refuse_count("CreateEpFactories", count, kMostFactories, "factories");
  if (std::find(given.begin(), given.begin() + count, nullptr) != given.begin() + count) {
    throw Error(ORT_INVALID_ARGUMENT, "CreateEpFactories counts a factory that is null");
  }
  if (factories.size() != count) {
    throw Error(ORT_INVALID_ARGUMENT, "CreateEpFactories returned a factory twice, or did not count it");
  }
  for (size_t i = 0; i < factories.size(); ++i) {
    try {
      factories[i]->read();
    } catch (const Error& error) {
      const std::string& name = factories[i]->name();
      throw Error(error.code(), "factory " + std::to_string(i) + (name.empty() ? "" : " ('" + name + "')") +
                                    " cannot be used: " + error.what());
    }
  }
}

void require_cpu_memory(const OrtEpDevice& device) {
  for (const OrtMemoryInfo* memory : {device.device_memory, device.host_accessible_memory, device.read_only_memory}) {
    if (memory == nullptr || memory->device.type == OrtMemoryInfoDeviceType_CPU) continue;
    throw Error(ORT_NOT_IMPLEMENTED, "its device claims " + std::string(type_name(memory->device.type)) + " memory ('" +
                                         memory->name +
                                         "'), and this host has the CPU's memory only: use a build of "
                                         "the provider that takes and gives CPU memory");
  }
}

/// Asks a factory, and takes over what it gives. `path` goes into the metadata of each device.
std::vector<std::shared_ptr<const EpDevice>> devices_of(const EpFactory& factory, const Factories& factories,
                                                        const std::vector<Hardware>& hardware,
                                                        const std::string& path) {
  std::vector<const OrtHardwareDevice*> offered;
  for (const auto& device : hardware) offered.push_back(device.get());
  std::array<OrtEpDevice*, kMostDevices> given{};
  size_t count = 0;
  std::vector<std::unique_ptr<OrtEpDevice>> taken;
  bool all_ours = true;
  const auto take = [&] {
    for (size_t i = 0; i < std::min(count, kMostDevices); ++i) {
      if (given[i] == nullptr) continue;  // ORT passes over such an entry.
      taken.push_back(abi::take_over(given[i]));
      if (taken.back() == nullptr) all_ours = false;
    }
  };
  OrtEpFactory* const self = factory.get();
  try {
    call_plugin("OrtEpFactory::GetSupportedDevices", [&] {
      return field::OrtEpFactory::GetSupportedDevices(self)(self, offered.data(), offered.size(), given.data(),
                                                            given.size(), &count);
    });
  } catch (const Error&) {
    take();
    throw;
  }
  take();
  if (count > kMostDevices) refuse_count("OrtEpFactory::GetSupportedDevices", count, kMostDevices, "devices");
  if (!all_ours) {
    throw Error(ORT_INVALID_ARGUMENT,
                "OrtEpFactory::GetSupportedDevices returned a device twice, or one that CreateEpDevice did not make");
  }
  std::vector<std::shared_ptr<const EpDevice>> devices;
  for (auto& device : taken) {
    const auto owner = std::find_if(factories.begin(), factories.end(),
                                    [&](const auto& candidate) { return candidate->get() == device->factory; });
    if (owner == factories.end()) {
      throw Error(ORT_INVALID_ARGUMENT,
                  "OrtEpFactory::GetSupportedDevices returned a device of a factory that the library did not register");
    }
    require_cpu_memory(*device);
    device->ep_metadata.add(kLibraryPathKey, path);
    devices.push_back(std::make_shared<const EpDevice>(EpDevice{*owner, std::move(device)}));
  }
  return devices;
}

EpLibrary discover(Factories factories, const std::vector<Hardware>& hardware, const std::string& path) {
  EpLibrary library;
  for (const auto& factory : factories) {
    factory->keep(hardware);
    try {
      for (auto& device : devices_of(*factory, factories, hardware, path)) library.devices.push_back(std::move(device));
    } catch (const Error& error) {
      throw Error(error.code(), "execution provider '" + factory->name() + "': " + error.what());
    }
  }
  library.factories = std::move(factories);
  return library;
}

}  // namespace

std::vector<std::string> EpLibrary::sessions() const {
  std::vector<std::string> names;
  for (const auto& factory : factories) {
    for (auto& name : factory->sessions()) names.push_back(std::move(name));
  }
  return names;
}

EpRegistration register_ep_library(CreateEpFactoriesFunction create, ReleaseEpFactoryFunction release,
                                   const std::string& registered_name, const std::string& path,
                                   const std::vector<Hardware>& hardware, std::shared_ptr<const void> library) {
  EpRegistration registration;
  std::array<OrtEpFactory*, kMostFactories> given{};
  size_t count = 0;
  registration.outcome = enter_plugin("CreateEpFactories", [&] {
    return create(registered_name.c_str(), served_api_base(), &default_logger(), given.data(), given.size(), &count);
  });
  // As in ORT, what was handed over before a failure is released.
  Factories factories = own(given, release, library);
  if (registration.outcome.code != ORT_OK) return registration;
  try {
    check(given, count, factories);
    registration.library = discover(std::move(factories), hardware, path);
  } catch (const Error& error) {
    registration.outcome.code = error.code();
    registration.outcome.message = error.what();
  }
  return registration;
}

}  // namespace onnx_light_ort::abi
