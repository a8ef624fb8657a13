// Calling the exported functions of a plugin: what happens in there reaches the host as a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bootstrap.h"
#include "error.h"
#include "plugin_call.h"

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

/// Enters a plugin on this thread: `call` returns the status that the plugin gave. A library that reports success
/// although GetApi answered null to every version that it asked for has failed, too: it can have registered nothing.
template <class Call>
EntryPointOutcome enter_plugin(const char* entry_point, Call&& call) {
  take_requested_versions();  // left by an earlier call on this thread
  EntryPointOutcome outcome;
  try {
    call_plugin(entry_point, std::forward<Call>(call));
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.message = error.what();
  }
  outcome.requested_versions = take_requested_versions();
  const auto& asked = outcome.requested_versions;
  if (outcome.code == ORT_OK && !asked.empty() && std::none_of(asked.begin(), asked.end(), is_accepted_version)) {
    outcome.code = ORT_FAIL;
    outcome.message = std::string(entry_point) + " reported success although it obtained no API";
  }
  return outcome;
}

/// Calls `function` with `options` and the plain tables, then reads the custom ops that it added, each of which keeps
/// `library`. After a failure, be it of one op, `options` are as they were before.
EntryPointOutcome call_register_custom_ops(RegisterCustomOpsFunction function, OrtSessionOptions& options,
                                           std::shared_ptr<const void> library);

}  // namespace onnx_light_ort::abi
