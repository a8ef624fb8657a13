// Plugin libraries and their entry points as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace onnx_light_ort::bindings {

/// Adds LibraryHandle, EntryPointOutcome and the calls of entry points to the module `_native.abi`.
void bind_library(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
