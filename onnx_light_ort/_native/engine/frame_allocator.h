// Buffers that a frame keeps for its next allocation.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "buffer.h"

namespace onnx_light_ort::engine {

/// Gives memory back that is kept for later, of others than the one that asks.
class Reclaimer {
 public:
  virtual void reclaim() noexcept = 0;

 protected:
  ~Reclaimer() = default;
};

/// Free lists by power of two. Used by one thread at a time, so it takes no lock; after the first run of a shape it
/// asks the system for nothing but the memory of graph outputs, which leave with the caller.
class FrameAllocator {
 public:
  explicit FrameAllocator(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  /// At least `bytes` bytes, undefined content. Throws kernels::Error(kOutOfMemory).
  Ref<Buffer> allocate(size_t bytes);

  /// Charges the budget for memory that somebody else allocated. Throws kernels::Error(kOutOfMemory), and charges
  /// nothing, when the limit would be passed.
  void charge(size_t bytes);
  const std::shared_ptr<MemoryBudget>& budget() const noexcept { return budget_; }

  /// Takes back a buffer of any origin whose only reference is `buffer`.
  void recycle(Ref<Buffer> buffer);

  /// Gives all free buffers back to the system.
  void trim() noexcept;

  /// Who is asked before an allocation fails; lives as long as the run that is about to begin. Null: only this
  /// allocator's own free buffers are given back.
  void set_reclaimer(Reclaimer* reclaimer) noexcept { reclaimer_ = reclaimer; }

 private:
  static constexpr size_t kClasses = 48;
  static size_t class_of(size_t bytes) noexcept;
  static size_t rounded(size_t bytes) noexcept;
  /// What is kept for later counts against the limit, too.
  void give_back() noexcept;

  std::array<std::vector<Ref<Buffer>>, kClasses> free_;
  std::shared_ptr<MemoryBudget> budget_;
  Reclaimer* reclaimer_ = nullptr;
};

}  // namespace onnx_light_ort::engine
