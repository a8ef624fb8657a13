#include "ep_factory.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "element_type.h"
#include "ep.h"
#include "onnx_light_ort/kernels/error.h"
#include "prepared_kernel.h"

namespace onnx_light_ort::reverse {
namespace {

// Since 1.22 options given with a device reach an EP as session configuration under its name in lower case.
constexpr const char* kClaimKey = "ep.onnxlightexecutionprovider.claim";

struct EpKernel : OrtKernelImpl {
  EpKernel(const CallEnvironment& environment, const KernelCatalogue& catalogue, const OperatorSchema& schema,
           DescribedNode described)
      : OrtKernelImpl{}, api(environment.api), prepared(environment, catalogue, schema, std::move(described)) {
    ort_version_supported = api.version;
    OrtKernelImpl::Compute = [](OrtKernelImpl* kernel, OrtKernelContext* context) noexcept {
      auto* self = static_cast<EpKernel*>(kernel);
      return fenced(self->api, [&] { self->prepared.compute(context); });
    };
    OrtKernelImpl::Release = [](OrtKernelImpl* kernel) noexcept { delete static_cast<EpKernel*>(kernel); };
  }

  const Api& api;
  PreparedKernel prepared;
};

Owned<OrtMemoryInfo> cpu_memory(const Api& api) {
  OrtMemoryInfo* made = nullptr;
  check(api, api.ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &made));
  return {made, api.ort->ReleaseMemoryInfo};
}

std::string config_entry(const Api& api, const OrtSessionOptions* options, const char* key, const char* fallback) {
  int has = 0;
  check(api, api.ort->HasSessionConfigEntry(options, key, &has));
  if (has == 0) return fallback;
  size_t size = 0;
  check(api, api.ort->GetSessionConfigEntry(options, key, nullptr, &size));
  std::string value(size, '\0');
  check(api, api.ort->GetSessionConfigEntry(options, key, value.data(), &size));
  value.resize(size == 0 ? 0 : size - 1);  // without its terminator
  return value;
}

// A string of KernelInfo: its size is asked first.
template <class Slot>
std::string text_of(const Api& api, const OrtKernelInfo* info, Slot slot) {
  size_t size = 0;
  check(api, slot(info, nullptr, &size));
  std::string text(size, '\0');
  check(api, slot(info, text.data(), &size));
  text.resize(size == 0 ? 0 : size - 1);
  return text;
}

}  // namespace

EpFactory::EpFactory(const Api& given, const OrtLogger* logger)
    : OrtEpFactory{},
      api(given),
      logger_(logger),
      cpu_(cpu_memory(api)),
      environment_{api, cpu_.get(), copied_},
      registry_(nullptr, api.ep->ReleaseKernelRegistry) {
  ort_version_supported = api.version;
  OrtEpFactory::GetName = [](const OrtEpFactory*) noexcept { return kEpName; };
  OrtEpFactory::GetVendor = [](const OrtEpFactory*) noexcept { return "onnx-light-ort"; };
  OrtEpFactory::GetVersion = [](const OrtEpFactory*) noexcept { return ONNX_LIGHT_ORT_VERSION; };
  OrtEpFactory::GetVendorId = [](const OrtEpFactory*) noexcept { return uint32_t{0}; };
  OrtEpFactory::IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
  OrtEpFactory::GetSupportedDevices = [](OrtEpFactory* factory, const OrtHardwareDevice* const* devices, size_t count,
                                         OrtEpDevice** ep_devices, size_t room, size_t* given_devices) noexcept {
    return static_cast<EpFactory*>(factory)->get_supported_devices(devices, count, ep_devices, room, given_devices);
  };
  OrtEpFactory::CreateEp = [](OrtEpFactory* factory, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*,
                              size_t, const OrtSessionOptions* options, const OrtLogger*, OrtEp** ep) noexcept {
    auto* self = static_cast<EpFactory*>(factory);
    *ep = nullptr;
    return fenced(self->api, [&] { *ep = self->create_ep(options); });
  };
  OrtEpFactory::ReleaseEp = [](OrtEpFactory* factory, OrtEp* ep) noexcept {
    static_cast<EpFactory*>(factory)->release_ep(ep);
  };
  // Kernels work in the CPU provider's memory: neither allocators nor transfers of their own.
  OrtEpFactory::CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                                     OrtAllocator** allocator) noexcept {
    *allocator = nullptr;
    return static_cast<OrtStatus*>(nullptr);
  };
  OrtEpFactory::ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) noexcept {};
  OrtEpFactory::CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) noexcept {
    *transfer = nullptr;
    return static_cast<OrtStatus*>(nullptr);
  };
}

