// The one function of the bootstrap library that is the host's and not the plugin's.
#pragma once

#include "onnx_light_ort/ort_abi.h"

namespace onnx_light_ort::bootstrap {

/// Name and type of the export that sets what OrtGetApiBase answers. `base` has to outlive the bootstrap library.
inline constexpr char kSetApiBase[] = "onnx_light_ort_bootstrap_set_api_base";
using SetApiBase = void (*)(const OrtApiBase* base);

}  // namespace onnx_light_ort::bootstrap
