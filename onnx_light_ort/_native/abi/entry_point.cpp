#include "entry_point.h"

#include <utility>

#include "custom_op_domain.h"
#include "served_tables.h"
#include "session_options.h"

namespace onnx_light_ort::abi {

EntryPointOutcome call_register_custom_ops(RegisterCustomOpsFunction function, OrtSessionOptions& options,
                                           std::shared_ptr<const void> library) {
  OrtSessionOptions before = options;
  auto outcome = enter_plugin("RegisterCustomOps", [&] { return function(&options, served_api_base()); });
  if (outcome.code == ORT_OK) {
    try {
      commit_custom_ops(options, "", std::move(library));
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
