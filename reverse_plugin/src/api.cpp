#include "api.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {
namespace {

// MINOR of "MAJOR.MINOR.PATCH", which is the newest version of the API that the runtime serves. The runtime writes a
// complaint to stderr for each version that it is asked for in vain, so that asking for what it has is polite.
uint32_t newest_of_runtime(const OrtApiBase& base) noexcept {
  const char* text = base.GetVersionString();
  const char* dot = text == nullptr ? nullptr : std::strchr(text, '.');
  const long minor = dot == nullptr ? 0 : std::strtol(dot + 1, nullptr, 10);
  return minor <= 0 ? kNewestVersion : static_cast<uint32_t>(std::min<long>(minor, kNewestVersion));
}

OrtErrorCode code_of(const kernels::Error& error) noexcept {
  if (error.code() != 0) return static_cast<OrtErrorCode>(error.code());
  switch (error.kind()) {
    case kernels::ErrorKind::kInvalidArgument:
      return ORT_INVALID_ARGUMENT;
    case kernels::ErrorKind::kNotImplemented:
      return ORT_NOT_IMPLEMENTED;
    case kernels::ErrorKind::kOutOfMemory:
    case kernels::ErrorKind::kInternal:
      break;
  }
  return ORT_RUNTIME_EXCEPTION;
}

}  // namespace

Api negotiate(const OrtApiBase& base, uint32_t oldest) noexcept {
  for (uint32_t version = newest_of_runtime(base); version >= oldest; --version) {
    if (const OrtApi* ort = base.GetApi(version)) return {ort, version >= 22 ? ort->GetEpApi() : nullptr, version};
  }
  return {};
}

OrtStatus* too_old(const OrtApiBase& base, uint32_t oldest) noexcept {
  const OrtApi* first = base.GetApi(1);
  if (first == nullptr) return nullptr;
  char message[160];
  std::snprintf(message, sizeof message, "this library needs ONNX Runtime 1.%u or newer, and this is %s: upgrade it",
                oldest, base.GetVersionString());
  return first->CreateStatus(ORT_NOT_IMPLEMENTED, message);
}

void check(const Api& api, OrtStatus* status) {
  if (status == nullptr) return;
  const Owned<OrtStatus> owned(status, api.ort->ReleaseStatus);
  const OrtErrorCode code = api.ort->GetErrorCode(status);
  throw kernels::Error(kernels::ErrorKind::kInternal, api.ort->GetErrorMessage(status), static_cast<int>(code));
}

bool succeeded(const Api& api, OrtStatus* status) noexcept {
  if (status == nullptr) return true;
  api.ort->ReleaseStatus(status);
  return false;
}

OrtStatus* status_of_exception(const Api& api) noexcept {
  try {
    throw;
  } catch (const kernels::Error& error) {
    return api.ort->CreateStatus(code_of(error), error.what());
  } catch (const std::bad_alloc&) {
    return api.ort->CreateStatus(ORT_RUNTIME_EXCEPTION, "out of memory");
  } catch (const std::exception& error) {
    return api.ort->CreateStatus(ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return api.ort->CreateStatus(ORT_RUNTIME_EXCEPTION, "an exception of unknown type");
  }
}

}  // namespace onnx_light_ort::reverse
