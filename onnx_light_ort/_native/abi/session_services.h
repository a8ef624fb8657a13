// What plugins get from the session that they work for.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <map>
#include <memory>
#include <string>

#include "buffer.h"
#include "logger.h"

namespace onnx_light_ort::abi {

/// Frozen when the session is made; shared by everything that a plugin makes for it.
struct SessionServices {
  /// The table that plugins are called with: of the flavour that the session runs under.
  const OrtApi* api;
  std::map<std::string, std::string, std::less<>> config_entries;
  /// Charged for whatever a plugin allocates through the session.
  std::shared_ptr<engine::MemoryBudget> budget;
  OrtLogger logger;
};

}  // namespace onnx_light_ort::abi
