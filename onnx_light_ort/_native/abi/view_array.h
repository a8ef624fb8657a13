// The arrays that graph views fill: the caller says how many elements fit, having asked for their number before.
#pragma once

#include <cstddef>
#include <string>

#include "error.h"

namespace onnx_light_ort::abi {

/// Refuses an array that is too small or null. An array that is longer than needed is fine.
inline void require_room(const void* array, size_t room, size_t needed, const char* what) {
  if (room < needed) {
    throw Error(ORT_INVALID_ARGUMENT, "the array for " + std::string(what) + " holds " + std::to_string(room) +
                                          " elements and " + std::to_string(needed) +
                                          " are needed: ask for their number first");
  }
  if (array == nullptr && needed != 0) {
    throw Error(ORT_INVALID_ARGUMENT,
                "the array for " + std::string(what) + " is null: pass one of " + std::to_string(needed) + " elements");
  }
}

template <class T>
void write_elements(const T* elements, size_t count, const char* what, T* array, size_t room) {
  require_room(array, room, count, what);
  for (size_t i = 0; i < count; ++i) array[i] = elements[i];
}

}  // namespace onnx_light_ort::abi
