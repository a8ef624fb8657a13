#include "element_copy.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {
namespace {

// Bytes from one element to the next. Sub-byte elements have no address of their own.
size_t element_stride(DataType dtype) {
  if (dtype == DataType::kString) return sizeof(std::string);
  const int bits = kernels::bit_size(dtype);
  if (bits < 8) {
    kernels::fail(kernels::ErrorKind::kNotImplemented,
                  std::string("tensors of ") + kernels::data_type_name(dtype) + " cannot be cut or stacked here");
  }
  return static_cast<size_t>(bits) / 8;
}

void copy_elements(DataType dtype, void* to, const void* from, int64_t count) {
  if (dtype == DataType::kString) {
    std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(to));
  } else if (count > 0) {
    std::memcpy(to, from, static_cast<size_t>(count) * element_stride(dtype));
  }
}

char* at(void* data, DataType dtype, int64_t element) {
  return static_cast<char*>(data) + element * static_cast<int64_t>(element_stride(dtype));
}

int64_t product(const int64_t* begin, const int64_t* end) {
  int64_t result = 1;
  for (; begin != end; ++begin) result *= *begin;
  return result;
}

}  // namespace

Value allocate_tensor(FrameAllocator& allocator, DataType dtype, const std::vector<int64_t>& dims) {
  const auto count = kernels::checked_element_count(dims.data(), dims.size());
  if (!count) kernels::invalid_argument("a tensor's dimensions must not be negative, nor their product overflow");
  Value value;
  if (dtype == DataType::kString) {
    auto* strings = new StringBuffer(*count, allocator.allocate(StringBuffer::byte_size(*count)));
    value.set_tensor(dtype, dims.data(), dims.size(), *count, strings->data(), Ref<>::adopt(strings));
    return value;
  }
  const auto bytes = kernels::checked_byte_size(dtype, *count);
  if (!bytes) kernels::invalid_argument("a tensor's byte size overflows");
  Ref<Buffer> buffer = allocator.allocate(*bytes);
  void* data = buffer->data();
  value.set_tensor(dtype, dims.data(), dims.size(), *count, data, std::move(buffer));
  return value;
}

Value take_element(FrameAllocator& allocator, const Value& source, size_t axis, int64_t index) {
  const TensorView& view = source.view();
  std::vector<int64_t> dims(view.dims, view.dims + view.rank);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const int64_t outer = product(view.dims, view.dims + axis);
  const int64_t inner = product(view.dims + axis + 1, view.dims + view.rank);
  if (axis == 0) {
    Value element;
    element.set_tensor(view.dtype, dims.data(), dims.size(), inner, at(view.data, view.dtype, index * inner),
                       source.owner());
    return element;
  }
  Value element = allocate_tensor(allocator, view.dtype, dims);
  for (int64_t o = 0; o < outer; ++o) {
    copy_elements(view.dtype, at(element.view().data, view.dtype, o * inner),
                  at(view.data, view.dtype, (o * view.dims[axis] + index) * inner), inner);
  }
  return element;
}

Value stack_elements(FrameAllocator& allocator, const std::vector<Value>& elements, size_t axis) {
  const TensorView& first = elements.front().view();
  if (axis > first.rank) kernels::invalid_argument("the axis to stack along is beyond the elements' rank");
  std::vector<int64_t> dims(first.dims, first.dims + first.rank);
  for (const Value& element : elements) {
    const TensorView& view = element.view();
    if (view.dtype != first.dtype || !std::equal(dims.begin(), dims.end(), view.dims, view.dims + view.rank)) {
      kernels::invalid_argument("the iterations of a scan output differ in type or shape, so they cannot be stacked");
    }
  }
  const int64_t outer = product(first.dims, first.dims + axis);
  const int64_t inner = product(first.dims + axis, first.dims + first.rank);
  const auto count = static_cast<int64_t>(elements.size());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), count);
  Value stacked = allocate_tensor(allocator, first.dtype, dims);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t e = 0; e < count; ++e) {
      copy_elements(first.dtype, at(stacked.view().data, first.dtype, (o * count + e) * inner),
                    at(elements[static_cast<size_t>(e)].view().data, first.dtype, o * inner), inner);
    }
  }
  return stacked;
}

}  // namespace onnx_light_ort::engine
