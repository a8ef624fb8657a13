#include "wire_format.h"

namespace onnx_light_ort::engine {

uint64_t MessageReader::read_varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && position_ < message_.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(message_[position_++]);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  throw MalformedMessage();
}

bool MessageReader::next() {
  enum : uint64_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };
  if (position_ == message_.size()) return false;
  begin_ = position_;
  key_ = read_varint();
  uint64_t length = 0;
  content_ = position_;
  switch (key_ & 7) {
    case kVarint:
      read_varint();
      break;
    case kFixed64:
      length = 8;
      break;
    case kLengthDelimited:
      length = read_varint();
      content_ = position_;
      break;
    case kFixed32:
      length = 4;
      break;
    default:
      throw MalformedMessage();
  }
  if (length > message_.size() - position_) throw MalformedMessage();
  position_ += length;
  return true;
}

void append_varint(std::string& out, uint64_t number) {
  for (; number > 127; number >>= 7) out.push_back(static_cast<char>((number & 127) | 128));
  out.push_back(static_cast<char>(number));
}

}  // namespace onnx_light_ort::engine
