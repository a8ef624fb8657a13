// Engine errors as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::bindings {

/// The class that set_exception_classes gave for a kind; RuntimeError, ValueError, NotImplementedError or MemoryError
/// where it gave none. Borrowed.
PyObject* exception_class(kernels::ErrorKind kind);

void bind_errors(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
