#include "execution_provider.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "environment.h"
#include "ep_custom_ops.h"
#include "ep_library.h"
#include "foreign_text.h"
#include "gil.h"
#include "graph_view.h"
#include "hardware_device.h"
#include "library_handle.h"
#include "plugin_kernels.h"
#include "run_options.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace onnx_light_ort::bindings {
namespace {

using abi::EpDevice;
using abi::EpLibrary;

struct HardwareHandle {
  abi::Hardware device;
};

HardwareHandle make_hardware(int type, uint32_t vendor_id, uint32_t device_id, const std::string& vendor,
                             const std::map<std::string, std::string>& metadata) {
  OrtKeyValuePairs pairs;
  for (const auto& [key, value] : metadata) pairs.add(key, value);
  return {abi::make_hardware(static_cast<OrtHardwareDeviceType>(type), vendor_id, device_id, vendor, pairs)};
}

nb::dict dictionary(const OrtKeyValuePairs& pairs) {
  nb::dict result;
  for (size_t i = 0; i < pairs.size(); ++i) result[foreign_text(pairs.keys()[i])] = foreign_text(pairs.values()[i]);
  return result;
}

/// (type, vendor id, device id, vendor, metadata)
nb::tuple describe(const OrtHardwareDevice& device) {
  return nb::make_tuple(static_cast<int>(device.type), device.vendor_id, device.device_id, foreign_text(device.vendor),
                        dictionary(device.metadata));
}

/// What Python holds of a registered library; can be given up before the object that holds it goes.
class LibraryOfProviders {
 public:
  explicit LibraryOfProviders(EpLibrary library) : library_(std::move(library)) {}

  const EpLibrary& library() const {
    if (!library_) throw std::logic_error("the library was unregistered");
    return *library_;
  }

  void close() {
    // Taken under the GIL: another thread may ask for the devices at the same time.
    std::optional<EpLibrary> claim = std::exchange(library_, std::nullopt);
    GilReleased released;
    claim.reset();
  }

 private:
  std::optional<EpLibrary> library_;
};

struct Registration {
  abi::EntryPointOutcome outcome;
  std::shared_ptr<LibraryOfProviders> library;
};

Registration register_library(const platform::LibraryHandle& handle, const std::string& registered_name,
                              const std::string& path, const std::vector<HardwareHandle>& hardware) {
  auto library = handle.library();
  const auto create = library->find_function<abi::CreateEpFactoriesFunction>("CreateEpFactories");
  const auto release = library->find_function<abi::ReleaseEpFactoryFunction>("ReleaseEpFactory");
  if (create == nullptr || release == nullptr) throw std::logic_error("the library exports no EP factories");
  std::vector<abi::Hardware> devices;
  for (const HardwareHandle& item : hardware) devices.push_back(item.device);
  abi::EpRegistration registration;
  {
    GilReleased released;
    registration = abi::register_ep_library(create, release, registered_name, path, devices, std::move(library));
  }
  return {registration.outcome, std::make_shared<LibraryOfProviders>(std::move(registration.library))};
}

/// (name, vendor, vendor id, version)
nb::list factories_of(const LibraryOfProviders& self) {
  nb::list result;
  for (const auto& factory : self.library().factories) {
    result.append(nb::make_tuple(foreign_text(factory->name()), foreign_text(factory->vendor()), factory->vendor_id(),
                                 foreign_text(factory->version())));
  }
  return result;
}

/// (EP's name, EP's vendor, metadata, options, position of its factory, position of the hardware that it was offered or
/// None, hardware)
nb::list devices_of(const LibraryOfProviders& self, const std::vector<HardwareHandle>& offered) {
  const auto& factories = self.library().factories;
  nb::list result;
  for (const auto& item : self.library().devices) {
    const OrtEpDevice& device = *item->device;
    nb::object place = nb::none();
    for (size_t i = 0; i < offered.size(); ++i) {
      if (offered[i].device == device.device) place = nb::int_(i);
    }
    size_t factory = 0;
    while (factories[factory] != item->factory) ++factory;
    result.append(nb::make_tuple(foreign_text(device.ep_name), foreign_text(device.ep_vendor),
                                 dictionary(device.ep_metadata), dictionary(device.ep_options), factory, place,
                                 describe(*device.device)));
  }
  return result;
}

EpHandle create_ep(const LibraryOfProviders& self, const std::vector<size_t>& devices, const OrtSessionOptions& options,
                   std::shared_ptr<const abi::SessionServices> services, const std::string& session) {
  std::vector<std::shared_ptr<const EpDevice>> chosen;
  for (size_t place : devices) chosen.push_back(self.library().devices.at(place));
  GilReleased released;
  return EpHandle(abi::Ep::create(std::move(chosen), options, std::move(services), session));
}

bool brings_custom_ops(const LibraryOfProviders& self, const std::vector<size_t>& devices) {
  const std::shared_ptr<const abi::EpFactory> factory = self.library().devices.at(devices.at(0))->factory;
  GilReleased released;
  return abi::brings_custom_ops(*factory);
}

void add_custom_ops(const EpHandle& self, OrtSessionOptions& options) {
  const std::shared_ptr<abi::Ep> ep = self.ep();
  GilReleased released;
  abi::add_custom_ops(ep, options);
}

void close_ep(EpHandle& self) {
  std::shared_ptr<abi::Ep> claim = self.take();
  GilReleased released;
  claim.reset();
}

/// A call of a provider without the GIL, for which the provider may wait.
template <class Result, class... Arguments>
auto without_gil(Result (abi::Ep::*method)(Arguments...) const) {
  return [method](const EpHandle& self, Arguments... arguments) {
    const std::shared_ptr<abi::Ep> ep = self.ep();
    GilReleased released;
    return (ep.get()->*method)(arguments...);
  };
}

/// (whether fused, whether constants are dropped, positions of the nodes in the view's graph)
std::vector<std::tuple<bool, bool, std::vector<size_t>>> get_capability(const EpHandle& self, const GraphView& view,
                                                                        const EpKernels* kernels,
                                                                        const OperatorDefinitions& operators,
                                                                        nb::handle match) {
  const std::shared_ptr<abi::Ep> ep = self.ep();
  std::optional<abi::KernelLookup> lookup;
  if (kernels != nullptr || !operators.definitions.empty()) lookup.emplace(matching_by(match, kernels, operators));
  GilReleased released;
  std::vector<std::tuple<bool, bool, std::vector<size_t>>> claims;
  for (const abi::Claim& claim : ep->get_capability(view.graph(), lookup ? &*lookup : nullptr)) {
    std::vector<size_t> positions;
    for (const OrtNode* node : claim.nodes) positions.push_back(view.graph().position_of(node).value());
    claims.emplace_back(claim.fused, claim.drop_constant_initializers, std::move(positions));
  }
  return claims;
}

}  // namespace

