// The grammar of Semantic Versioning 2.0.
#pragma once

#include <string>

namespace onnx_light_ort::abi {

/// Whether it is MAJOR.MINOR.PATCH, with a pre-release and a build or without.
bool is_semantic_version(const std::string& text);

}  // namespace onnx_light_ort::abi
