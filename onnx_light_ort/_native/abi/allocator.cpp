#include "allocator.h"

#include <exception>
#include <string>

#include "error.h"
#include "key_value_pairs.h"
#include "logger.h"
#include "memory_info.h"
#include "onnx_light_ort/kernels/error.h"
#include "plugin_call.h"
#include "slots.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

template <class Callback>
void require_callback(Callback callback, const char* name) {
  if (callback == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT, std::string(name) + " is null: set it before the allocator is handed over");
  }
}

}  // namespace

HostAllocator::HostAllocator(std::shared_ptr<engine::MemoryBudget> budget)
    : OrtAllocator{}, budget_(std::move(budget)) {
  version = ORT_API_VERSION;
  // Null for `self` crashes ORT; here it is an allocator that has no memory.
  Alloc = [](OrtAllocator* self, size_t size) {
    return self == nullptr ? nullptr : static_cast<HostAllocator*>(self)->allocate(size);
  };
  Free = [](OrtAllocator*, void* block) {
    if (block != nullptr) engine::Buffer::adopt_data(block).reset();
  };
  Info = [](const OrtAllocator*) { return &cpu_memory_info(); };
  Reserve = [](OrtAllocator* self, size_t size) -> void* {
    if (self == nullptr) return nullptr;
    auto* allocator = static_cast<HostAllocator*>(self);
    void* block = allocator->allocate(size);
    if (block != nullptr) allocator->reserves_.fetch_add(1, std::memory_order_relaxed);
    return block;
  };
  GetStats = [](const OrtAllocator* self, OrtKeyValuePairs** out) noexcept -> OrtStatus* {
    try {
      *out = static_cast<const HostAllocator*>(self)->stats().release();
      return nullptr;
    } catch (...) {
      return status_of_current_exception();
    }
  };
  // AllocOnStream and Shrink stay null, which the ABI allows: there are no streams, and nothing is held back.
}

void* HostAllocator::allocate(size_t size) noexcept {
  if (size == 0) return nullptr;
  try {
    void* block = engine::Buffer::allocate(size, budget_).detach()->data();
    allocations_.fetch_add(1, std::memory_order_relaxed);
    return block;
  } catch (const kernels::Error&) {
    return nullptr;  // The callback's way to say so.
  }
}

// An allocator without a budget keeps no account, and its statistics are empty, as in ORT.
std::unique_ptr<OrtKeyValuePairs> HostAllocator::stats() const {
  auto stats = std::make_unique<OrtKeyValuePairs>();
  if (!budget_) return stats;
  stats->add("Limit", budget_->limit() == 0 ? "-1" : std::to_string(budget_->limit()));
  stats->add("InUse", std::to_string(budget_->used()));
  stats->add("NumAllocs", std::to_string(allocations_.load(std::memory_order_relaxed)));
  stats->add("NumReserves", std::to_string(reserves_.load(std::memory_order_relaxed)));
  return stats;
}

bool is_host_allocator(const OrtAllocator* allocator) noexcept { return allocator->Free == default_allocator().Free; }

HostAllocator& default_allocator() noexcept {
  static HostAllocator* const allocator = new HostAllocator(nullptr);
  return *allocator;
}

void* call_alloc(OrtAllocator* allocator, size_t size) {
  require_callback(allocator->Alloc, "OrtAllocator::Alloc");
  return call_plugin("OrtAllocator::Alloc", [&] { return allocator->Alloc(allocator, size); });
}

void call_free(OrtAllocator* allocator, void* block) {
  require_free(allocator);
  call_plugin("OrtAllocator::Free", [&] { allocator->Free(allocator, block); });
}

const OrtMemoryInfo* call_info(const OrtAllocator* allocator) {
  require_callback(allocator->Info, "OrtAllocator::Info");
  return call_plugin("OrtAllocator::Info", [&] { return allocator->Info(allocator); });
}

void require_free(const OrtAllocator* allocator) { require_callback(allocator->Free, "OrtAllocator::Free"); }

void give_back(OrtAllocator* allocator, void* block) noexcept {
  try {
    call_free(allocator, block);
  } catch (const std::exception& error) {
    log(default_logger(), ORT_LOGGING_LEVEL_ERROR, error.what());
  }
}

const OrtMemoryInfo& memory_info_of(const OrtAllocator* allocator) {
  const OrtMemoryInfo* memory = call_info(allocator);
  if (memory == nullptr) throw Error(ORT_FAIL, "the allocator's Info gave no OrtMemoryInfo: return a description");
  return *memory;
}

void* allocate_from(OrtAllocator* allocator, size_t size) {
  void* block = call_alloc(allocator, size);
  if (block == nullptr && size != 0) {
    throw Error(ORT_RUNTIME_EXCEPTION,
                "the allocator gave no memory for " + std::to_string(size) +
                    " bytes: ask for less, or raise the session's memory limit",
                is_host_allocator(allocator));
  }
  return block;
}

// What a plugin's own allocator answers is handed on, null included. The host's says null for exhausted memory, which
// here is an error.
void OrtApiSlots::AllocatorAlloc(OrtAllocator* ort_allocator, size_t size, void** out) {
  *out = is_host_allocator(ort_allocator) ? allocate_from(ort_allocator, size) : call_alloc(ort_allocator, size);
}

void OrtApiSlots::AllocatorFree(OrtAllocator* ort_allocator, void* p) { call_free(ort_allocator, p); }

void OrtApiSlots::AllocatorGetInfo(const OrtAllocator* ort_allocator, const OrtMemoryInfo** out) {
  *out = call_info(ort_allocator);
}

void OrtApiSlots::GetAllocatorWithDefaultOptions(OrtAllocator** out) { *out = &default_allocator(); }

// Only what the host handed over is released: the default allocator is for good, and one of a plugin is the plugin's.
void OrtApiSlots::ReleaseAllocator(OrtAllocator* input) {
  if (input == nullptr || input == &default_allocator() || !is_host_allocator(input)) return;
  delete static_cast<HostAllocator*>(input);
}

void OrtApiSlots::AllocatorGetStats(const OrtAllocator* ort_allocator, OrtKeyValuePairs** out) {
  const auto get_stats = field::OrtAllocator::GetStats(ort_allocator);
  if (get_stats == nullptr) {
    throw Error(ORT_NOT_IMPLEMENTED, "the allocator has no GetStats: do without its statistics");
  }
  call_plugin("OrtAllocator::GetStats", [&] { return get_stats(ort_allocator, out); });
}

}  // namespace onnx_light_ort::abi
