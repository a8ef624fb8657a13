// A registered library of execution providers.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>
#include <vector>

#include "entry_point.h"
#include "ep_factory.h"

namespace onnx_light_ort::abi {

/// What a library registered. Sessions share its parts; what they hold outlives this.
struct EpLibrary {
  std::vector<std::shared_ptr<EpFactory>> factories;
  std::vector<std::shared_ptr<const EpDevice>> devices;

  /// Names of the sessions that have an execution provider of this library.
  std::vector<std::string> sessions() const;
};

/// How a registration ended, and what it registered where it ended well.
struct EpRegistration {
  EntryPointOutcome outcome;
  EpLibrary library;
};

/// Calls the exports of `library`, which lies at `path`, and asks its factories which of the hardware they use.
/// All or nothing: after a failure whatever was created is released.
EpRegistration register_ep_library(CreateEpFactoriesFunction create, ReleaseEpFactoryFunction release,
                                   const std::string& registered_name, const std::string& path,
                                   const std::vector<Hardware>& hardware, std::shared_ptr<const void> library);

}  // namespace onnx_light_ort::abi
