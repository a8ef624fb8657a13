// A dense row-major tensor that somebody else owns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::kernels {

/// Borrows data and dims: valid as long as the owner says so, for a kernel that is until `compute` returns.
/// Elements are contiguous in row-major order. Strings are an array of std::string.
struct TensorView {
  void* data = nullptr;
  const int64_t* dims = nullptr;
  size_t rank = 0;
  int64_t element_count = 0;  ///< Product of dims, kept because every kernel asks for it.
  DataType dtype = DataType::kUndefined;

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data);
  }
};

}  // namespace onnx_light_ort::kernels
