#include "python_kernel.h"

#include <array>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "numpy_value.h"

namespace onnx_light_ort::bindings {

using engine::Value;
namespace nb = nanobind;

PythonKernel::~PythonKernel() {
  // Plans are dropped by Python objects, but the last frame of a run may be the one that lets go.
  GilAcquired gil;
  function_.reset();
}

void PythonKernel::compute(const Value* const* inputs, size_t input_count, Value* const* outputs, size_t output_count) {
  // Slot 0 is scratch for the callee, as the vectorcall protocol allows.
  std::array<PyObject*, 9> few;
  std::vector<PyObject*> many;
  PyObject** arguments = few.data();
  if (input_count + 1 > few.size()) {
    many.resize(input_count + 1);
    arguments = many.data();
  }
  size_t filled = 0;
  const auto release_arguments = [&] {
    for (size_t i = 0; i < filled; ++i) Py_DECREF(arguments[i + 1]);
  };
  try {
    for (; filled < input_count; ++filled) {
      arguments[filled + 1] =
          (inputs[filled] == nullptr ? nb::none() : readonly_object(*inputs[filled])).release().ptr();
    }
  } catch (...) {
    release_arguments();
    throw;
  }
  PyObject* returned =
      PyObject_Vectorcall(function_.ptr(), arguments + 1, input_count | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  release_arguments();
  if (returned == nullptr) {
    nb::python_error cause;
    const bool no_memory = cause.matches(PyExc_MemoryError);
    PyObject* type = no_memory ? exception_class(kernels::ErrorKind::kOutOfMemory) : node_failure_class();
    if (!cause.matches(PyExc_Exception)) throw nb::python_error(std::move(cause));  // KeyboardInterrupt and its like
    nb::raise_from(cause, type, "%s: %s: %s", label_.c_str(), Py_TYPE(cause.value().ptr())->tp_name,
                   nb::str(cause.value()).c_str());
    throw nb::python_error();
  }
  const nb::object result = nb::steal(returned);
  const bool several = PyTuple_Check(returned);
  const size_t count = several ? static_cast<size_t>(PyTuple_GET_SIZE(returned)) : 1;
  for (size_t i = 0; i < output_count; ++i) {
    if (outputs[i] == nullptr) continue;
    if (i >= count) {
      kernels::fail(kernels::ErrorKind::kInternal, "the kernel returned " + std::to_string(count) + " outputs, and " +
                                                       std::to_string(output_count) + " are needed");
    }
    *outputs[i] = value_from_object(several ? PyTuple_GET_ITEM(returned, static_cast<Py_ssize_t>(i)) : returned);
  }
}

}  // namespace onnx_light_ort::bindings
