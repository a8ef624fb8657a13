// Custom ops that the factory of an execution provider brings.
#pragma once

#include <memory>

#include "ep.h"

namespace onnx_light_ort::abi {

/// Whether a factory says that it brings any; true too where it fails to say, of which add_custom_ops() tells more.
bool brings_custom_ops(const EpFactory& factory);

/// Adds them to a session's custom ops, all or none. Each keeps the provider. Throws Error, with the provider's name.
void add_custom_ops(const std::shared_ptr<Ep>& ep, OrtSessionOptions& options);

}  // namespace onnx_light_ort::abi
