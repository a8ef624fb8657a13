// The boundary between numpy arrays and engine values.
#pragma once

#include <nanobind/nanobind.h>

#include "value.h"

namespace onnx_light_ort::bindings {

namespace nb = nanobind;

/// Imports numpy's C API. Called once, when the module is loaded.
void import_numpy();

/// The ONNX element type of an array, or kUndefined where ONNX has none.
kernels::DataType array_data_type(PyObject* array);

/// A value over the array's memory, which it keeps alive; a copy where the array is not contiguous and aligned, and
/// for strings and sub-byte types, whose layouts differ. Throws kernels::Error for an element type that ONNX lacks.
engine::Value value_from_array(PyObject* array);

/// Arrays and engine values become tensors, numpy scalars and Python numbers tensors of rank 0; all else is kept as an
/// opaque object. With `strides`, the value of an array may have strides, where they save a copy.
engine::Value value_from_object(nb::handle object, bool strides = false);

/// What a Python kernel gets: as object_from_value, but an array that cannot be written through, whoever owns it.
nb::object readonly_object(const engine::Value& value);

/// An array over the value's memory, without a copy where layouts allow, or the object.
nb::object object_from_value(const engine::Value& value);

/// What a caller gets: as object_from_value, but memory that anybody else still refers to is copied, so that the caller
/// may write to it.
nb::object publish_value(const engine::Value& value);

/// Python references that C++ steps dropped without the GIL are given up here, under the GIL.
void drop_pending_references();

/// An element type's numpy dtype, a new reference.
nb::object numpy_dtype(kernels::DataType dtype);

}  // namespace onnx_light_ort::bindings
