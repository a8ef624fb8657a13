// Serialized protobuf messages, field by field: https://protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace onnx_light_ort::engine {

/// The bytes are no protobuf message.
class MalformedMessage : public std::invalid_argument {
 public:
  MalformedMessage() : std::invalid_argument("a serialized protobuf message is damaged") {}
};

/// Walks the fields of one message. The message must outlive it.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : message_(message) {}

  /// Goes to the next field; false where there is none. Throws MalformedMessage.
  bool next();

  // Of the field that next() went to.
  uint64_t key() const noexcept { return key_; }
  uint64_t number() const noexcept { return key_ >> 3; }
  bool is_length_delimited() const noexcept { return (key_ & 7) == 2; }
  size_t begin() const noexcept { return begin_; }
  size_t end() const noexcept { return position_; }
  /// Without key and length.
  std::string_view content() const noexcept { return message_.substr(content_, position_ - content_); }

 private:
  uint64_t read_varint();

  const std::string_view message_;
  size_t position_ = 0;
  size_t begin_ = 0;
  size_t content_ = 0;
  uint64_t key_ = 0;
};

void append_varint(std::string& out, uint64_t number);

}  // namespace onnx_light_ort::engine
