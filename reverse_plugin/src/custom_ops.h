// The kernels as custom operators of the domain onnx_light, for models that call them by name (reverse.rewrite).
#pragma once

#include "api.h"

namespace onnx_light_ort::reverse {

inline constexpr const char* kCustomOpDomain = "onnx_light";

/// Adds the domain to the options of a session. A runtime keeps pointers to a domain and its descriptors as long as any
/// session, and never says when that ends: there is one domain for each runtime, which dies with the library.
void add_custom_ops(const OrtApiBase& base, const Api& api, OrtSessionOptions* options);

}  // namespace onnx_light_ort::reverse
