// The kernels that an execution provider has.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernel_def.h"

/// Owned by the plugin, which releases it.
struct OrtKernelRegistry {
 public:
  struct Kernel {
    std::shared_ptr<const OrtKernelDef> definition;
    OrtKernelCreateFunc create;
    void* create_state;  ///< The plugin's, which keeps it as long as its library is loaded.
  };

  using Kernels = std::vector<Kernel>;

  Kernels kernels;  ///< In the order in which they were added.
  std::unordered_multimap<std::string_view, const OrtKernelDef*> by_operator;  ///< The name is the definition's.
};
