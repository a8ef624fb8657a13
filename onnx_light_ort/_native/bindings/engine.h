#pragma once

#include <nanobind/nanobind.h>

namespace onnx_light_ort::bindings {

namespace nb = nanobind;

/// Fills onnx_light_ort._native.engine.
void bind_engine(nb::module_& m);

}  // namespace onnx_light_ort::bindings
