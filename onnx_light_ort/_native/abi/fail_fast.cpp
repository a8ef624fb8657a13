#include "fail_fast.h"

#include <cstdio>
#include <cstdlib>

#include "error.h"

namespace onnx_light_ort::abi {

void fail_fast(const char* table, const char* slot, const char* reason) noexcept {
  std::fprintf(stderr, "onnx-light-ort: %s::%s: %s; the slot cannot report an error, so the process ends\n", table,
               slot, reason);
  std::fflush(stderr);
  std::abort();
}

void fail_fast_on_null(const SlotInfo& slot, const char* parameter) noexcept {
  char reason[160];
  std::snprintf(reason, sizeof(reason), "parameter '%s' must not be null", parameter);
  fail_fast(slot.table, slot.name, reason);
}

void fail_fast_on_exception(const SlotInfo& slot) noexcept {
  const OrtStatus* status = status_of_current_exception();
  fail_fast(slot.table, slot.name, status->message.c_str());
}

}  // namespace onnx_light_ort::abi
