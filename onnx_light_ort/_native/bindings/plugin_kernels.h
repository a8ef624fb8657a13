// Kernels of plugins' execution providers, and the options that runs are given.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "kernel_lookup.h"
#include "kernel_registry.h"

namespace onnx_light_ort::bindings {

/// The kernels of one provider of one session.
struct EpKernels {
  std::shared_ptr<const OrtKernelRegistry::Kernels> kernels;
};

/// What a provider reads of the operators that its factory brings, where it looks their kernels up.
struct OperatorDefinitions {
  std::vector<OrtKernelDef> definitions;
};

/// Asks Python, on whatever thread the plugin calls, for a position among the kernels, then the operators. The
/// arguments must outlive what is returned.
abi::KernelLookup::Match matching_by(nanobind::handle match, const EpKernels* kernels,
                                     const OperatorDefinitions& operators);

/// Adds KernelDefinition, EpKernels and RunOptions to the module `_native.abi`.
void bind_plugin_kernels(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
