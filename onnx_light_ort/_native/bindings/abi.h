// The ABI host's objects as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace onnx_light_ort::bindings {

void bind_abi(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
