// Partitions that plugin EPs compile.
#pragma once

#include <nanobind/nanobind.h>

namespace onnx_light_ort::bindings {

void bind_plugin_partitions(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
