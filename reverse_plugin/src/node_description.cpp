#include "node_description.h"

#include <algorithm>

#include "element_type.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {
namespace {

using kernels::Attribute;
using kernels::DataType;
using kernels::TensorView;

// kUndefined, and an obstacle, for what is no dense tensor or has elements that the ABI does not show.
DataType element_type_of(const Api& api, const OrtTypeInfo* type, std::string& obstacle) {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  check(api, api.ort->GetOnnxTypeFromTypeInfo(type, &kind));
  if (kind != ONNX_TYPE_TENSOR) {
    obstacle = "a value that is no dense tensor";
    return DataType::kUndefined;
  }
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  check(api, api.ort->CastTypeInfoToTensorInfo(type, &tensor));
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api, api.ort->GetTensorElementType(tensor, &element));
  const DataType found = from_ort(element);
  if (!is_expressible(found)) obstacle = "a tensor whose elements the C ABI does not show as memory";
  return found;
}

TensorView view_of(const Api& api, const OrtValue* value, DescribedNode& described) {
  OrtTensorTypeAndShapeInfo* made = nullptr;
  check(api, api.ort->GetTensorTypeAndShape(value, &made));
  const Owned<OrtTensorTypeAndShapeInfo> info(made, api.ort->ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api, api.ort->GetTensorElementType(info.get(), &element));
  size_t rank = 0;
  check(api, api.ort->GetDimensionsCount(info.get(), &rank));
  std::vector<int64_t>& dims = described.shapes.emplace_back(rank);
  check(api, api.ort->GetDimensions(info.get(), dims.data(), rank));
  TensorView view;
  view.dims = dims.data();
  view.rank = rank;
  view.element_count = kernels::checked_element_count(dims.data(), rank).value_or(0);
  view.dtype = from_ort(element);
  if (is_expressible(view.dtype)) {
    // The slot asks for a value that it may change; kernels never write to inputs.
    check(api, api.ort->GetTensorMutableData(const_cast<OrtValue*>(value), &view.data));
  }
  return view;
}

void add_constant(const Api& api, const OrtValue* value, size_t i, DescribedNode& described) {
  const TensorView view = view_of(api, value, described);
  if (!is_expressible(view.dtype)) return;
  described.node.constant_inputs[i] = &described.views.emplace_back(view);
}

void add_tensor_attribute(const Api& api, const std::string& name, OrtValue* value, DescribedNode& described) {
  described.attribute_tensors.emplace_back(value, api.ort->ReleaseValue);
  const TensorView view = view_of(api, value, described);
  if (is_expressible(view.dtype)) {
    described.node.attributes[name] = view;
  } else {
    described.obstacle = "attribute '" + name + "', a tensor whose elements the C ABI does not show as memory";
  }
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

DescribedNode named_after(const OperatorSchema& schema) {
  DescribedNode described;
  described.node.domain = schema.domain;
  described.node.op_type = schema.op_type;
  described.node.since_version = schema.since_version;
  return described;
}

// Attributes of an OrtNode --------------------------------------------------------------------------------------------

size_t size_of_attribute(const Api& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  size_t size = 0;
  // Without room it says how much it needs, and that this was too little.
  succeeded(api, api.ort->ReadOpAttr(attribute, type, nullptr, 0, &size));
  return size;
}

template <class T>
std::vector<T> read_list(const Api& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  size_t size = size_of_attribute(api, attribute, type);
  std::vector<T> values(size / sizeof(T));
  if (size != 0) check(api, api.ort->ReadOpAttr(attribute, type, values.data(), size, &size));
  return values;
}

// Attributes of an OrtKernelInfo --------------------------------------------------------------------------------------

template <class T, class Slot>
void read_list(const Api& api, const OrtKernelInfo* info, const std::string& name, Slot slot,
               DescribedNode& described) {
  size_t count = 0;
  if (!succeeded(api, slot(info, name.c_str(), nullptr, &count))) return;
  std::vector<T> values(count);
  if (count != 0) check(api, slot(info, name.c_str(), values.data(), &count));
  described.node.attributes[name] = std::move(values);
}

std::vector<int64_t> integers_of(const Api& api, const OrtKernelInfo* info, const char* name) {
  size_t count = 0;
  if (!succeeded(api, api.ort->KernelInfoGetAttributeArray_int64(info, name, nullptr, &count))) return {};
  std::vector<int64_t> values(count);
  if (count != 0) check(api, api.ort->KernelInfoGetAttributeArray_int64(info, name, values.data(), &count));
  return values;
}

bool read_string(const Api& api, const OrtKernelInfo* info, const std::string& name, std::string& text) {
  size_t size = 0;
  if (!succeeded(api, api.ort->KernelInfoGetAttribute_string(info, name.c_str(), nullptr, &size))) return false;
  text.resize(size);
  check(api, api.ort->KernelInfoGetAttribute_string(info, name.c_str(), text.data(), &size));
  text.resize(size - 1);  // without its terminator
  return true;
}

// A list of strings has a slot of its own since 25. A node of a custom op has it as one string of lines, which every
// version can read.
void read_strings(const Api& api, const OrtKernelInfo* info, const std::string& name, DescribedNode& described) {
  std::string lines;
  if (read_string(api, info, name, lines)) {
    described.node.attributes[name] = split(lines, '\n');
    return;
  }
  if (api.version < 25) return;
  OrtAllocator* allocator = nullptr;
  check(api, api.ort->GetAllocatorWithDefaultOptions(&allocator));
  char** texts = nullptr;
  size_t count = 0;
  if (!succeeded(api, api.ort->KernelInfoGetAttributeArray_string(info, name.c_str(), allocator, &texts, &count))) {
    return;
  }
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) {
    values.emplace_back(texts[i]);
    allocator->Free(allocator, texts[i]);
  }
  if (texts != nullptr) allocator->Free(allocator, texts);
  described.node.attributes[name] = std::move(values);
}

