#include "ep.h"

#include <utility>

#include "error.h"
#include "logger.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

constexpr uint32_t kCapabilitySince = 23;

}  // namespace

std::shared_ptr<Ep> Ep::create(std::vector<std::shared_ptr<const EpDevice>> devices, const OrtSessionOptions& options,
                               std::shared_ptr<const SessionServices> services, std::string session) {
  std::shared_ptr<Ep> ep(new Ep(std::move(devices), options, std::move(services), std::move(session)));
  std::vector<const OrtHardwareDevice*> hardware;
  std::vector<const OrtKeyValuePairs*> metadata;
  for (const auto& device : ep->devices_) {
    hardware.push_back(device->device->device.get());
    metadata.push_back(&device->device->ep_metadata);
  }
  OrtEpFactory* const factory = ep->factory().get();
  ep->call("OrtEpFactory::CreateEp", [&] {
    return field::OrtEpFactory::CreateEp(factory)(factory, hardware.data(), metadata.data(), hardware.size(),
                                                  &ep->options_, &ep->services_->logger, &ep->ep_);
  });
  ep->read();
  return ep;
}

Ep::Ep(std::vector<std::shared_ptr<const EpDevice>> devices, const OrtSessionOptions& options,
       std::shared_ptr<const SessionServices> services, std::string session)
    : devices_(std::move(devices)),
      mark_(*devices_.front()->factory, std::move(session)),
      options_(options),
      services_(std::move(services)),
      name_(factory().name()) {}

Ep::~Ep() {
  if (ep_ == nullptr) return;
  OrtEpFactory* const factory = this->factory().get();
  try {
    call("OrtEpFactory::ReleaseEp", [&] { field::OrtEpFactory::ReleaseEp(factory)(factory, ep_); });
  } catch (const Error& error) {
    log(services_->logger, ORT_LOGGING_LEVEL_ERROR, error.what());
  }
}

void Ep::read() {
  const std::string who = "execution provider '" + name_ + "': ";
  if (ep_ == nullptr) throw Error(ORT_EP_FAIL, who + "OrtEpFactory::CreateEp reported success and made no OrtEp");
  const uint32_t version = ep_->ort_version_supported;
  const auto refuse = [&](const std::string& reason) { throw Error(ORT_EP_FAIL, who + reason); };
  if (version < kCapabilitySince) {
    refuse("its OrtEp declares version " + std::to_string(version) + ", and OrtEp::GetCapability exists since " +
           std::to_string(kCapabilitySince) + ": set ort_version_supported to ORT_API_VERSION");
  }
  const auto get_name = field::OrtEp::GetName(ep_);
  if (get_name == nullptr) refuse("its OrtEp has no OrtEp::GetName: set the callback");
  if (field::OrtEp::GetCapability(ep_) == nullptr) refuse("its OrtEp has no OrtEp::GetCapability: set the callback");
  const char* name = call("OrtEp::GetName", [&] { return get_name(ep_); });
  if (name == nullptr) refuse("OrtEp::GetName returned null: return a name");
  name_ = name;
  require_cpu_memory();
  read_layout();
}

void Ep::require_cpu_memory() const {
  const auto get_device = field::OrtEp::GetDefaultMemoryDevice(ep_);
  const OrtMemoryDevice* device = nullptr;
  if (get_device == nullptr) return;
  call("OrtEp::GetDefaultMemoryDevice", [&] { return get_device(ep_, &device); });
  if (device == nullptr || device->type == OrtMemoryInfoDeviceType_CPU) return;
  throw Error(ORT_NOT_IMPLEMENTED, "execution provider '" + name_ + "': its default memory is on a " +
                                       type_name(device->type) + ", and this host has the CPU's memory only: use a " +
                                       "build of the provider that takes and gives CPU memory");
}

void Ep::on_session_initialization_end() const {
  const auto hook = field::OrtEp::OnSessionInitializationEnd(ep_);
  if (hook != nullptr) call("OrtEp::OnSessionInitializationEnd", [&] { return hook(ep_); });
}

bool Ep::wants_runs() const noexcept {
  return field::OrtEp::OnRunStart(ep_) != nullptr || field::OrtEp::OnRunEnd(ep_) != nullptr;
}

void Ep::on_run_start(const OrtRunOptions& options) const {
  const auto hook = field::OrtEp::OnRunStart(ep_);
  if (hook != nullptr) call("OrtEp::OnRunStart", [&] { return hook(ep_, &options); });
}

void Ep::on_run_end(const OrtRunOptions& options, bool sync_stream) const {
  const auto hook = field::OrtEp::OnRunEnd(ep_);
  if (hook != nullptr) call("OrtEp::OnRunEnd", [&] { return hook(ep_, &options, sync_stream); });
}

void Ep::sync() const {
  const auto hook = field::OrtEp::Sync(ep_);
  if (hook != nullptr) call("OrtEp::Sync", [&] { return hook(ep_); });
}

bool Ep::is_concurrent_run_supported() const {
  const auto ask = field::OrtEp::IsConcurrentRunSupported(ep_);
  bool is_supported = true;
  if (ask != nullptr) call("OrtEp::IsConcurrentRunSupported", [&] { return ask(ep_, &is_supported); });
  return is_supported;
}

std::vector<Claim> Ep::get_capability(const OrtGraph& graph, KernelLookup* kernels) {
  OrtEpGraphSupportInfo info{graph, *this, kernels, {}, {}};
  call("OrtEp::GetCapability", [&] { return field::OrtEp::GetCapability(ep_)(ep_, &graph, &info); });
  if (!info.refusal.empty()) {
    throw Error(ORT_EP_FAIL, "execution provider '" + name_ + "': OrtEp::GetCapability: " + info.refusal);
  }
  require_no_layout_change(info.claims);
  return std::move(info.claims);
}

}  // namespace onnx_light_ort::abi
