// What a session is made with, as far as plugins see it.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config_entries.h"
#include "custom_op.h"

namespace onnx_light_ort::abi {
struct CustomOpDomain;
}

struct OrtSessionOptions {
 public:
  /// As set_config_entry.
  void add_config_entry(std::string key, std::string value);
  /// Null where there is no such entry.
  const std::string* config_entry(std::string_view key) const;
  const onnx_light_ort::abi::ConfigEntries& config_entries() const noexcept { return config_entries_; }

  // What plugins may ask; nothing here depends on them.
  bool mem_pattern = true;
  ExecutionMode execution_mode = ORT_SEQUENTIAL;

  /// Domains of a registration that has not ended.
  std::vector<std::shared_ptr<const onnx_light_ort::abi::CustomOpDomain>> added_domains;
  /// Of all registrations that ended well. Sessions share them.
  std::vector<std::shared_ptr<const onnx_light_ort::abi::CustomOp>> custom_ops;

 private:
  onnx_light_ort::abi::ConfigEntries config_entries_;
};
