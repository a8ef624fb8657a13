#include "session_options.h"

#include <memory>
#include <utility>

#include "error.h"
#include "key_value_pairs.h"
#include "sized_output.h"
#include "slots.h"

void OrtSessionOptions::add_config_entry(std::string key, std::string value) {
  onnx_light_ort::abi::set_config_entry(config_entries_, std::move(key), std::move(value));
}

const std::string* OrtSessionOptions::config_entry(std::string_view key) const {
  return onnx_light_ort::abi::find_config_entry(config_entries_, key);
}

namespace onnx_light_ort::abi {

void OrtApiSlots::CreateSessionOptions(OrtSessionOptions** options) { *options = new OrtSessionOptions; }

void OrtApiSlots::ReleaseSessionOptions(OrtSessionOptions* input) { delete input; }

void OrtApiSlots::AddSessionConfigEntry(OrtSessionOptions* options, const char* config_key, const char* config_value) {
  options->add_config_entry(config_key, config_value);
}

void OrtApiSlots::HasSessionConfigEntry(const OrtSessionOptions* options, const char* config_key, int* out) {
  *out = options->config_entry(config_key) != nullptr;
}

void OrtApiSlots::GetSessionConfigEntry(const OrtSessionOptions* options, const char* config_key, char* config_value,
                                        size_t* size) {
  const std::string* value = options->config_entry(config_key);
  if (value == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT, "the session has no configuration entry \"" + std::string(config_key) +
                                          "\": ask HasSessionConfigEntry first");
  }
  write_string(*value, "the configuration entry", config_value, size);
}

void OrtApiSlots::GetSessionOptionsConfigEntries(const OrtSessionOptions* options, OrtKeyValuePairs** out) {
  auto entries = std::make_unique<OrtKeyValuePairs>();
  for (const auto& [key, value] : options->config_entries()) entries->add(key, value);
  *out = entries.release();
}

void OrtApiSlots::GetMemPatternEnabled(const OrtSessionOptions* options, int* out) { *out = options->mem_pattern; }

void OrtApiSlots::GetSessionExecutionMode(const OrtSessionOptions* options, ExecutionMode* out) {
  *out = options->execution_mode;
}

}  // namespace onnx_light_ort::abi
