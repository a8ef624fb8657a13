// Splits a serialized ONNX model into its structure and its weights without copying the weights.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onnx_light_ort::engine {

struct ModelSkeleton {
  /// The model with a token in the place of the raw data of each big tensor: the nonce, then the position of the span
  /// in eight bytes, little-endian. What nodes carry for people (doc strings, metadata) is left out with it.
  std::string bytes;
  /// Where the raw data begins and ends in the model.
  std::vector<std::pair<size_t, size_t>> spans;
};

/// Throws MalformedMessage; whoever parses the model then says what is wrong with it.
ModelSkeleton split_model(std::string_view model, std::string_view nonce);

}  // namespace onnx_light_ort::engine
