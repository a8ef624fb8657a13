// The kernels that an execution provider has.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <vector>

#include "kernel_def.h"

/// Owned by the plugin, which releases it.
struct OrtKernelRegistry {
 public:
  struct Kernel {
    OrtKernelDef definition;
    OrtKernelCreateFunc create;
    void* create_state;  ///< The plugin's, which keeps it as long as its library is loaded.
  };

  std::vector<Kernel> kernels;  ///< In the order in which they were added.
};
