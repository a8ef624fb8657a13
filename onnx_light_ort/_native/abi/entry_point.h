// Calling the exported functions of a plugin: what happens in there reaches the host as a value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "error.h"

namespace onnx_light_ort::abi {

/// The type of an exported RegisterCustomOps. Without noexcept: through a noexcept type a throwing plugin would end the
/// process.
using RegisterCustomOpsFunction = OrtStatus*(ORT_API_CALL*)(OrtSessionOptions*, const OrtApiBase*);

/// How a call of an entry point ended.
struct EntryPointOutcome {
  OrtErrorCode code = ORT_OK;
  std::string message;                            ///< Of the status or the exception; empty where all went well.
  std::vector<std::uint32_t> requested_versions;  ///< What it asked GetApi for on this thread, in order.
};

/// Calls `function` with `options` and the plain tables, then reads the custom ops that it added, each of which keeps
/// `library`. A library that reports success although GetApi answered null to every version that it asked for has
/// failed, too: it can have registered nothing. After a failure, be it of one op, `options` are as they were before.
EntryPointOutcome call_register_custom_ops(RegisterCustomOpsFunction function, OrtSessionOptions& options,
                                           std::shared_ptr<const void> library);

}  // namespace onnx_light_ort::abi
