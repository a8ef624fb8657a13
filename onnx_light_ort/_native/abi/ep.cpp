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
    hardware.push_back(device->device->device);
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
}

std::vector<Claim> Ep::get_capability(const OrtGraph& graph, KernelLookup* kernels) {
  OrtEpGraphSupportInfo info{graph, *this, kernels, {}, {}};
  call("OrtEp::GetCapability", [&] { return field::OrtEp::GetCapability(ep_)(ep_, &graph, &info); });
  if (!info.refusal.empty()) {
    throw Error(ORT_EP_FAIL, "execution provider '" + name_ + "': OrtEp::GetCapability: " + info.refusal);
  }
  return std::move(info.claims);
}

}  // namespace onnx_light_ort::abi