void read_attribute(const Api& api, const OrtKernelInfo* info, const FormalAttribute& formal,
                    DescribedNode& described) {
  auto& attributes = described.node.attributes;
  const char* name = formal.name.c_str();
  switch (formal.kind) {
    case AttributeKind::kInt: {
      int64_t value = 0;
      if (succeeded(api, api.ort->KernelInfoGetAttribute_int64(info, name, &value))) attributes[formal.name] = value;
      break;
    }
    case AttributeKind::kFloat: {
      float value = 0;
      if (succeeded(api, api.ort->KernelInfoGetAttribute_float(info, name, &value))) attributes[formal.name] = value;
      break;
    }
    case AttributeKind::kString: {
      std::string text;
      if (read_string(api, info, formal.name, text)) attributes[formal.name] = std::move(text);
      break;
    }
    case AttributeKind::kInts:
      read_list<int64_t>(api, info, formal.name, api.ort->KernelInfoGetAttributeArray_int64, described);
      break;
    case AttributeKind::kFloats:
      read_list<float>(api, info, formal.name, api.ort->KernelInfoGetAttributeArray_float, described);
      break;
    case AttributeKind::kStrings:
      read_strings(api, info, formal.name, described);
      break;
    case AttributeKind::kTensor: {
      OrtAllocator* allocator = nullptr;
      check(api, api.ort->GetAllocatorWithDefaultOptions(&allocator));
      OrtValue* value = nullptr;
      if (succeeded(api, api.ort->KernelInfoGetAttribute_tensor(info, name, allocator, &value)) && value != nullptr) {
        add_tensor_attribute(api, formal.name, value, described);
      }
      break;
    }
  }
}

// Values of an OrtNode ------------------------------------------------------------------------------------------------

DataType type_of(const Api& api, const OrtValueInfo* value, std::string& obstacle) {
  if (value == nullptr) return DataType::kUndefined;
  const char* name = nullptr;
  check(api, api.ort->GetValueInfoName(value, &name));
  if (name == nullptr || *name == '\0') return DataType::kUndefined;
  const OrtTypeInfo* type = nullptr;
  check(api, api.ort->GetValueInfoTypeInfo(value, &type));
  if (type == nullptr) {
    obstacle = "a value of unknown type";
    return DataType::kUndefined;
  }
  return element_type_of(api, type, obstacle);
}

void read_constant(const Api& api, const OrtValueInfo* value, size_t i, DescribedNode& described) {
  bool constant = false;
  check(api, api.ort->ValueInfo_IsConstantInitializer(value, &constant));
  if (!constant) return;
  const OrtValue* initializer = nullptr;
  check(api, api.ort->ValueInfo_GetInitializerValue(value, &initializer));
  if (initializer != nullptr) add_constant(api, initializer, i, described);
}

}  // namespace

void place_inputs(DescribedNode& described, size_t count, const std::vector<int64_t>& positions) {
  kernels::Node& node = described.node;
  size_t room = count;
  if (!positions.empty()) {
    int64_t last = -1;
    for (const int64_t position : positions) {
      if (position <= last || position > 1000) kernels::invalid_argument("positions of inputs must ascend");
      described.input_positions.push_back(static_cast<size_t>(last = position));
    }
    if (positions.size() != count) kernels::invalid_argument("as many positions as inputs are needed");
    room = described.input_positions.back() + 1;
  }
  node.input_types.assign(room, DataType::kUndefined);
  node.constant_inputs.assign(room, nullptr);
}

