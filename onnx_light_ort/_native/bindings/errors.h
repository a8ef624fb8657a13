// Engine errors as Python exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::bindings {

/// The class that set_exception_classes gave for a kind; RuntimeError, ValueError, NotImplementedError or MemoryError
/// where it gave none. Borrowed.
PyObject* exception_class(kernels::ErrorKind kind);

/// That of a node that cannot compute what it was given.
PyObject* node_failure_class();

/// The class that was set for the error's code; where there is none, the class of its kind. Borrowed.
PyObject* exception_class(const kernels::Error& error);

/// Sets the class of an adapter's error code, from 1 to kMostErrorCodes - 1.
inline constexpr int kMostErrorCodes = 64;
void set_exception_class(int code, nanobind::handle type);

void bind_errors(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
