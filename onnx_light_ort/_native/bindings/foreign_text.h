// Text that a plugin wrote.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace onnx_light_ort::bindings {

/// As str, in whatever encoding the plugin wrote it: bytes that are not UTF-8 appear as escapes.
inline nanobind::str foreign_text(const std::string& text) {
  return nanobind::steal<nanobind::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

}  // namespace onnx_light_ort::bindings
