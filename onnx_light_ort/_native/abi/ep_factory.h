// A plugin's factory of execution providers, and the devices that it offers.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ep_device.h"
#include "hardware_device.h"

namespace onnx_light_ort::abi {

/// The types of a library's exports. Without noexcept: through a noexcept type a throwing plugin would end the process.
using CreateEpFactoriesFunction = OrtStatus*(ORT_API_CALL*)(const char* registered_name, const OrtApiBase* base,
                                                            const OrtLogger* logger, OrtEpFactory** factories,
                                                            size_t room, size_t* count);
using ReleaseEpFactoryFunction = OrtStatus*(ORT_API_CALL*)(OrtEpFactory * factory);

/// Owns a factory: releases it exactly once, when the last one goes who holds it. Keeps the library.
class EpFactory {
 public:
  /// Takes the factory over, whatever it is.
  EpFactory(OrtEpFactory* factory, ReleaseEpFactoryFunction release, std::shared_ptr<const void> library);
  ~EpFactory();
  EpFactory(const EpFactory&) = delete;
  EpFactory& operator=(const EpFactory&) = delete;

  /// Reads what the factory says of itself. Throws Error when it lacks what the host needs.
  void read();

  OrtEpFactory* get() const noexcept { return factory_; }
  const std::string& name() const noexcept { return name_; }
  const std::string& vendor() const noexcept { return vendor_; }
  /// 0 and "" where the factory is of a version without them.
  uint32_t vendor_id() const noexcept { return vendor_id_; }
  const std::string& version() const noexcept { return version_; }

  /// Keeps the hardware that the factory was offered.
  void keep(std::vector<Hardware> hardware) { hardware_ = std::move(hardware); }

  /// Names of the sessions that have an execution provider of this factory.
  std::vector<std::string> sessions() const;

 private:
  friend class SessionMark;

  OrtEpFactory* const factory_;
  const ReleaseEpFactoryFunction release_;
  const std::shared_ptr<const void> library_;
  std::vector<Hardware> hardware_;
  std::string name_;
  std::string vendor_;
  uint32_t vendor_id_ = 0;
  std::string version_;
  mutable std::mutex mutex_;
  std::vector<const std::string*> sessions_;
};

/// Says for its lifetime that a session uses a factory.
class SessionMark {
 public:
  SessionMark(EpFactory& factory, std::string session);
  ~SessionMark();
  SessionMark(const SessionMark&) = delete;
  SessionMark& operator=(const SessionMark&) = delete;

  const std::string& session() const noexcept { return session_; }

 private:
  EpFactory& factory_;
  const std::string session_;
};

/// A device, with the factory that has to live as long.
struct EpDevice {
  std::shared_ptr<EpFactory> factory;
  std::unique_ptr<const OrtEpDevice> device;  ///< Goes first.
};

}  // namespace onnx_light_ort::abi
