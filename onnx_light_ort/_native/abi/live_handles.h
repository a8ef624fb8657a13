// Which handles are out at plugins, so that one that the host did not make, or got back already, is told by its address
// alone.
#pragma once

#include <mutex>
#include <unordered_set>

namespace onnx_light_ort::abi {

template <class T>
class LiveHandles {
 public:
  void add(const T* handle) {
    const std::lock_guard lock(mutex_);
    handles_.insert(handle);
  }
  /// Takes a handle back; false for an address that is none.
  bool take(const T* handle) {
    const std::lock_guard lock(mutex_);
    return handles_.erase(handle) != 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const T*> handles_;
};

}  // namespace onnx_light_ort::abi
