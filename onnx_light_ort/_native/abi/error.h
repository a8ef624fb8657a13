// Errors at the C boundary: bodies throw, thunks translate, plugins get an OrtStatus that they own.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "onnx_light_ort/ort_abi.h"
#include "slot.h"

/// Owned by whoever received it; released through OrtApi::ReleaseStatus.
struct OrtStatus {
  OrtErrorCode code;
  std::string message;
  bool out_of_memory = false;          ///< The host had no memory to give, for which the ABI has no code.
  OrtStatus* next_released = nullptr;  ///< For ReleasedStatuses.
};

namespace onnx_light_ort::abi {

/// What a slot body throws: the code and message that its caller gets.
class Error : public std::runtime_error {
 public:
  Error(OrtErrorCode code, const std::string& message, bool out_of_memory = false)
      : std::runtime_error(message), code_(code), out_of_memory_(out_of_memory) {}
  OrtErrorCode code() const noexcept { return code_; }
  /// Whether it began as the host's own lack of memory, and came back in the status that a plugin was given.
  bool out_of_memory() const noexcept { return out_of_memory_; }

 private:
  OrtErrorCode code_;
  bool out_of_memory_;
};

/// A status for a caller that owns it from now on. Never null: when memory is short it is a static one, which
/// release_status leaves alone.
OrtStatus* make_status(OrtErrorCode code, std::string_view message, bool out_of_memory = false) noexcept;

/// Ends a status; null and the static one are fine.
void release_status(OrtStatus* status) noexcept;

/// Keeps the statuses that this thread releases, until it goes itself.
///
/// For callbacks whose result ORT never looks at: with the C++ wrappers of its headers, an InferOutputShapeFn gives
/// back a status that it has just released.
class ReleasedStatuses {
 public:
  ReleasedStatuses() noexcept;
  ~ReleasedStatuses();
  ReleasedStatuses(const ReleasedStatuses&) = delete;
  ReleasedStatuses& operator=(const ReleasedStatuses&) = delete;

  bool holds(const OrtStatus* status) const noexcept;

 private:
  friend void release_status(OrtStatus* status) noexcept;

  ReleasedStatuses* const outer_;
  OrtStatus* newest_ = nullptr;
};

/// The status of the exception being handled: abi::Error and kernels::Error by their code, other exceptions as the
/// runtime reports them (ORT_RUNTIME_EXCEPTION; ORT_FAIL for what is no std::exception).
OrtStatus* status_of_current_exception() noexcept;

/// The answer of a stub, naming table, slot and reason.
OrtStatus* not_implemented(const SlotInfo& slot) noexcept;

/// Throws the ORT_INVALID_ARGUMENT of a required parameter that is null.
[[noreturn]] void throw_null_argument(const SlotInfo& slot, const char* parameter);

}  // namespace onnx_light_ort::abi
