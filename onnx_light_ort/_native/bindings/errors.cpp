#include "errors.h"

#include <array>
#include <cstring>

#include "foreign_text.h"
#include "node_failure.h"

namespace onnx_light_ort::bindings {
namespace {

namespace nb = nanobind;
using kernels::ErrorKind;

struct KindName {
  ErrorKind kind;
  const char* name;
};

constexpr const char* kNodeFailure = "node_failure";

constexpr std::array<KindName, 4> kKinds = {{{ErrorKind::kInvalidArgument, "invalid_argument"},
                                             {ErrorKind::kNotImplemented, "not_implemented"},
                                             {ErrorKind::kOutOfMemory, "out_of_memory"},
                                             {ErrorKind::kInternal, "internal"}}};

// Leaked on purpose: exceptions may be raised until the interpreter is gone.
std::array<PyObject*, kKinds.size()>& classes() {
  static std::array<PyObject*, kKinds.size()> table{};
  return table;
}

PyObject*& class_of_node_failures() {
  static PyObject* type = nullptr;
  return type;
}

std::array<PyObject*, kMostErrorCodes>& classes_by_code() {
  static std::array<PyObject*, kMostErrorCodes> table{};
  return table;
}

}  // namespace

PyObject* node_failure_class() {
  PyObject* found = class_of_node_failures();
  return found != nullptr ? found : PyExc_ValueError;
}

PyObject* exception_class(const kernels::Error& error) {
  if (dynamic_cast<const engine::NodeFailure*>(&error) != nullptr) return node_failure_class();
  const int code = error.code();
  PyObject* found = code > 0 && code < kMostErrorCodes ? classes_by_code()[static_cast<size_t>(code)] : nullptr;
  return found != nullptr ? found : exception_class(error.kind());
}

void set_exception_class(int code, nb::handle type) {
  if (code <= 0 || code >= kMostErrorCodes) throw nb::value_error("an error code is from 1 to 63");
  PyObject*& slot = classes_by_code()[static_cast<size_t>(code)];
  Py_XDECREF(slot);
  slot = type.inc_ref().ptr();
}

PyObject* exception_class(ErrorKind kind) {
  if (PyObject* found = classes()[static_cast<size_t>(kind)]) return found;
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return PyExc_ValueError;
    case ErrorKind::kNotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::kOutOfMemory:
      return PyExc_MemoryError;
    case ErrorKind::kInternal:
      break;
  }
  return PyExc_RuntimeError;
}

void bind_errors(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const kernels::Error& error) {
      PyErr_SetObject(exception_class(error), foreign_text(error.what()).ptr());
    }
  });
  m.def(
      "set_exception_classes",
      [](const nb::dict& given) {
        for (auto [name, type] : given) {
          bool known = std::strcmp(nb::cast<const char*>(name), kNodeFailure) == 0;
          if (known) {
            Py_XDECREF(class_of_node_failures());
            class_of_node_failures() = type.inc_ref().ptr();
          }
          for (const KindName& row : kKinds) {
            if (std::strcmp(nb::cast<const char*>(name), row.name) != 0) continue;
            PyObject*& slot = classes()[static_cast<size_t>(row.kind)];
            Py_XDECREF(slot);
            slot = type.inc_ref().ptr();
            known = true;
          }
          if (!known)
            throw nb::value_error("kinds are invalid_argument, not_implemented, out_of_memory, node_failure, internal");
        }
      },
      nb::arg("classes"),
      "Sets the exception class raised for each kind of engine error: 'invalid_argument', 'not_implemented', "
      "'out_of_memory', 'node_failure' (a node cannot compute what it was given), 'internal'.");
}

}  // namespace onnx_light_ort::bindings
