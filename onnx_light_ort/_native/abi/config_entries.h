// Configuration entries of session and run options.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace onnx_light_ort::abi {

using ConfigEntries = std::map<std::string, std::string, std::less<>>;

/// Replaces the value of a key that is there. Throws Error when the key is empty, or has more than 1024 bytes, or the
/// value more than 8192.
void set_config_entry(ConfigEntries& entries, std::string key, std::string value);

/// Null where there is no such entry.
const std::string* find_config_entry(const ConfigEntries& entries, std::string_view key);

}  // namespace onnx_light_ort::abi
