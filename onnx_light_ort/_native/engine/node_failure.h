// A node of a run that cannot compute what it was given.
#pragma once

#include <string>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {

/// What the executor makes of a kernel's kInvalidArgument: what the kernel calls an argument is a value of the model's,
/// and not the caller's of the run.
class NodeFailure final : public kernels::Error {
 public:
  explicit NodeFailure(const std::string& message) : Error(kernels::ErrorKind::kInvalidArgument, message) {}
};

}  // namespace onnx_light_ort::engine
