// A claim on a loaded library that its holder can give up before the object that holds it goes.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "shared_library.h"

namespace onnx_light_ort::platform {

/// What Python holds of a library. Python objects live for as long as some traceback or frame remembers them, which
/// must not decide when a library is unloaded: so the claim can be taken out of them.
class LibraryHandle {
 public:
  explicit LibraryHandle(std::shared_ptr<SharedLibrary> library) noexcept : library_(std::move(library)) {}

  /// The claim, to be shared by whatever is made from the library. Throws std::logic_error after take().
  const std::shared_ptr<SharedLibrary>& library() const {
    if (library_ == nullptr) throw std::logic_error("the library was closed; load it again");
    return library_;
  }

  /// The claim, which this handle holds no longer; null if it was taken before.
  std::shared_ptr<SharedLibrary> take() noexcept { return std::move(library_); }

 private:
  std::shared_ptr<SharedLibrary> library_;
};

}  // namespace onnx_light_ort::platform
