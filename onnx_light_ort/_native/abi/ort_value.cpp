#include "ort_value.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "allocator.h"
#include "element_type.h"
#include "error.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

using kernels::DataType;
using kernels::TensorView;

/// A block of a plugin's or the host's allocator, given back to it. The ABI asks that the allocator outlive the value.
class AllocatorBlock final : public engine::Owner {
 public:
  /// Owns nothing yet, so that no block is without an owner while this is made. Throws Error when Free is null.
  static engine::Ref<AllocatorBlock> of(OrtAllocator* allocator) {
    require_free(allocator);
    return engine::Ref<AllocatorBlock>::adopt(new AllocatorBlock(allocator));
  }

  /// Takes over `data`, and makes that many empty strings in it.
  void take(void* data, size_t string_count) noexcept {
    std::uninitialized_default_construct_n(static_cast<std::string*>(data), string_count);
    data_ = data;
    string_count_ = string_count;
    owns_ = true;
  }

 private:
  explicit AllocatorBlock(OrtAllocator* allocator) : allocator_(allocator) {}
  ~AllocatorBlock() override {
    if (!owns_) return;
    std::destroy_n(static_cast<std::string*>(data_), string_count_);
    give_back(allocator_, data_);  // Also for null: allocators see that from ORT for tensors without elements.
  }

  OrtAllocator* const allocator_;
  void* data_ = nullptr;
  size_t string_count_ = 0;
  bool owns_ = false;
};

size_t string_count(DataType dtype, int64_t count) {
  return dtype == DataType::kString ? static_cast<size_t>(count) : 0;
}

/// Throws Error when a dimension is negative (with `negative_code`) or the product overflows.
int64_t element_count(const int64_t* dims, size_t rank, OrtErrorCode negative_code) {
  if (dims == nullptr && rank != 0) throw Error(ORT_INVALID_ARGUMENT, "shape is null: pass an array of its dimensions");
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) {
      throw Error(negative_code, "dimension " + std::to_string(i) + " of a tensor is " + std::to_string(dims[i]) +
                                     ": a tensor has extents of zero or more");
    }
  }
  const auto count = kernels::checked_element_count(dims, rank);
  if (!count) throw Error(ORT_FAIL, "the tensor's element count overflows: pass smaller dimensions");
  return *count;
}

void require_room(DataType dtype, int64_t count, size_t length) {
  const size_t needed = storage_size(dtype, count);
  if (needed > length) {
    throw Error(ORT_INVALID_ARGUMENT, "the buffer has " + std::to_string(length) + " bytes and the tensor takes " +
                                          std::to_string(needed) + ": pass a larger buffer or a smaller shape");
  }
}

/// Of a lent tensor without elements the engine may have an address; plugins see null there, as from ORT.
void* data_of(const OrtValue* value) {
  const TensorView& view = tensor_of(value);
  return view.element_count == 0 && !value->owned ? nullptr : view.data;
}

}  // namespace

size_t storage_size(DataType dtype, int64_t count) {
  size_t bytes = 0;
  if (dtype == DataType::kString) {
    if (!__builtin_mul_overflow(static_cast<uint64_t>(count), sizeof(std::string), &bytes)) return bytes;
  } else if (const auto size = kernels::checked_byte_size(dtype, count)) {
    return *size;
  }
  throw Error(ORT_FAIL, "the tensor's size in bytes overflows: pass smaller dimensions");
}

const TensorView& tensor_of(const OrtValue* value) {
  if (value->view == nullptr) throw Error(ORT_FAIL, "the value holds no tensor: pass one that IsTensor accepts");
  return *value->view;
}

std::unique_ptr<OwnedValue> allocate_tensor(OrtAllocator* allocator, DataType dtype, const int64_t* dims, size_t rank) {
  const int64_t count = element_count(dims, rank, ORT_FAIL);
  const size_t bytes = storage_size(dtype, count);
  const OrtMemoryInfo& memory = memory_info_of(allocator);
  auto block = AllocatorBlock::of(allocator);
  void* data = bytes == 0 ? nullptr : allocate_from(allocator, bytes);
  block->take(data, string_count(dtype, count));
  return std::make_unique<OwnedValue>(engine::Value::tensor(dtype, dims, rank, data, std::move(block)), memory);
}

std::unique_ptr<OwnedValue> copy_tensor(OrtAllocator* allocator, const TensorView& source) {
  auto copy = allocate_tensor(allocator, source.dtype, source.dims, source.rank);
  copy_elements(source, *copy->view);
  return copy;
}

