#include "config_entries.h"

#include <utility>

#include "error.h"

namespace onnx_light_ort::abi {

void set_config_entry(ConfigEntries& entries, std::string key, std::string value) {
  constexpr size_t kMaxKeyBytes = 1024;
  constexpr size_t kMaxValueBytes = 8192;
  if (key.empty() || key.size() > kMaxKeyBytes) {
    throw Error(ORT_INVALID_ARGUMENT, "a configuration key has from 1 to " + std::to_string(kMaxKeyBytes) +
                                          " bytes, and this one " + std::to_string(key.size()));
  }
  if (value.size() > kMaxValueBytes) {
    throw Error(ORT_INVALID_ARGUMENT, "a configuration value has at most " + std::to_string(kMaxValueBytes) +
                                          " bytes, and this one " + std::to_string(value.size()));
  }
  entries.insert_or_assign(std::move(key), std::move(value));
}

const std::string* find_config_entry(const ConfigEntries& entries, std::string_view key) {
  const auto entry = entries.find(key);
  return entry == entries.end() ? nullptr : &entry->second;
}

}  // namespace onnx_light_ort::abi
