#include "frame_allocator.h"

#include <algorithm>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {

size_t FrameAllocator::class_of(size_t bytes) noexcept {
  const size_t lines = (bytes + kBufferAlignment - 1) / kBufferAlignment;
  const size_t log2 = lines <= 1 ? 0 : 63 - static_cast<size_t>(__builtin_clzll(lines));
  return std::min(log2, kClasses - 1);
}

// Up to the next eighth of the class, so that buffers of nearly the same size can stand for each other.
size_t FrameAllocator::rounded(size_t bytes) noexcept {
  const size_t eighth = kBufferAlignment * (size_t{1} << class_of(bytes)) / 8;
  return eighth <= kBufferAlignment ? bytes : (bytes + eighth - 1) / eighth * eighth;
}

Ref<Buffer> FrameAllocator::allocate(size_t bytes) {
  // Class c holds capacities of [2^c, 2^(c+1)) lines: some of the request's own class may be too small, any of the next
  // one fits and wastes less than three quarters.
  const size_t own = class_of(bytes);
  for (size_t c = own; c < std::min(own + 2, kClasses); ++c) {
    std::vector<Ref<Buffer>>& list = free_[c];
    for (size_t i = list.size(); i-- > 0;) {
      if (list[i]->capacity() < bytes) continue;
      std::swap(list[i], list.back());
      Ref<Buffer> buffer = std::move(list.back());
      list.pop_back();
      return buffer;
    }
  }
  // All of the class that are free are too small: the new buffer takes the place of one of them, or a size that grows
  // from run to run would leave one behind each time.
  if (!free_[own].empty()) free_[own].pop_back();
  try {
    return Buffer::allocate(rounded(bytes), budget_);
  } catch (const kernels::Error&) {
    give_back();
    return Buffer::allocate(bytes, budget_);
  }
}

void FrameAllocator::charge(size_t bytes) {
  try {
    budget_->charge(bytes);
  } catch (const kernels::Error&) {
    give_back();
    budget_->charge(bytes);
  }
}

void FrameAllocator::recycle(Ref<Buffer> buffer) { free_[class_of(buffer->capacity())].push_back(std::move(buffer)); }

void FrameAllocator::give_back() noexcept {
  trim();
  if (reclaimer_ != nullptr) reclaimer_->reclaim();
}

void FrameAllocator::trim() noexcept {
  for (std::vector<Ref<Buffer>>& list : free_) list.clear();
}

}  // namespace onnx_light_ort::engine
