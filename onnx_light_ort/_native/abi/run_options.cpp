#include "run_options.h"

#include "slots.h"

namespace onnx_light_ort::abi {

void OrtApiSlots::CreateRunOptions(OrtRunOptions** out) { *out = new OrtRunOptions; }

void OrtApiSlots::RunOptionsSetRunLogVerbosityLevel(OrtRunOptions* options, int log_verbosity_level) {
  options->log_verbosity = log_verbosity_level;
}

void OrtApiSlots::RunOptionsSetRunLogSeverityLevel(OrtRunOptions* options, int log_severity_level) {
  options->log_severity = log_severity_level;
}

// Null leaves the tag as it is.
void OrtApiSlots::RunOptionsSetRunTag(OrtRunOptions* options, const char* run_tag) {
  if (run_tag != nullptr) options->tag = run_tag;
}

void OrtApiSlots::RunOptionsGetRunLogVerbosityLevel(const OrtRunOptions* options, int* log_verbosity_level) {
  *log_verbosity_level = options->log_verbosity;
}

void OrtApiSlots::RunOptionsGetRunLogSeverityLevel(const OrtRunOptions* options, int* log_severity_level) {
  *log_severity_level = options->log_severity;
}

void OrtApiSlots::RunOptionsGetRunTag(const OrtRunOptions* options, const char** run_tag) {
  *run_tag = options->tag.c_str();
}

void OrtApiSlots::RunOptionsSetTerminate(OrtRunOptions* options) { options->terminate = true; }

void OrtApiSlots::RunOptionsUnsetTerminate(OrtRunOptions* options) { options->terminate = false; }

void OrtApiSlots::ReleaseRunOptions(OrtRunOptions* input) { delete input; }

void OrtApiSlots::AddRunConfigEntry(OrtRunOptions* options, const char* config_key, const char* config_value) {
  set_config_entry(options->config_entries, config_key, config_value);
}

const char* OrtApiSlots::GetRunConfigEntry(const OrtRunOptions* options, const char* config_key) {
  const std::string* value = find_config_entry(options->config_entries, config_key);
  return value == nullptr ? nullptr : value->c_str();
}

}  // namespace onnx_light_ort::abi
