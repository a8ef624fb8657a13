// Configuration of the process that plugins can read, as an OrtEnv holds it in ORT.
#pragma once

#include <map>
#include <string>

namespace onnx_light_ort::abi {

/// Replaces the value of a key that is there.
void set_environment_entry(const std::string& key, const std::string& value);

/// A key that is not there is fine.
void remove_environment_entry(const std::string& key);

std::map<std::string, std::string> environment_entries();

}  // namespace onnx_light_ort::abi
