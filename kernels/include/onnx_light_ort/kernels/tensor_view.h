// A tensor that somebody else owns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::kernels {

/// Borrows data, dims and strides: valid as long as the owner says so, for a kernel that is until `compute` returns.
///
/// Without strides, elements are contiguous in row-major order. With them, element (i0, i1, ...) is at data + sum of
/// i_d * strides[d], counted in elements, in the order of dims. A stride of zero repeats, a negative one runs towards
/// lower addresses (data is where element (0, 0, ...) is, not the lowest address); elements may overlap, which is one
/// more reason not to write through such a view. The stride of a dimension of extent 1 means nothing.
///
/// Strides are for inputs of kernels that ask for them (Kernel::reads_strides); everybody else sees dense tensors only.
/// Strings, an array of std::string, and types of which several elements share a byte, packed from the low bits up,
/// are always dense.
struct TensorView {
  void* data = nullptr;
  const int64_t* dims = nullptr;
  size_t rank = 0;
  int64_t element_count = 0;  ///< Product of dims, kept because every kernel asks for it.
  DataType dtype = DataType::kUndefined;
  const int64_t* strides = nullptr;  ///< `rank` of them, or null: dense.

  bool is_dense() const noexcept { return strides == nullptr; }

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data);
  }
};

/// Of a view with strides. It keeps loop nests over several operands within what their kernels have room for.
inline constexpr size_t kMaxStridedRank = 8;

}  // namespace onnx_light_ort::kernels
