// A status's code in the engine's terms.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include "error.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::abi {

inline kernels::ErrorKind kind_of(OrtErrorCode code) noexcept {
  switch (code) {
    case ORT_INVALID_ARGUMENT:
      return kernels::ErrorKind::kInvalidArgument;
    case ORT_NOT_IMPLEMENTED:
      return kernels::ErrorKind::kNotImplemented;
    default:
      return kernels::ErrorKind::kInternal;
  }
}

/// The error as the engine hands it on, with its code; as the engine's own where the host's memory was short.
inline kernels::Error to_engine(const Error& error) {
  if (error.out_of_memory()) return kernels::Error(kernels::ErrorKind::kOutOfMemory, error.what());
  return kernels::Error(kind_of(error.code()), error.what(), static_cast<int>(error.code()));
}

}  // namespace onnx_light_ort::abi
