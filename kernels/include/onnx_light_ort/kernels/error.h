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
  /// `code` is an adapter's own number for the failure, handed on to whoever knows it; 0: there is none.
  Error(ErrorKind kind, const std::string& message, int code = 0)
      : std::runtime_error(message), kind_(kind), code_(code) {}
  ErrorKind kind() const noexcept { return kind_; }
  int code() const noexcept { return code_; }

 private:
  ErrorKind kind_;
  int code_;
};

[[noreturn]] inline void fail(ErrorKind kind, const std::string& message) { throw Error(kind, message); }

[[noreturn]] inline void invalid_argument(const std::string& message) {
  throw Error(ErrorKind::kInvalidArgument, message);
}

}  // namespace onnx_light_ort::kernels
