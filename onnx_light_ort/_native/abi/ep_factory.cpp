#include "ep_factory.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "logger.h"
#include "plugin_call.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

constexpr uint32_t kFirstVersion = 22;
constexpr uint32_t kIdentitySince = 23;  ///< GetVendorId and GetVersion.

void require(bool present, const char* callback) {
  if (!present) throw Error(ORT_INVALID_ARGUMENT, std::string("it has no ") + callback + ": set the callback");
}

std::string text_of(const char* callback, const OrtEpFactory* factory,
                    const char*(ORT_API_CALL* get)(const OrtEpFactory*)) {
  require(get != nullptr, callback);
  const char* text = call_plugin(callback, [&] { return get(factory); });
  if (text == nullptr) throw Error(ORT_INVALID_ARGUMENT, std::string(callback) + " returned null: return a text");
  return text;
}

}  // namespace

EpFactory::EpFactory(OrtEpFactory* factory, ReleaseEpFactoryFunction release, std::shared_ptr<const void> library)
    : factory_(factory), release_(release), library_(std::move(library)) {}

EpFactory::~EpFactory() {
  try {
    call_plugin("ReleaseEpFactory", [&] { return release_(factory_); });
  } catch (const Error& error) {
    log(default_logger(), ORT_LOGGING_LEVEL_ERROR,
        "execution provider '" + name_ + "': ReleaseEpFactory failed: " + error.what());
  }
}

void EpFactory::read() {
  if (factory_->ort_version_supported < kFirstVersion) {
    throw Error(ORT_INVALID_ARGUMENT, "it declares version " + std::to_string(factory_->ort_version_supported) +
                                          ", and factories exist since " + std::to_string(kFirstVersion) +
                                          ": set ort_version_supported to ORT_API_VERSION");
  }
  using Fields = field::OrtEpFactory;
  name_ = text_of("OrtEpFactory::GetName", factory_, Fields::GetName(factory_));
  if (name_.empty()) throw Error(ORT_INVALID_ARGUMENT, "OrtEpFactory::GetName returned an empty name");
  vendor_ = text_of("OrtEpFactory::GetVendor", factory_, Fields::GetVendor(factory_));
  require(Fields::GetSupportedDevices(factory_) != nullptr, "OrtEpFactory::GetSupportedDevices");
  require(Fields::CreateEp(factory_) != nullptr, "OrtEpFactory::CreateEp");
  require(Fields::ReleaseEp(factory_) != nullptr, "OrtEpFactory::ReleaseEp");
  if (factory_->ort_version_supported < kIdentitySince) return;
  version_ = text_of("OrtEpFactory::GetVersion", factory_, Fields::GetVersion(factory_));
  if (const auto get_vendor_id = Fields::GetVendorId(factory_)) {
    vendor_id_ = call_plugin("OrtEpFactory::GetVendorId", [&] { return get_vendor_id(factory_); });
  }
}

std::vector<std::string> EpFactory::sessions() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const std::string* session : sessions_) names.push_back(*session);
  return names;
}

SessionMark::SessionMark(EpFactory& factory, std::string session) : factory_(factory), session_(std::move(session)) {
  const std::lock_guard lock(factory_.mutex_);
  factory_.sessions_.push_back(&session_);
}

SessionMark::~SessionMark() {
  const std::lock_guard lock(factory_.mutex_);
  auto& sessions = factory_.sessions_;
  sessions.erase(std::find(sessions.begin(), sessions.end(), &session_));
}

}  // namespace onnx_light_ort::abi
