#include "environment.h"

#include <memory>
#include <mutex>

#include "key_value_pairs.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

struct Environment {
  std::mutex mutex;
  std::map<std::string, std::string> entries;
};

// Never destroyed: threads of plugins may ask while the process ends.
Environment& environment() {
  static auto* const the_environment = new Environment;
  return *the_environment;
}

}  // namespace

void set_environment_entry(const std::string& key, const std::string& value) {
  const std::lock_guard lock(environment().mutex);
  environment().entries.insert_or_assign(key, value);
}

void remove_environment_entry(const std::string& key) {
  const std::lock_guard lock(environment().mutex);
  environment().entries.erase(key);
}

std::map<std::string, std::string> environment_entries() {
  const std::lock_guard lock(environment().mutex);
  return environment().entries;
}

void OrtEpApiSlots::GetEnvConfigEntries(OrtKeyValuePairs** config_entries) {
  auto entries = std::make_unique<OrtKeyValuePairs>();
  for (const auto& [key, value] : environment_entries()) entries->add(key, value);
  *config_entries = entries.release();
}

}  // namespace onnx_light_ort::abi
