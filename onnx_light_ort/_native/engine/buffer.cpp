#include "buffer.h"

#include <cstdlib>
#include <new>
#include <string>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {

using kernels::ErrorKind;

void MemoryBudget::charge(size_t bytes) {
  const size_t used = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (limit_ != 0 && used > limit_) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    kernels::fail(ErrorKind::kOutOfMemory, "an allocation of " + std::to_string(bytes) +
                                               " bytes would pass the session's memory limit of " +
                                               std::to_string(limit_) + " bytes (" + std::to_string(used - bytes) +
                                               " in use): raise SessionOptions.memory_limit, or feed smaller inputs");
  }
}

Buffer::Buffer(size_t capacity, std::shared_ptr<MemoryBudget> budget) noexcept
    : capacity_(capacity), budget_(std::move(budget)) {}

Ref<Buffer> Buffer::allocate(size_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  static_assert(sizeof(Buffer) <= kHeaderSize, "the payload starts one cache line after the header");
  static_assert(kHeaderSize % kBufferAlignment == 0, "the header must not break the payload's alignment");
  constexpr size_t kMost = SIZE_MAX - 2 * kBufferAlignment;
  if (bytes > kMost)
    kernels::fail(ErrorKind::kOutOfMemory, "an allocation of " + std::to_string(bytes) + " bytes is too large");
  const size_t capacity = (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  if (budget) budget->charge(capacity);
  void* block = std::aligned_alloc(kBufferAlignment, kHeaderSize + capacity);
  if (block == nullptr) {
    if (budget) budget->refund(capacity);
    kernels::fail(ErrorKind::kOutOfMemory, "an allocation of " + std::to_string(bytes) + " bytes failed");
  }
  return Ref<Buffer>::adopt(new (block) Buffer(capacity, budget));
}

void Buffer::dispose() noexcept {
  if (budget_) budget_->refund(capacity_);
  this->~Buffer();
  std::free(this);
}

}  // namespace onnx_light_ort::engine
