// String pairs: configuration entries, metadata and statistics, as the C API passes them.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Unique keys with a value each. What the getters hand out stays valid until the next change.
struct OrtKeyValuePairs {
 public:
  OrtKeyValuePairs() = default;
  /// A copy has the keys in the same order, and its getters hand out its own memory.
  OrtKeyValuePairs(const OrtKeyValuePairs& other);
  OrtKeyValuePairs& operator=(const OrtKeyValuePairs&) = delete;

  /// Replaces the value of a key that is there already. An empty key is ignored, as ORT ignores it.
  void add(std::string key, std::string value);
  void remove(std::string_view key);
  /// Null where there is no such key.
  const char* find(std::string_view key) const;

  size_t size() const noexcept { return entries_.size(); }
  /// In the order in which the keys were first added; after a value was replaced, in alphabetical order, as in ORT.
  const char* const* keys() const noexcept { return keys_.data(); }
  const char* const* values() const noexcept { return values_.data(); }

 private:
  std::map<std::string, std::string, std::less<>> entries_;
  // Point into entries_, whose nodes do not move.
  std::vector<const char*> keys_;
  std::vector<const char*> values_;
};
