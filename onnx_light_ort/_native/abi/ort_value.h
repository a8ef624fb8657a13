// Values as plugins see them: tensors that somebody lends for a while, and tensors that their holder releases.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>
#include <memory>
#include <string>

#include "memory_info.h"
#include "onnx_light_ort/kernels/tensor_view.h"
#include "value.h"

/// Two words, because a kernel's frame holds one for each input and output of each call. As it is, it borrows: the
/// tensor belongs to the frame or session that lent it. OwnedValue is what ReleaseValue may delete.
struct OrtValue {
  const onnx_light_ort::kernels::TensorView* view = nullptr;  ///< Null: holds nothing.
  bool owned = false;
};

namespace onnx_light_ort::abi {

struct OwnedValue final : OrtValue {
 public:
  OwnedValue(engine::Value tensor, const OrtMemoryInfo& where) : value(std::move(tensor)), memory(where) {
    view = &value.view();
    owned = true;
  }
  OwnedValue(const OwnedValue&) = delete;
  OwnedValue& operator=(const OwnedValue&) = delete;

  const engine::Value value;
  const OrtMemoryInfo memory;
};

/// Allocates a tensor through `allocator`, which must outlive it: numbers undefined, strings empty. Throws Error.
std::unique_ptr<OwnedValue> allocate_tensor(OrtAllocator* allocator, kernels::DataType dtype, const int64_t* dims,
                                            size_t rank);

/// A tensor of the same content through `allocator`, which must outlive it. Throws Error.
std::unique_ptr<OwnedValue> copy_tensor(OrtAllocator* allocator, const kernels::TensorView& source);

/// Copies the elements of `source` over those of `target`, which has as many of the same type.
void copy_elements(const kernels::TensorView& source, const kernels::TensorView& target);

/// Bytes of `count` elements as a plugin must provide them; a string takes sizeof(std::string). Throws Error on
/// overflow.
size_t storage_size(kernels::DataType dtype, int64_t count);

/// The tensor that the value holds. Throws Error when it holds none.
const kernels::TensorView& tensor_of(const OrtValue* value);

}  // namespace onnx_light_ort::abi
