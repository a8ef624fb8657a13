// Shared ownership of whatever keeps a tensor's memory alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace onnx_light_ort::engine {

class Buffer;

/// Keeps memory alive while at least one Ref refers to it: an engine buffer, a numpy array, a mapped file, a value of a
/// plugin. The count is intrusive because a value slot changes owners for every node of every run.
class Owner {
 public:
  /// The buffer that this is, or null for memory that the engine did not allocate.
  virtual Buffer* as_buffer() noexcept { return nullptr; }
  /// Whose memory it is, where this only adds something to another owner.
  virtual Owner* of_memory() noexcept { return this; }
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) dispose();
  }
  /// True when the caller's reference is the only one, so that nobody else can gain another meanwhile.
  bool unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

 protected:
  Owner() = default;
  virtual ~Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  /// Called once, when the last reference is gone.
  virtual void dispose() noexcept { delete this; }

 private:
  std::atomic<uint32_t> references_{1};
};

/// A counted reference to an Owner; null is allowed.
template <class T = Owner>
class Ref {
 public:
  Ref() = default;
  /// Takes over the reference that the caller holds.
  static Ref adopt(T* owner) noexcept {
    Ref ref;
    ref.owner_ = owner;
    return ref;
  }
  static Ref share(T* owner) noexcept {
    if (owner != nullptr) owner->retain();
    return adopt(owner);
  }
  Ref(const Ref& other) noexcept : owner_(other.owner_) {
    if (owner_ != nullptr) owner_->retain();
  }
  Ref(Ref&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
  template <class U>
  Ref(Ref<U>&& other) noexcept : owner_(other.detach()) {}  // NOLINT: implicit, as between smart pointers
  Ref& operator=(Ref other) noexcept {
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~Ref() {
    if (owner_ != nullptr) owner_->release();
  }

  T* get() const noexcept { return owner_; }
  T* operator->() const noexcept { return owner_; }
  explicit operator bool() const noexcept { return owner_ != nullptr; }
  /// Hands the reference to the caller.
  T* detach() noexcept { return std::exchange(owner_, nullptr); }
  void reset() noexcept { Ref().swap(*this); }
  void swap(Ref& other) noexcept { std::swap(owner_, other.owner_); }

 private:
  T* owner_ = nullptr;
};

}  // namespace onnx_light_ort::engine
