// Engine-owned memory: 64-byte aligned, counted, charged to a budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "owner.h"

namespace onnx_light_ort::engine {

inline constexpr size_t kBufferAlignment = 64;

/// Bytes that one session may hold at a time. Shared by the buffers that were charged to it, so it outlives them.
class MemoryBudget {
 public:
  /// limit 0: no limit.
  explicit MemoryBudget(size_t limit) noexcept : limit_(limit) {}

  /// Throws kernels::Error(kOutOfMemory), and charges nothing, when the limit would be passed.
  void charge(size_t bytes);
  void refund(size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  size_t limit() const noexcept { return limit_; }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

/// A block whose payload is 64-byte aligned. Header and payload are one allocation.
class Buffer final : public Owner {
 public:
  /// A buffer of at least `bytes` bytes with undefined content. Throws kernels::Error(kOutOfMemory).
  static Ref<Buffer> allocate(size_t bytes, const std::shared_ptr<MemoryBudget>& budget);

  /// The buffer that data() belongs to, taking over the reference that the holder of the bare pointer detached.
  static Ref<Buffer> adopt_data(void* data) noexcept {
    return Ref<Buffer>::adopt(reinterpret_cast<Buffer*>(static_cast<char*>(data) - kHeaderSize));
  }

  Buffer* as_buffer() noexcept override { return this; }
  void* data() noexcept { return reinterpret_cast<char*>(this) + kHeaderSize; }
  size_t capacity() const noexcept { return capacity_; }

 private:
  Buffer(size_t capacity, std::shared_ptr<MemoryBudget> budget) noexcept;
  ~Buffer() override = default;
  void dispose() noexcept override;

  static constexpr size_t kHeaderSize = 64;
  const size_t capacity_;
  std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace onnx_light_ort::engine
