#include "kernel_registry.h"

#include <algorithm>

#include "error.h"
#include "slots.h"

namespace onnx_light_ort::abi {

void OrtEpApiSlots::CreateKernelRegistry(OrtKernelRegistry** kernel_registry) {
  *kernel_registry = new OrtKernelRegistry;
}

void OrtEpApiSlots::ReleaseKernelRegistry(OrtKernelRegistry* input) { delete input; }

// The definition is shared: the plugin releases its own claim to it.
void OrtEpApiSlots::KernelRegistry_AddKernel(OrtKernelRegistry* kernel_registry, const OrtKernelDef* kernel_def,
                                             OrtKernelCreateFunc kernel_create_func, void* kernel_create_func_state) {
  const auto [first, last] = kernel_registry->by_operator.equal_range(kernel_def->op_type);
  const bool taken =
      std::any_of(first, last, [&](const auto& entry) { return entry.second->conflicts_with(*kernel_def); });
  if (taken) {
    throw Error(ORT_FAIL, "execution provider '" + kernel_def->provider + "' has a kernel for " +
                              (kernel_def->domain.empty() ? "ai.onnx" : kernel_def->domain) +
                              "::" + kernel_def->op_type + " since " + std::to_string(kernel_def->start_version) +
                              " already: let the versions or the types of the two differ");
  }
  kernel_registry->kernels.push_back({kernel_def->shared_from_this(), kernel_create_func, kernel_create_func_state});
  kernel_registry->by_operator.emplace(kernel_def->op_type, kernel_def);
}

}  // namespace onnx_light_ort::abi
