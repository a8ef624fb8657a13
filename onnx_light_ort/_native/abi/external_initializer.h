// Where an initializer lies that the model keeps outside itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct OrtExternalInitializerInfo {
  /// As the model says it: relative to the model's folder, below which planning found it.
  std::string file_path;
  int64_t file_offset = 0;
  size_t byte_size = 0;
};
