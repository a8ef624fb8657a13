#include "plugin_call.h"

#include <memory>

namespace onnx_light_ort::abi {

void throw_status(OrtStatus* status) {
  if (status == nullptr) return;
  const std::unique_ptr<OrtStatus, void (*)(OrtStatus*)> owned(status, release_status);
  throw Error(owned->code, owned->message, owned->out_of_memory);
}

}  // namespace onnx_light_ort::abi