void read_attribute(const Api& api, const OrtOpAttr* attribute, const FormalAttribute& formal,
                    DescribedNode& described) {
  Attribute& slot = described.node.attributes[formal.name];
  size_t size = 0;
  switch (formal.kind) {
    case AttributeKind::kInt: {
      int64_t value = 0;
      check(api, api.ort->ReadOpAttr(attribute, ORT_OP_ATTR_INT, &value, sizeof value, &size));
      slot = value;
      break;
    }
    case AttributeKind::kFloat: {
      float value = 0;
      check(api, api.ort->ReadOpAttr(attribute, ORT_OP_ATTR_FLOAT, &value, sizeof value, &size));
      slot = value;
      break;
    }
    case AttributeKind::kString: {
      const std::vector<char> text = read_list<char>(api, attribute, ORT_OP_ATTR_STRING);
      slot = std::string(text.begin(), text.end());
      break;
    }
    case AttributeKind::kInts:
      slot = read_list<int64_t>(api, attribute, ORT_OP_ATTR_INTS);
      break;
    case AttributeKind::kFloats:
      slot = read_list<float>(api, attribute, ORT_OP_ATTR_FLOATS);
      break;
    case AttributeKind::kStrings: {
      const std::vector<char> lines = read_list<char>(api, attribute, ORT_OP_ATTR_STRING);
      const std::vector<char> texts = read_list<char>(api, attribute, ORT_OP_ATTR_STRINGS);
      slot = lines.empty() ? split(std::string(texts.begin(), texts.end()), '\0')
                           : split(std::string(lines.begin(), lines.end()), '\n');
      // The kernel could not read a list again when it is created.
      if (api.version < 25 && lines.empty())
        described.obstacle = "'" + formal.name + "', a list of strings, before 1.25";
      break;
    }
    case AttributeKind::kTensor: {
      OrtValue* value = nullptr;
      described.node.attributes.erase(formal.name);
      if (api.version < 23) {
        described.obstacle = "'" + formal.name + "', a tensor, before 1.23";
        break;
      }
      check(api, api.ort->OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
      if (value != nullptr) add_tensor_attribute(api, formal.name, value, described);
      break;
    }
  }
}

DescribedNode describe(const Api& api, const OrtNode* node, const OperatorSchema& schema) {
  DescribedNode described = named_after(schema);
  const char* name = nullptr;
  check(api, api.ort->Node_GetName(node, &name));
  described.node.name = name == nullptr ? "" : name;

  size_t count = 0;
  check(api, api.ort->Node_GetNumInputs(node, &count));
  std::vector<const OrtValueInfo*> values(count);
  check(api, api.ort->Node_GetInputs(node, values.data(), count));
  described.node.constant_inputs.resize(count, nullptr);
  for (size_t i = 0; i < count; ++i) {
    described.node.input_types.push_back(type_of(api, values[i], described.obstacle));
    if (described.node.input_types[i] != DataType::kUndefined) read_constant(api, values[i], i, described);
  }
  check(api, api.ort->Node_GetNumOutputs(node, &count));
  values.assign(count, nullptr);
  check(api, api.ort->Node_GetOutputs(node, values.data(), count));
  for (const OrtValueInfo* value : values) {
    described.node.output_types.push_back(type_of(api, value, described.obstacle));
  }
  check(api, api.ort->Node_GetNumAttributes(node, &count));
  std::vector<const OrtOpAttr*> attributes(count);
  check(api, api.ort->Node_GetAttributes(node, attributes.data(), count));
  for (const OrtOpAttr* attribute : attributes) {
    check(api, api.ort->OpAttr_GetName(attribute, &name));
    const auto formal = std::find_if(schema.attributes.begin(), schema.attributes.end(),
                                     [&](const FormalAttribute& one) { return one.name == name; });
    if (formal != schema.attributes.end()) read_attribute(api, attribute, *formal, described);
  }
  return described;
}

DescribedNode describe(const Api& api, const OrtKernelInfo* info, const OperatorSchema& schema,
                       const char* positions_attribute) {
  DescribedNode described = named_after(schema);
  size_t count = 0;
  check(api, api.ort->KernelInfo_GetNodeName(info, nullptr, &count));
  described.node.name.resize(count);
  check(api, api.ort->KernelInfo_GetNodeName(info, described.node.name.data(), &count));
  described.node.name.resize(count == 0 ? 0 : count - 1);

  // The type of a value that the node leaves out is an error of the slot.
  const auto type_at = [&](auto slot, size_t i) {
    OrtTypeInfo* made = nullptr;
    if (!succeeded(api, slot(info, i, &made)) || made == nullptr) return DataType::kUndefined;
    const Owned<OrtTypeInfo> type(made, api.ort->ReleaseTypeInfo);
    return element_type_of(api, made, described.obstacle);
  };
  check(api, api.ort->KernelInfo_GetInputCount(info, &count));
  place_inputs(described, count,
               positions_attribute == nullptr ? std::vector<int64_t>() : integers_of(api, info, positions_attribute));
  for (size_t k = 0; k < count; ++k) {
    const size_t i = described.input_positions.empty() ? k : described.input_positions[k];
    described.node.input_types[i] = type_at(api.ort->KernelInfo_GetInputTypeInfo, k);
    if (described.node.input_types[i] == DataType::kUndefined) continue;
    int constant = 0;
    const OrtValue* value = nullptr;
    check(api, api.ort->KernelInfoGetConstantInput_tensor(info, k, &constant, &value));
    if (constant != 0 && value != nullptr) add_constant(api, value, i, described);
  }
  check(api, api.ort->KernelInfo_GetOutputCount(info, &count));
  for (size_t i = 0; i < count; ++i) {
    described.node.output_types.push_back(type_at(api.ort->KernelInfo_GetOutputTypeInfo, i));
  }
  for (const FormalAttribute& formal : schema.attributes) read_attribute(api, info, formal, described);
  return described;
}

}  // namespace onnx_light_ort::reverse
