#include "op_attribute.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "allocator.h"
#include "error.h"
#include "ort_value.h"
#include "slots.h"

namespace {

using onnx_light_ort::kernels::Attribute;
using onnx_light_ort::kernels::TensorView;

struct TypeOf {
  OrtOpAttrType operator()(int64_t) const { return ORT_OP_ATTR_INT; }
  OrtOpAttrType operator()(float) const { return ORT_OP_ATTR_FLOAT; }
  OrtOpAttrType operator()(const std::string&) const { return ORT_OP_ATTR_STRING; }
  OrtOpAttrType operator()(const std::vector<int64_t>&) const { return ORT_OP_ATTR_INTS; }
  OrtOpAttrType operator()(const std::vector<float>&) const { return ORT_OP_ATTR_FLOATS; }
  OrtOpAttrType operator()(const std::vector<std::string>&) const { return ORT_OP_ATTR_STRINGS; }
  OrtOpAttrType operator()(const TensorView&) const { return ORT_OP_ATTR_TENSOR; }
};

}  // namespace

OrtOpAttr::OrtOpAttr(std::string given_name, Attribute given_value)
    : name(std::move(given_name)), type(std::visit(TypeOf{}, given_value)), value(std::move(given_value)) {}

OrtOpAttr::OrtOpAttr(std::string given_name, OrtOpAttrType given_type)
    : name(std::move(given_name)), type(given_type), value(std::vector<int64_t>{}) {}

namespace onnx_light_ort::abi {
namespace {

/// Writes `needed` bytes, which is said to the caller whatever happens.
void write_bytes(const OrtOpAttr& attribute, const void* content, size_t needed, void* data, size_t length,
                 size_t* out) {
  *out = needed;
  if (length < needed) {
    throw Error(ORT_INVALID_ARGUMENT, "attribute '" + attribute.name + "' takes " + std::to_string(needed) +
                                          " bytes and the buffer has " + std::to_string(length));
  }
  if (needed != 0) std::memcpy(data, content, needed);
}

template <class T>
void read_number(const OrtOpAttr& attribute, const char* kind, void* data, size_t length, size_t* out) {
  *out = sizeof(T);
  const T* number = std::get_if<T>(&attribute.value);
  if (number == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT,
                "attribute '" + attribute.name + "' is no " + kind + ": ask OpAttr_GetType what it is");
  }
  write_bytes(attribute, number, sizeof(T), data, length, out);
}

/// A list that is of another type reads as empty, as from ORT.
template <class T>
void read_list(const OrtOpAttr& attribute, void* data, size_t length, size_t* out) {
  const auto* list = std::get_if<std::vector<T>>(&attribute.value);
  write_bytes(attribute, list == nullptr ? nullptr : list->data(), list == nullptr ? 0 : list->size() * sizeof(T), data,
              length, out);
}

void read_strings(const OrtOpAttr& attribute, void* data, size_t length, size_t* out) {
  std::string joined;  // each string ends with a null character
  if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute.value)) {
    for (const std::string& text : *strings) joined.append(text).push_back('\0');
  }
  write_bytes(attribute, joined.data(), joined.size(), data, length, out);
}

}  // namespace

// Every attribute that a plugin sees here is lent: CreateOpAttr, whose attributes would be the plugin's, is not served.
void OrtApiSlots::ReleaseOpAttr(OrtOpAttr*) {}

void OrtApiSlots::ReadOpAttr(const OrtOpAttr* op_attr, OrtOpAttrType type, void* data, size_t len, size_t* out) {
  switch (type) {
    case ORT_OP_ATTR_INT:
      return read_number<int64_t>(*op_attr, "int", data, len, out);
    case ORT_OP_ATTR_FLOAT:
      return read_number<float>(*op_attr, "float", data, len, out);
    case ORT_OP_ATTR_INTS:
      return read_list<int64_t>(*op_attr, data, len, out);
    case ORT_OP_ATTR_FLOATS:
      return read_list<float>(*op_attr, data, len, out);
    case ORT_OP_ATTR_STRING: {
      const auto* text = std::get_if<std::string>(&op_attr->value);
      return write_bytes(*op_attr, text == nullptr ? nullptr : text->data(), text == nullptr ? 0 : text->size(), data,
                         len, out);
    }
    case ORT_OP_ATTR_STRINGS:
      return read_strings(*op_attr, data, len, out);
    default:
      *out = 0;
      throw Error(ORT_INVALID_ARGUMENT, "ReadOpAttr reads INT, INTS, FLOAT, FLOATS, STRING and STRINGS, not type " +
                                            std::to_string(static_cast<int>(type)) +
                                            ": for a tensor, call OpAttr_GetTensorAttributeAsOrtValue");
  }
}

void OrtApiSlots::OpAttr_GetTensorAttributeAsOrtValue(const OrtOpAttr* attribute, OrtValue** attr_tensor) {
  const auto* tensor = std::get_if<TensorView>(&attribute->value);
  if (tensor == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT,
                "attribute '" + attribute->name + "' is no tensor: read it with ReadOpAttr, as OpAttr_GetType says");
  }
  *attr_tensor = copy_tensor(&default_allocator(), *tensor).release();
}

void OrtApiSlots::OpAttr_GetType(const OrtOpAttr* attribute, OrtOpAttrType* type) {
  if (attribute->type < ORT_OP_ATTR_UNDEFINED || attribute->type > ORT_OP_ATTR_TENSOR) {
    throw Error(ORT_INVALID_ARGUMENT, "attribute '" + attribute->name +
                                          "' is of a type that the ABI has no name for, such as a sparse tensor, a "
                                          "type, or a list of tensors or graphs");
  }
  *type = attribute->type;
}

void OrtApiSlots::OpAttr_GetName(const OrtOpAttr* attribute, const char** name) { *name = attribute->name.c_str(); }

}  // namespace onnx_light_ort::abi
