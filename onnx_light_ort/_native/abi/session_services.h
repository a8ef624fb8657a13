// What plugins get from the session that they work for.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>

#include "buffer.h"
#include "config_entries.h"
#include "logger.h"

namespace onnx_light_ort::abi {

/// Frozen when the session is made; shared by everything that a plugin makes for it.
struct SessionServices {
  /// The table that plugins are called with: of the flavour that the session runs under.
  const OrtApi* api;
  ConfigEntries config_entries;
  /// Charged for whatever a plugin allocates through the session.
  std::shared_ptr<engine::MemoryBudget> budget;
  OrtLogger logger;
};

}  // namespace onnx_light_ort::abi
