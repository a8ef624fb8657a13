// The strings of a string tensor. Elements are std::string and may hold null characters.
#include <cstring>
#include <string>

#include "error.h"
#include "ort_value.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

struct Strings {
  std::string* data;
  size_t count;

  std::string& at(size_t index) const {
    if (index >= count) {
      throw Error(ORT_INVALID_ARGUMENT,
                  "index " + std::to_string(index) + " is outside a tensor of " + std::to_string(count) + " strings");
    }
    return data[index];
  }
  size_t total_length() const {
    size_t length = 0;
    for (size_t i = 0; i < count; ++i) length += data[i].size();
    return length;
  }
};

Strings strings_of(const OrtValue* value) {
  const kernels::TensorView& view = tensor_of(value);
  if (view.dtype != kernels::DataType::kString) {
    throw Error(ORT_FAIL, std::string("the tensor holds ") + kernels::data_type_name(view.dtype) +
                              ", not strings: use GetTensorMutableData");
  }
  return {view.as<std::string>(), static_cast<size_t>(view.element_count)};
}

}  // namespace

void OrtApiSlots::FillStringTensor(OrtValue* value, const char* const* s, size_t s_len) {
  const Strings strings = strings_of(value);
  if (s_len != strings.count) {
    throw Error(ORT_INVALID_ARGUMENT, "the tensor has " + std::to_string(strings.count) + " strings and " +
                                          std::to_string(s_len) + " were given: pass one for each element");
  }
  for (size_t i = 0; i < s_len; ++i) {
    if (s == nullptr || s[i] == nullptr) {
      throw Error(ORT_INVALID_ARGUMENT, "string " + std::to_string(i) + " is null: pass \"\" for an empty one");
    }
  }
  for (size_t i = 0; i < s_len; ++i) strings.data[i] = s[i];
}

void OrtApiSlots::GetStringTensorDataLength(const OrtValue* value, size_t* len) {
  *len = strings_of(value).total_length();
}

void OrtApiSlots::GetStringTensorContent(const OrtValue* value, void* s, size_t s_len, size_t* offsets,
                                         size_t offsets_len) {
  const Strings strings = strings_of(value);
  if (offsets_len != strings.count) {
    throw Error(ORT_FAIL, "the tensor has " + std::to_string(strings.count) + " strings and there is room for " +
                              std::to_string(offsets_len) + " offsets: pass one for each element");
  }
  const size_t length = strings.total_length();
  if (s_len < length) {
    throw Error(ORT_FAIL, "the strings take " + std::to_string(length) + " bytes and the buffer has " +
                              std::to_string(s_len) + ": ask GetStringTensorDataLength for the size");
  }
  if ((s == nullptr && length != 0) || (offsets == nullptr && offsets_len != 0)) {
    throw Error(ORT_INVALID_ARGUMENT, "a buffer is null: pass one for the bytes and one for the offsets");
  }
  size_t offset = 0;
  for (size_t i = 0; i < strings.count; ++i) {
    const std::string& text = strings.data[i];
    text.copy(static_cast<char*>(s) + offset, text.size());
    offsets[i] = offset;
    offset += text.size();
  }
}

void OrtApiSlots::GetStringTensorElementLength(const OrtValue* value, size_t index, size_t* out) {
  *out = strings_of(value).at(index).size();
}

void OrtApiSlots::GetStringTensorElement(const OrtValue* value, size_t s_len, size_t index, void* s) {
  const std::string& text = strings_of(value).at(index);
  if (s_len < text.size()) {
    throw Error(ORT_FAIL, "string " + std::to_string(index) + " takes " + std::to_string(text.size()) +
                              " bytes and the buffer has " + std::to_string(s_len) +
                              ": ask GetStringTensorElementLength for the size");
  }
  if (s == nullptr && !text.empty()) throw Error(ORT_INVALID_ARGUMENT, "the buffer is null: pass one for the bytes");
  text.copy(static_cast<char*>(s), text.size());
}

void OrtApiSlots::FillStringTensorElement(OrtValue* value, const char* s, size_t index) {
  strings_of(value).at(index) = s;
}

void OrtApiSlots::GetResizedStringTensorElementBuffer(OrtValue* value, size_t index, size_t length_in_bytes,
                                                      char** buffer) {
  std::string& text = strings_of(value).at(index);
  text.resize(length_in_bytes);
  *buffer = text.data();
}

}  // namespace onnx_light_ort::abi
