// The tables that the runtime gave, the version agreed on, and the fence between C++ exceptions and the C ABI.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace onnx_light_ort::reverse {

inline constexpr uint32_t kNewestVersion = ORT_API_VERSION;
inline constexpr uint32_t kOldestEpVersion = 24;        ///< GetKernelRegistry came with 24.
inline constexpr uint32_t kOldestCustomOpVersion = 17;  ///< InferOutputShapeFn came with 17.

/// A runtime's function tables. A slot newer than `version` is never read.
struct Api {
  const OrtApi* ort = nullptr;
  const OrtEpApi* ep = nullptr;  ///< Null below version 22.
  uint32_t version = 0;
};

/// The newest version of [oldest, kNewestVersion] that the runtime serves; `ort` is null where there is none.
Api negotiate(const OrtApiBase& base, uint32_t oldest) noexcept;

/// A status for a runtime that is older than `oldest`, made through its version 1; null where it has none.
OrtStatus* too_old(const OrtApiBase& base, uint32_t oldest) noexcept;

/// Throws kernels::Error with the status' message and code, and releases it; returns on success.
void check(const Api& api, OrtStatus* status);

/// Whether the status, which is released, is a success.
bool succeeded(const Api& api, OrtStatus* status) noexcept;

/// A status for the exception that is being handled.
OrtStatus* status_of_exception(const Api& api) noexcept;

/// Runs body; an exception becomes a status and never reaches the runtime.
template <class Body>
OrtStatus* fenced(const Api& api, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return nullptr;
  } catch (...) {
    return status_of_exception(api);
  }
}

/// An object of the runtime that this library releases.
template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

}  // namespace onnx_light_ort::reverse