void bind_execution_provider(nb::module_& m) {
  nb::class_<HardwareHandle>(m, "HardwareDevice", "Hardware that EP factories are offered.")
      .def(nb::new_(&make_hardware), "type"_a, "vendor_id"_a, "device_id"_a, "vendor"_a, "metadata"_a)
      .def_prop_ro(
          "description", [](const HardwareHandle& self) { return describe(*self.device); },
          "(type, vendor id, device id, vendor, metadata)");
  m.def("cpu_hardware", [] { return HardwareHandle{abi::cpu_hardware()}; }, "The CPU that this process runs on.");

  m.def("set_environment_entry", &abi::set_environment_entry, "key"_a, "value"_a,
        "Sets what plugins read with GetEnvConfigEntries.");
  m.def("remove_environment_entry", &abi::remove_environment_entry, "key"_a);
  m.def("environment_entries", &abi::environment_entries, "What plugins read with GetEnvConfigEntries.");

  nb::class_<EpHandle>(m, "Ep", "An execution provider of a plugin in one session.")
      .def_prop_ro("name", [](const EpHandle& self) { return foreign_text(self.ep()->name()); })
      .def("get_capability", &get_capability, "view"_a, "kernels"_a.none(), "operators"_a, "match"_a,
           "What it takes of the view's graph: (whether fused, whether constants are dropped, positions of nodes). "
           "match(position of an operator in the view's tables, types of inputs, types of outputs) gives the position "
           "of the kernel among `kernels`, then `operators`, or None; a type is an ONNX number, 0 for no tensor, -1 "
           "for no argument.")
      .def_prop_ro(
          "wants_runs", [](const EpHandle& self) { return self.ep()->wants_runs(); },
          "Whether it wants to know of the start or the end of runs.")
      .def("is_concurrent_run_supported", without_gil(&abi::Ep::is_concurrent_run_supported),
           "Whether runs of a session may overlap.")
      .def("on_session_initialization_end", without_gil(&abi::Ep::on_session_initialization_end))
      .def("on_run_start", without_gil(&abi::Ep::on_run_start), "options"_a)
      .def("on_run_end", without_gil(&abi::Ep::on_run_end), "options"_a, "sync_stream"_a)
      .def("sync", without_gil(&abi::Ep::sync), "Waits until the device did what it was asked to.")
      .def("add_custom_ops", &add_custom_ops, "options"_a,
           "Adds the custom ops that its factory brings to those of a session. Each keeps the provider.")
      .def("close", &close_ep, "Gives the provider up; it is released with the last kernel that it made.");

  nb::class_<LibraryOfProviders>(m, "EpLibrary", "What a library registered: factories, devices.")
      .def_prop_ro("factories", &factories_of, "(name, vendor, vendor id, version) of each factory.")
      .def("devices", &devices_of, "offered"_a,
           "(EP's name, EP's vendor, metadata, options, position of its factory, position of its hardware among those "
           "that were offered or None, (type, vendor id, device id, vendor, metadata)) of each device.")
      .def_prop_ro(
          "sessions", [](const LibraryOfProviders& self) { return self.library().sessions(); },
          "Names of the sessions that have a provider of this library.")
      .def("create_ep", &create_ep, "devices"_a, "options"_a, "services"_a, "session"_a,
           "Has the factory of these devices, given by position, make a provider for a session of that name.")
      .def("brings_custom_ops", &brings_custom_ops, "devices"_a,
           "Whether the factory of these devices says that it brings custom ops.")
      .def("close", &LibraryOfProviders::close, "Gives up factories and devices.");

  nb::class_<Registration>(m, "EpRegistration", "How the registration of a library ended.")
      .def_ro("outcome", &Registration::outcome)
      .def_ro("library", &Registration::library, "Empty where the outcome is a failure.");
  m.def("register_ep_library", &register_library, "library"_a, "registered_name"_a, "path"_a, "hardware"_a,
        "Calls CreateEpFactories and asks the factories for their devices; on any ending but success, nothing of it is "
        "left.");
}

}  // namespace onnx_light_ort::bindings
