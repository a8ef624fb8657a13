#include "model_skeleton.h"

#include <cstdint>
#include <optional>

#include "wire_format.h"

namespace onnx_light_ort::engine {
namespace {

/// A tensor with less raw data stays in the skeleton.
constexpr size_t kTensorFrom = 4096;
/// A message below this size is copied as it is.
constexpr size_t kMessageFrom = 512;
/// Protobuf's own limit.
constexpr int kDeepest = 100;

enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kTensor };

/// What a field that leads to tensors holds; the numbers are those of onnx.proto.
std::optional<Message> message_of(Message parent, uint64_t field) {
  switch (parent) {
    case Message::kModel:
      if (field == 7) return Message::kGraph;
      if (field == 25) return Message::kFunction;
      break;
    case Message::kGraph:
      if (field == 1) return Message::kNode;
      if (field == 5) return Message::kTensor;
      break;
    case Message::kFunction:
      if (field == 7) return Message::kNode;
      break;
    case Message::kNode:
      if (field == 5) return Message::kAttribute;
      break;
    case Message::kAttribute:
      if (field == 5 || field == 10) return Message::kTensor;
      if (field == 6 || field == 11) return Message::kGraph;
      break;
    case Message::kTensor:
      break;
  }
  return std::nullopt;
}

/// doc_string and metadata_props of a node: exporters leave stack traces there, many times the size of the node.
bool is_note(Message parent, uint64_t field) { return parent == Message::kNode && (field == 6 || field == 9); }

bool is_raw_data(Message parent, uint64_t field) { return parent == Message::kTensor && field == 9; }

class Splitter {
 public:
  Splitter(std::string_view model, std::string_view nonce) : model_(model), nonce_(nonce) {}

  ModelSkeleton split() {
    skeleton_.bytes = copy(model_, Message::kModel, 0);
    return std::move(skeleton_);
  }

 private:
  std::string copy(std::string_view message, Message kind, int depth) {
    if (depth > kDeepest) throw MalformedMessage();
    std::string out;
    size_t copied = 0;  // What is before it is in `out`, or left out.
    MessageReader reader(message);
    while (reader.next()) {
      if (!reader.is_length_delimited()) continue;
      const std::string_view content = reader.content();
      const std::optional<Message> inner = message_of(kind, reader.number());
      const bool is_left_out = is_note(kind, reader.number());
      const bool is_weight = is_raw_data(kind, reader.number()) && content.size() >= kTensorFrom;
      const bool is_walked = inner && content.size() >= kMessageFrom;
      if (!is_left_out && !is_weight && !is_walked) continue;
      out.append(message, copied, reader.begin() - copied);
      copied = reader.end();
      if (is_left_out) continue;
      const std::string short_content = is_weight ? token_of(content) : copy(content, *inner, depth + 1);
      append_varint(out, reader.key());
      append_varint(out, short_content.size());
      out += short_content;
    }
    out.append(message, copied, message.size() - copied);
    return out;
  }

  std::string token_of(std::string_view data) {
    std::string token(nonce_);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      token.push_back(static_cast<char>(static_cast<uint64_t>(skeleton_.spans.size()) >> shift & 255));
    }
    const auto begin = static_cast<size_t>(data.data() - model_.data());
    skeleton_.spans.emplace_back(begin, begin + data.size());
    return token;
  }

  const std::string_view model_;
  const std::string_view nonce_;
  ModelSkeleton skeleton_;
};

}  // namespace

ModelSkeleton split_model(std::string_view model, std::string_view nonce) { return Splitter(model, nonce).split(); }

}  // namespace onnx_light_ort::engine
