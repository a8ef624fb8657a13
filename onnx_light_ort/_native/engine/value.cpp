#include "value.h"

#include <algorithm>
#include <utility>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {

Value::Value(const Value& other) : view_(other.view_), owner_(other.owner_), kind_(other.kind_) {
  copy_dims(other.view_.dims, other.view_.strides, other.view_.rank);
}

Value::Value(Value&& other) noexcept
    : view_(other.view_),
      owner_(std::move(other.owner_)),
      kind_(std::exchange(other.kind_, Kind::kEmpty)),
      inline_dims_(other.inline_dims_),
      heap_dims_(std::move(other.heap_dims_)) {
  adopt_dims();
  other.view_ = {};
}

Value& Value::operator=(const Value& other) {
  if (this != &other) *this = Value(other);
  return *this;
}

Value& Value::operator=(Value&& other) noexcept {
  if (this == &other) return *this;
  view_ = other.view_;
  owner_ = std::move(other.owner_);
  kind_ = std::exchange(other.kind_, Kind::kEmpty);
  inline_dims_ = other.inline_dims_;
  heap_dims_ = std::move(other.heap_dims_);
  adopt_dims();
  other.view_ = {};
  return *this;
}

Value Value::tensor(DataType dtype, const int64_t* dims, size_t rank, void* data, Ref<> owner) {
  const auto count = kernels::checked_element_count(dims, rank);
  if (!count) kernels::invalid_argument("a tensor's dimensions must not be negative, nor their product overflow");
  Value value;
  value.set_tensor(dtype, dims, rank, *count, data, std::move(owner));
  return value;
}

Value Value::object(Ref<> owner) {
  Value value;
  value.owner_ = std::move(owner);
  value.kind_ = Kind::kObject;
  return value;
}

size_t Value::byte_size() const noexcept {
  return kernels::checked_byte_size(view_.dtype, view_.element_count).value_or(0);
}

void Value::set_tensor(DataType dtype, const int64_t* dims, size_t rank, int64_t element_count, void* data,
                       Ref<> owner) {
  set_strided_tensor(dtype, dims, nullptr, rank, element_count, data, std::move(owner));
}

void Value::set_strided_tensor(DataType dtype, const int64_t* dims, const int64_t* strides, size_t rank,
                               int64_t element_count, void* data, Ref<> owner) {
  copy_dims(dims, strides, rank);
  view_.data = data;
  view_.element_count = element_count;
  view_.dtype = dtype;
  owner_ = std::move(owner);
  kind_ = Kind::kTensor;
}

void Value::copy_dims(const int64_t* dims, const int64_t* strides, size_t rank) {
  if (rank > kInlineRank || strides != nullptr) {
    // Before the old array goes: dims may point into it.
    auto grown = std::make_unique<int64_t[]>(strides != nullptr ? 2 * rank : rank);
    std::copy_n(dims, rank, grown.get());
    if (strides != nullptr) std::copy_n(strides, rank, grown.get() + rank);
    heap_dims_ = std::move(grown);
  } else {
    std::copy_n(dims, rank, inline_dims_.data());
    heap_dims_.reset();
  }
  view_.rank = rank;
  view_.strides = strides;
  adopt_dims();
}

void Value::adopt_dims() noexcept {
  view_.dims = heap_dims_ ? heap_dims_.get() : inline_dims_.data();
  if (view_.strides != nullptr) view_.strides = view_.dims + view_.rank;
}

size_t StringBuffer::byte_size(int64_t count) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), sizeof(std::string), &bytes)) {
    kernels::invalid_argument("a tensor of " + std::to_string(count) + " strings has no byte size");
  }
  return bytes;
}

StringBuffer::StringBuffer(int64_t count, Ref<Buffer> buffer) noexcept
    : count_(static_cast<size_t>(count)), buffer_(std::move(buffer)) {
  std::uninitialized_default_construct_n(data(), count_);
}

StringBuffer::~StringBuffer() { std::destroy_n(data(), count_); }

}  // namespace onnx_light_ort::engine
