// A claim on a loaded library that its holder can give up before the object that holds it goes.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "shared_library.h"

namespace onnx_light_ort::platform {

/// What Python holds of a library. Python objects live for as long as some traceback or frame remembers them, which
/// must not decide when a library is unloaded: so the claim is dropped by close().
class LibraryHandle {
 public:
  explicit LibraryHandle(std::shared_ptr<SharedLibrary> library) noexcept : library_(std::move(library)) {}

  /// The claim, to be shared by whatever is made from the library. Throws std::logic_error after close().
  const std::shared_ptr<SharedLibrary>& library() const {
    if (library_ == nullptr) throw std::logic_error("the library was closed; load it again");
    return library_;
  }

  /// Drops the claim and returns how many others hold the same one. The library is unloaded when that is 0.
  long close() noexcept {
    std::weak_ptr<SharedLibrary> rest = library_;
    library_.reset();
    return rest.use_count();
  }

 private:
  std::shared_ptr<SharedLibrary> library_;
};

}  // namespace onnx_light_ort::platform
