// What a model says of itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>

/// Plugins get a copy of their own, which they release.
struct OrtModelMetadata {
  std::string producer_name;
  std::string graph_name;
  std::string domain;
  std::string description;
  std::string graph_description;
  int64_t version = 0;
  std::map<std::string, std::string> custom;
};