void copy_elements(const TensorView& source, const TensorView& target) {
  if (source.dtype == DataType::kString) {
    std::copy_n(source.as<std::string>(), source.element_count, target.as<std::string>());
  } else if (source.element_count != 0) {
    std::memcpy(target.data, source.data, storage_size(source.dtype, source.element_count));
  }
}

void OrtApiSlots::CreateTensorAsOrtValue(OrtAllocator* allocator, const int64_t* shape, size_t shape_len,
                                         ONNXTensorElementDataType type, OrtValue** out) {
  *out = allocate_tensor(allocator, tensor_element_type(type), shape, shape_len).release();
}

void OrtApiSlots::CreateTensorWithDataAsOrtValue(const OrtMemoryInfo* info, void* p_data, size_t p_data_len,
                                                 const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type,
                                                 OrtValue** out) {
  const DataType dtype = tensor_element_type(type);
  require_room(dtype, element_count(shape, shape_len, ORT_INVALID_ARGUMENT), p_data_len);
  // The caller keeps the data alive, so there is no owner.
  *out = new OwnedValue(engine::Value::tensor(dtype, shape, shape_len, p_data, {}), *info);
}

void OrtApiSlots::IsTensor(const OrtValue* value, int* out) { *out = value->view != nullptr; }

void OrtApiSlots::GetTensorMutableData(OrtValue* value, void** out) { *out = data_of(value); }

void OrtApiSlots::ReleaseValue(OrtValue* input) {
  if (input != nullptr && input->owned) delete static_cast<OwnedValue*>(input);
}

void OrtApiSlots::TensorAt(OrtValue* value, const int64_t* location_values, size_t location_values_count, void** out) {
  const TensorView& view = tensor_of(value);
  if (view.dtype == DataType::kString || kernels::is_sub_byte(view.dtype)) {
    throw Error(ORT_INVALID_ARGUMENT, std::string("an element of a tensor of ") + kernels::data_type_name(view.dtype) +
                                          " has no address of its own: read it through GetTensorMutableData or the "
                                          "string functions");
  }
  if (location_values_count != view.rank) {
    throw Error(ORT_INVALID_ARGUMENT, "the location has " + std::to_string(location_values_count) +
                                          " indices and the tensor " + std::to_string(view.rank) +
                                          " dimensions: pass one index for each");
  }
  int64_t offset = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    if (location_values[i] < 0 || location_values[i] >= view.dims[i]) {
      throw Error(ORT_INVALID_ARGUMENT, "index " + std::to_string(location_values[i]) + " is outside dimension " +
                                            std::to_string(i) + " of extent " + std::to_string(view.dims[i]));
    }
    offset = offset * view.dims[i] + location_values[i];
  }
  *out = view.as<char>() + offset * (kernels::bit_size(view.dtype) / 8);
}

void OrtApiSlots::IsSparseTensor(const OrtValue*, int* out) { *out = 0; }

void OrtApiSlots::HasValue(const OrtValue* value, int* out) { *out = value->view != nullptr; }

void OrtApiSlots::GetTensorMemoryInfo(const OrtValue* value, const OrtMemoryInfo** mem_info) {
  tensor_of(value);
  *mem_info = value->owned ? &static_cast<const OwnedValue*>(value)->memory : &cpu_memory_info();
}

void OrtApiSlots::CreateTensorWithDataAndDeleterAsOrtValue(OrtAllocator* deleter, void* p_data, size_t p_data_len,
                                                           const int64_t* shape, size_t shape_len,
                                                           ONNXTensorElementDataType type, OrtValue** out) {
  const DataType dtype = tensor_element_type(type);
  const int64_t count = element_count(shape, shape_len, ORT_INVALID_ARGUMENT);
  require_room(dtype, count, p_data_len);
  const OrtMemoryInfo& memory = memory_info_of(deleter);
  const auto block = AllocatorBlock::of(deleter);
  *out = new OwnedValue(engine::Value::tensor(dtype, shape, shape_len, p_data, engine::Ref<AllocatorBlock>(block)),
                        memory);
  // From here on the data is the value's: until then a failure leaves it to the caller.
  block->take(p_data, string_count(dtype, count));
}

void OrtApiSlots::GetTensorSizeInBytes(const OrtValue* ort_value, size_t* size) {
  const TensorView* view = ort_value->view;
  if (view == nullptr || view->dtype == DataType::kString) {
    throw Error(ORT_INVALID_ARGUMENT,
                "only a tensor of fixed-size elements has a size in bytes: for strings, ask GetStringTensorDataLength");
  }
  *size = storage_size(view->dtype, view->element_count);
}

void OrtApiSlots::GetTensorData(const OrtValue* value, const void** out) { *out = data_of(value); }

}  // namespace onnx_light_ort::abi
