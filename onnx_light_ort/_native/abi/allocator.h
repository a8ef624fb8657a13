// The host's own CPU allocators, and how allocators of either side are called.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "buffer.h"

namespace onnx_light_ort::abi {

/// CPU memory, 64-byte aligned, charged to a session's budget where there is one. A block may be freed through any
/// HostAllocator, since each block knows its budget; so a plugin that mixes them up does no harm. Alloc and Reserve
/// return null for zero bytes, and when memory or budget is exhausted.
struct HostAllocator final : OrtAllocator {
 public:
  explicit HostAllocator(std::shared_ptr<engine::MemoryBudget> budget);
  HostAllocator(const HostAllocator&) = delete;
  HostAllocator& operator=(const HostAllocator&) = delete;

  const std::shared_ptr<engine::MemoryBudget>& budget() const noexcept { return budget_; }

 private:
  void* allocate(size_t size) noexcept;
  std::unique_ptr<OrtKeyValuePairs> stats() const;

  const std::shared_ptr<engine::MemoryBudget> budget_;
  std::atomic<uint64_t> allocations_{0};
  std::atomic<uint64_t> reserves_{0};
};

/// Without a budget; lives as long as the process.
HostAllocator& default_allocator() noexcept;

bool is_host_allocator(const OrtAllocator* allocator) noexcept;

/// Calls of an allocator that may be a plugin's, with what it answers. They throw Error when the callback is null or
/// throws.
void* call_alloc(OrtAllocator* allocator, size_t size);
void call_free(OrtAllocator* allocator, void* block);
const OrtMemoryInfo* call_info(const OrtAllocator* allocator);

/// Throws Error when Free is null: to be asked before there is a block that only Free can give back.
void require_free(const OrtAllocator* allocator);

/// Memory from an allocator that may be a plugin's. Throws Error when it gives none for a size above zero.
void* allocate_from(OrtAllocator* allocator, size_t size);

/// Frees where nobody is there to take an error: it is logged.
void give_back(OrtAllocator* allocator, void* block) noexcept;

/// Where the allocator's memory lives. Throws Error when it does not say.
const OrtMemoryInfo& memory_info_of(const OrtAllocator* allocator);

}  // namespace onnx_light_ort::abi
