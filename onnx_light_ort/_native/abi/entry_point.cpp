#include "entry_point.h"

#include <algorithm>
#include <utility>

#include "bootstrap.h"
#include "custom_op_domain.h"
#include "plugin_call.h"
#include "session_options.h"
#include "tables.h"

namespace onnx_light_ort::abi {
namespace {

/// `call` enters the plugin on this thread and returns the status that the plugin gave.
template <class Call>
EntryPointOutcome enter(const char* entry_point, Call&& call) {
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

}  // namespace

EntryPointOutcome call_register_custom_ops(RegisterCustomOpsFunction function, OrtSessionOptions& options,
                                           std::shared_ptr<const void> library) {
  OrtSessionOptions before = options;
  auto outcome = enter("RegisterCustomOps", [&] { return function(&options, api_base<Plain>()); });
  if (outcome.code == ORT_OK) {
    try {
      commit_custom_ops(options, std::move(library));
    } catch (const Error& error) {
      outcome.code = error.code();
      outcome.message = error.what();
    } catch (...) {
      options = std::move(before);
      throw;
    }
  }
  if (outcome.code != ORT_OK) options = std::move(before);
  return outcome;
}

}  // namespace onnx_light_ort::abi
