#include "error.h"

#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "onnx_light_ort/kernels/error.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

/// Outlives everything that may still hold it, as plugins release statuses while the process ends.
OrtStatus& out_of_memory_status() noexcept {
  static OrtStatus* const status = new OrtStatus{ORT_RUNTIME_EXCEPTION, "out of memory", true};
  return *status;
}

// Made while there still is memory.
[[maybe_unused]] const OrtStatus& made_at_load = out_of_memory_status();

thread_local ReleasedStatuses* kept_statuses = nullptr;

std::string place(const SlotInfo& slot) { return std::string(slot.table) + "::" + slot.name; }

OrtErrorCode code_of(kernels::ErrorKind kind) noexcept {
  switch (kind) {
    case kernels::ErrorKind::kInvalidArgument:
      return ORT_INVALID_ARGUMENT;
    case kernels::ErrorKind::kNotImplemented:
      return ORT_NOT_IMPLEMENTED;
    case kernels::ErrorKind::kOutOfMemory:
    case kernels::ErrorKind::kInternal:
      return ORT_RUNTIME_EXCEPTION;
  }
  return ORT_FAIL;
}

}  // namespace

OrtStatus* make_status(OrtErrorCode code, std::string_view message, bool out_of_memory) noexcept {
  try {
    return new OrtStatus{code, std::string(message), out_of_memory};
  } catch (...) {
    return &out_of_memory_status();
  }
}

void release_status(OrtStatus* status) noexcept {
  if (status == nullptr || status == &out_of_memory_status()) return;
  if (kept_statuses != nullptr) {
    status->next_released = std::exchange(kept_statuses->newest_, status);
  } else {
    delete status;
  }
}

ReleasedStatuses::ReleasedStatuses() noexcept : outer_(std::exchange(kept_statuses, this)) {}

ReleasedStatuses::~ReleasedStatuses() {
  kept_statuses = outer_;
  while (newest_ != nullptr) delete std::exchange(newest_, newest_->next_released);
}

bool ReleasedStatuses::holds(const OrtStatus* status) const noexcept {
  const OrtStatus* held = newest_;
  while (held != nullptr && held != status) held = held->next_released;
  return held != nullptr;
}

OrtStatus* status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return make_status(error.code(), error.what(), error.out_of_memory());
  } catch (const kernels::Error& error) {
    return make_status(code_of(error.kind()), error.what(), error.kind() == kernels::ErrorKind::kOutOfMemory);
  } catch (const std::bad_alloc&) {
    return &out_of_memory_status();
  } catch (const std::exception& error) {
    return make_status(ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return make_status(ORT_FAIL, "an exception that is no std::exception was thrown inside the host");
  }
}

OrtStatus* not_implemented(const SlotInfo& slot) noexcept {
  try {
    return make_status(ORT_NOT_IMPLEMENTED, place(slot) + " is not implemented: " + slot.reason);
  } catch (...) {
    return &out_of_memory_status();
  }
}

void throw_null_argument(const SlotInfo& slot, const char* parameter) {
  throw Error(ORT_INVALID_ARGUMENT, place(slot) + ": parameter '" + parameter + "' must not be null");
}

OrtStatus* OrtApiSlots::CreateStatus(OrtErrorCode code, const char* msg) {
  // As in ORT, the message of a plugin's status ends here at the latest.
  constexpr size_t kLongestMessage = 4096;
  return make_status(code, msg == nullptr ? std::string_view() : std::string_view(msg, strnlen(msg, kLongestMessage)));
}

OrtErrorCode OrtApiSlots::GetErrorCode(const OrtStatus* status) { return status->code; }

const char* OrtApiSlots::GetErrorMessage(const OrtStatus* status) { return status->message.c_str(); }

void OrtApiSlots::ReleaseStatus(OrtStatus* input) { release_status(input); }

}  // namespace onnx_light_ort::abi
