// Custom-op domains, and their registration with session options.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>
#include <vector>

#include "custom_op.h"
#include "session_options.h"

namespace onnx_light_ort::abi {

/// The descriptors are the plugin's.
struct CustomOpDomain {
  std::string name;
  std::vector<const OrtCustomOp*> ops;
};

}  // namespace onnx_light_ort::abi

/// Owned by the plugin. What it holds stays for options that a registration is adding it to, so that a library may
/// release it at once.
struct OrtCustomOpDomain {
  std::shared_ptr<onnx_light_ort::abi::CustomOpDomain> domain;
};

namespace onnx_light_ort::abi {

/// Ends a registration: reads the ops of all domains that were added to `options` since the last one, and adds them to
/// its custom ops. All or nothing: throws Error, with the domains taken out again, when a descriptor is refused or two
/// ops cannot be told apart. `provider` names the execution provider that brings them, "" where it is a library of
/// custom ops; `library` is kept by each op.
void commit_custom_ops(OrtSessionOptions& options, const std::string& provider, std::shared_ptr<const void> library);

}  // namespace onnx_light_ort::abi
