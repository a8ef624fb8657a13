// Buffers that a frame keeps for its next allocation.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "buffer.h"

namespace onnx_light_ort::engine {

/// Free lists by power of two. Used by one thread at a time, so it takes no lock; after the first run of a shape it
/// asks the system for nothing but the memory of graph outputs, which leave with the caller.
class FrameAllocator {
 public:
  explicit FrameAllocator(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  /// At least `bytes` bytes, undefined content. Throws kernels::Error(kOutOfMemory).
  Ref<Buffer> allocate(size_t bytes);

  /// Takes back a buffer of any origin whose only reference is `buffer`.
  void recycle(Ref<Buffer> buffer);

  /// Gives all free buffers back to the system.
  void trim() noexcept;

 private:
  static constexpr size_t kClasses = 48;
  static size_t class_of(size_t bytes) noexcept;

  std::array<std::vector<Ref<Buffer>>, kClasses> free_;
  std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace onnx_light_ort::engine
