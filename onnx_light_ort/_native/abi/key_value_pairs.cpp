#include "key_value_pairs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "slots.h"

OrtKeyValuePairs::OrtKeyValuePairs(const OrtKeyValuePairs& other) {
  for (size_t i = 0; i < other.size(); ++i) add(other.keys_[i], other.values_[i]);
}

void OrtKeyValuePairs::add(std::string key, std::string value) {
  if (key.empty()) return;
  const auto [entry, inserted] = entries_.insert_or_assign(std::move(key), std::move(value));
  if (inserted) {
    keys_.push_back(entry->first.c_str());
    values_.push_back(entry->second.c_str());
    return;
  }
  keys_.clear();
  values_.clear();
  for (const auto& [known_key, known_value] : entries_) {
    keys_.push_back(known_key.c_str());
    values_.push_back(known_value.c_str());
  }
}

void OrtKeyValuePairs::remove(std::string_view key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  const auto position = std::find(keys_.begin(), keys_.end(), entry->first.c_str()) - keys_.begin();
  keys_.erase(keys_.begin() + position);
  values_.erase(values_.begin() + position);
  entries_.erase(entry);
}

const char* OrtKeyValuePairs::find(std::string_view key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : entry->second.c_str();
}

namespace onnx_light_ort::abi {

void OrtApiSlots::CreateKeyValuePairs(OrtKeyValuePairs** out) { *out = new OrtKeyValuePairs; }

void OrtApiSlots::AddKeyValuePair(OrtKeyValuePairs* kvps, const char* key, const char* value) {
  if (key != nullptr && value != nullptr) kvps->add(key, value);
}

const char* OrtApiSlots::GetKeyValue(const OrtKeyValuePairs* kvps, const char* key) {
  return key == nullptr ? nullptr : kvps->find(key);
}

void OrtApiSlots::GetKeyValuePairs(const OrtKeyValuePairs* kvps, const char* const** keys, const char* const** values,
                                   size_t* num_entries) {
  *keys = kvps->keys();
  *values = kvps->values();
  *num_entries = kvps->size();
}

void OrtApiSlots::RemoveKeyValuePair(OrtKeyValuePairs* kvps, const char* key) {
  if (key != nullptr) kvps->remove(key);
}

void OrtApiSlots::ReleaseKeyValuePairs(OrtKeyValuePairs* input) { delete input; }

}  // namespace onnx_light_ort::abi
