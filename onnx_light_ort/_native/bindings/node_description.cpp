#include "node_description.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "numpy_value.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::bindings {
namespace {

using engine::Value;
using kernels::Attribute;
using kernels::DataType;

// onnx.AttributeProto.AttributeType
enum AttributeType { kFloat = 1, kInt = 2, kString = 3, kTensor = 4, kFloats = 6, kInts = 7, kStrings = 8 };

std::string text_of(nb::handle value) {
  if (nb::isinstance<nb::bytes>(value)) {
    const auto bytes = nb::cast<nb::bytes>(value);
    return std::string(bytes.c_str(), bytes.size());
  }
  return nb::cast<std::string>(value);
}

std::vector<std::string> texts_of(nb::handle value) {
  std::vector<std::string> texts;
  for (nb::handle item : value) texts.push_back(text_of(item));
  return texts;
}

int guess_type(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value) || nb::isinstance<nb::int_>(value)) return kInt;
  if (nb::isinstance<nb::float_>(value)) return kFloat;
  if (nb::isinstance<nb::str>(value) || nb::isinstance<nb::bytes>(value)) return kString;
  if (nb::isinstance<nb::list>(value)) {
    if (nb::len(value) == 0) return kInts;
    switch (guess_type(value[0])) {
      case kFloat:
        return kFloats;
      case kString:
        return kStrings;
      default:
        return kInts;
    }
  }
  return kTensor;
}

Attribute attribute_of(nb::handle given, std::vector<std::unique_ptr<Value>>& values) {
  nb::object value = nb::borrow(given);
  int type = 0;
  if (nb::isinstance<nb::tuple>(given)) {
    type = nb::cast<int>(given[0]);
    value = given[1];
  } else {
    type = guess_type(given);
  }
  switch (type) {
    case kFloat:
      return nb::cast<float>(value);
    case kInt:
      return nb::cast<int64_t>(value);
    case kString:
      return text_of(value);
    case kFloats:
      return nb::cast<std::vector<float>>(value);
    case kInts:
      return nb::cast<std::vector<int64_t>>(value);
    case kStrings:
      return texts_of(value);
    default:
      break;
  }
  values.push_back(std::make_unique<Value>(value_from_object(value)));
  if (!values.back()->is_tensor()) kernels::invalid_argument("an attribute is of a type that no kernel takes");
  return values.back()->view();
}

}  // namespace

std::vector<DataType> data_types(const std::vector<int>& numbers) {
  std::vector<DataType> types;
  types.reserve(numbers.size());
  for (int number : numbers) types.push_back(static_cast<DataType>(number));
  return types;
}

std::shared_ptr<NodeDescription> describe_node(const std::string& name, const std::string& domain,
                                               const std::string& op_type, int since_version,
                                               std::vector<DataType> input_types, std::vector<DataType> output_types,
                                               const nb::dict& attributes, const nb::sequence& constant_inputs) {
  auto description = std::make_shared<NodeDescription>();
  kernels::Node& node = description->node;
  node.name = name;
  node.domain = domain;
  node.op_type = op_type;
  node.since_version = since_version;
  node.constant_inputs.resize(input_types.size(), nullptr);
  node.input_types = std::move(input_types);
  node.output_types = std::move(output_types);
  for (auto [key, value] : attributes) {
    node.attributes.emplace(nb::cast<std::string>(key), attribute_of(value, description->values));
  }
  const size_t given = nb::len(constant_inputs);
  for (size_t i = 0; i < given && i < node.constant_inputs.size(); ++i) {
    const nb::object item = constant_inputs[i];
    if (item.is_none()) continue;
    description->values.push_back(std::make_unique<Value>(value_from_object(item)));
    if (description->values.back()->is_tensor()) node.constant_inputs[i] = &description->values.back()->view();
  }
  return description;
}

}  // namespace onnx_light_ort::bindings
