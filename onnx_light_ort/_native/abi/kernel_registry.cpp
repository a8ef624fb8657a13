#include "kernel_registry.h"

#include <algorithm>

#include "error.h"
#include "slots.h"

namespace onnx_light_ort::abi {

void OrtEpApiSlots::CreateKernelRegistry(OrtKernelRegistry** kernel_registry) {
  *kernel_registry = new OrtKernelRegistry;
}

void OrtEpApiSlots::ReleaseKernelRegistry(OrtKernelRegistry* input) { delete input; }

// The definition is copied: the plugin releases its own.
void OrtEpApiSlots::KernelRegistry_AddKernel(OrtKernelRegistry* kernel_registry, const OrtKernelDef* kernel_def,
                                             OrtKernelCreateFunc kernel_create_func, void* kernel_create_func_state) {
  auto& kernels = kernel_registry->kernels;
  const bool taken = std::any_of(kernels.begin(), kernels.end(), [&](const OrtKernelRegistry::Kernel& kernel) {
    return kernel.definition.conflicts_with(*kernel_def);
  });
  if (taken) {
    throw Error(ORT_FAIL, "execution provider '" + kernel_def->provider + "' has a kernel for " +
                              (kernel_def->domain.empty() ? "ai.onnx" : kernel_def->domain) +
                              "::" + kernel_def->op_type + " since " + std::to_string(kernel_def->start_version) +
                              " already: let the versions or the types of the two differ");
  }
  kernels.push_back({*kernel_def, kernel_create_func, kernel_create_func_state});
}

}  // namespace onnx_light_ort::abi