OrtStatus* EpFactory::get_supported_devices(const OrtHardwareDevice* const* devices, size_t count,
                                            OrtEpDevice** ep_devices, size_t room, size_t* given) noexcept {
  *given = 0;
  for (size_t i = 0; i < count && *given < room; ++i) {
    if (api.ort->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
    OrtStatus* status = api.ep->CreateEpDevice(this, devices[i], nullptr, nullptr, &ep_devices[*given]);
    if (status != nullptr) return status;
    ++*given;
  }
  return nullptr;
}

OrtEp* EpFactory::create_ep(const OrtSessionOptions* options) {
  return new Ep(*this, ClaimRule(config_entry(api, options, kClaimKey, "missing"), catalogue));
}

void EpFactory::release_ep(OrtEp* ep) noexcept {
  delete static_cast<Ep*>(ep);
  char message[160];
  std::snprintf(message, sizeof message, "%s: %llu outputs copied, %llu bytes, since it was registered", kEpName,
                static_cast<unsigned long long>(copied_.copies.load()),
                static_cast<unsigned long long>(copied_.bytes.load()));
  succeeded(api, api.ort->Logger_LogMessage(logger_, ORT_LOGGING_LEVEL_INFO, message, __FILE__, __LINE__, __func__));
}

const OrtKernelRegistry* EpFactory::kernel_registry() {
  const std::lock_guard<std::mutex> lock(registry_mutex_);
  if (registry_ == nullptr) {
    OrtKernelRegistry* made = nullptr;
    check(api, api.ep->CreateKernelRegistry(&made));
    Owned<OrtKernelRegistry> registry(made, api.ep->ReleaseKernelRegistry);
    for (const kernels::KernelEntry& entry : catalogue.entries()) define(made, entry);
    registry_ = std::move(registry);
  }
  return registry_.get();
}

void EpFactory::define(OrtKernelRegistry* registry, const kernels::KernelEntry& entry) {
  OrtKernelDefBuilder* made = nullptr;
  check(api, api.ep->CreateKernelDefBuilder(&made));
  const Owned<OrtKernelDefBuilder> builder(made, api.ep->ReleaseKernelDefBuilder);
  check(api, api.ep->KernelDefBuilder_SetOperatorType(made, entry.op_type.c_str()));
  check(api, api.ep->KernelDefBuilder_SetDomain(made, entry.domain.c_str()));
  // An end of INT_MAX would make the runtime ask for exactly the first version.
  check(api, api.ep->KernelDefBuilder_SetSinceVersion(made, entry.since_version,
                                                      std::min(entry.end_version, kernels::kOpenEnd - 1)));
  check(api, api.ep->KernelDefBuilder_SetExecutionProvider(made, kEpName));
  for (const kernels::TypeConstraint& constraint : entry.type_constraints) {
    std::vector<const OrtDataType*> types;
    for (const kernels::DataType type : KernelCatalogue::expressible_types(constraint)) {
      const OrtDataType* known = nullptr;
      // Older runtimes lack the newest types.
      if (succeeded(api, api.ep->GetTensorDataType(to_ort(type), &known)) && known != nullptr) types.push_back(known);
    }
    if (types.empty()) return;
    check(api, api.ep->KernelDefBuilder_AddTypeConstraint(made, constraint.first.c_str(), types.data(), types.size()));
  }
  if (entry.forwards_first_input) {
    const int first = 0;
    check(api, api.ep->KernelDefBuilder_AddInputOutputAliases(made, &first, &first, 1));
  }
  OrtKernelDef* definition = nullptr;
  check(api, api.ep->KernelDefBuilder_Build(made, &definition));
  const Owned<OrtKernelDef> owned(definition, api.ep->ReleaseKernelDef);
  const OrtKernelCreateFunc create = [](void* factory, const OrtKernelInfo* info, OrtKernelImpl** kernel) noexcept {
    auto* self = static_cast<EpFactory*>(factory);
    *kernel = nullptr;
    return fenced(self->api, [&] { *kernel = self->create_kernel(info); });
  };
  check(api, api.ep->KernelRegistry_AddKernel(registry, definition, create, this));
}

OrtKernelImpl* EpFactory::create_kernel(const OrtKernelInfo* info) {
  const std::string domain = text_of(api, info, api.ort->KernelInfo_GetOperatorDomain);
  const std::string op_type = text_of(api, info, api.ort->KernelInfo_GetOperatorType);
  int since_version = 0;
  check(api, api.ort->KernelInfo_GetOperatorSinceVersion(info, &since_version));
  const OperatorSchema* schema = catalogue.schemas().find(domain, op_type, since_version);
  if (schema == nullptr) {
    kernels::fail(kernels::ErrorKind::kNotImplemented,
                  op_type + " version " + std::to_string(since_version) + " is newer than this library");
  }
  return new EpKernel(environment_, catalogue, *schema, describe(api, info, *schema));
}

}  // namespace onnx_light_ort::reverse
