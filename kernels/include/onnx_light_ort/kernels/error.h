// What a kernel, or whoever prepares or runs one, reports when it cannot go on.
#pragma once

#include <stdexcept>
#include <string>

namespace onnx_light_ort::kernels {

/// Why something failed. Adapters map it to the status or exception of their own boundary.
enum class ErrorKind {
  kInvalidArgument,  ///< The caller's model, shape, type or value is wrong.
  kNotImplemented,   ///< Valid, and not supported here.
  kOutOfMemory,      ///< An allocation failed or a memory limit was reached.
  kInternal,         ///< A broken invariant, or a foreign kernel that failed without saying why.
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

[[noreturn]] inline void fail(ErrorKind kind, const std::string& message) { throw Error(kind, message); }

[[noreturn]] inline void invalid_argument(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, message);
}

}  // namespace onnx_light_ort::kernels
