// The two-call protocol of getters that write into the caller's buffer: a null buffer asks for the size; a buffer that
// is too small gets the size and an error; else the content and its size are written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "error.h"

namespace onnx_light_ort::abi {

template <class T>
void write_sized(const T* content, size_t count, size_t required, const char* what, T* out, size_t* size) {
  const size_t room = *size;
  *size = required;
  if (out == nullptr) return;
  if (room < required) {
    throw Error(ORT_INVALID_ARGUMENT, "the buffer for " + std::string(what) + " holds " + std::to_string(room) +
                                          " elements and " + std::to_string(required) +
                                          " are needed: call with a null buffer to learn the size");
  }
  std::copy_n(content, count, out);
}

/// The size counts the terminating null character.
inline void write_string(std::string_view text, const char* what, char* out, size_t* size) {
  write_sized(text.data(), text.size(), text.size() + 1, what, out, size);
  if (out != nullptr) out[text.size()] = '\0';
}

template <class T>
void write_array(const T* content, size_t count, const char* what, T* out, size_t* size) {
  write_sized(content, count, count, what, out, size);
}

}  // namespace onnx_light_ort::abi
