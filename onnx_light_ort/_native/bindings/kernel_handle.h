// A kernel as Python holds it, wherever it comes from.
#pragma once

#include <memory>
#include <string>

#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::bindings {

/// Bound as engine.Kernel. The kernel keeps alive whatever it needs: constants, a plugin's library.
struct KernelHandle {
  std::shared_ptr<kernels::Kernel> kernel;
  std::string description;
};

}  // namespace onnx_light_ort::bindings
