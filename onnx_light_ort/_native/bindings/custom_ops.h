// Custom ops as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace onnx_light_ort::bindings {

/// Adds CustomOp and SessionServices to the module `_native.abi`.
void bind_custom_ops(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
