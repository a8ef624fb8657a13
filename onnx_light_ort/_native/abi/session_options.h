// What a session is made with, as far as plugins see it.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "custom_op.h"

namespace onnx_light_ort::abi {
struct CustomOpDomain;
}

struct OrtSessionOptions {
 public:
  /// Replaces the value of a key that is there. Throws Error when the key is empty, or has more than 1024 bytes, or the
  /// value more than 8192.
  void add_config_entry(std::string key, std::string value);
  /// Null where there is no such entry.
  const std::string* config_entry(std::string_view key) const;
  const std::map<std::string, std::string, std::less<>>& config_entries() const noexcept { return config_entries_; }

  /// Domains of a registration that has not ended.
  std::vector<std::shared_ptr<const onnx_light_ort::abi::CustomOpDomain>> added_domains;
  /// Of all registrations that ended well. Sessions share them.
  std::vector<std::shared_ptr<const onnx_light_ort::abi::CustomOp>> custom_ops;

 private:
  std::map<std::string, std::string, std::less<>> config_entries_;
};
