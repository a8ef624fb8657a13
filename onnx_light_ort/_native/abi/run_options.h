// How one run is done, as far as plugins see it.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <string>

#include "config_entries.h"

struct OrtRunOptions {
  int log_severity = -1;  ///< -1: the session's.
  int log_verbosity = 0;
  std::string tag;
  bool terminate = false;
  onnx_light_ort::abi::ConfigEntries config_entries;
};
