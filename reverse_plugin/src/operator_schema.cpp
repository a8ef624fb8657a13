#include "operator_schema.h"

namespace onnx_light_ort::reverse {
namespace {

struct Row {
  const char* domain;
  const char* op_type;
  int since_version;
  const char* inputs;      // "name:type_parameter", then ? for optional or * for variadic, separated by spaces
  const char* outputs;     // the same
  const char* attributes;  // "name:kind", kind one of i f s I F S t
};

constexpr Row kRows[] = {
#include "../tables/operator_schemas.inc"
};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const size_t end = text.find(' ');
    found.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return found;
}

std::vector<FormalParameter> formal_parameters(const char* text) {
  std::vector<FormalParameter> parameters;
  for (std::string& word : words(text)) {
    FormalParameter parameter;
    parameter.optional = word.back() == '?';
    parameter.variadic = word.back() == '*';
    if (parameter.optional || parameter.variadic) word.pop_back();
    const size_t colon = word.find(':');
    parameter.name = word.substr(0, colon);
    parameter.type_parameter = word.substr(colon + 1);
    if (parameter.type_parameter.empty()) parameter.type_parameter = parameter.name;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

AttributeKind attribute_kind(char letter) {
  switch (letter) {
    case 'i':
      return AttributeKind::kInt;
    case 'f':
      return AttributeKind::kFloat;
    case 's':
      return AttributeKind::kString;
    case 'I':
      return AttributeKind::kInts;
    case 'F':
      return AttributeKind::kFloats;
    case 'S':
      return AttributeKind::kStrings;
    default:
      return AttributeKind::kTensor;
  }
}

void bind(const std::vector<FormalParameter>& formals, const std::vector<kernels::DataType>& types,
          TypeBindings& bindings) {
  for (size_t i = 0; i < types.size() && !formals.empty(); ++i) {
    const FormalParameter& formal = formals[i < formals.size() ? i : formals.size() - 1];
    if (types[i] != kernels::DataType::kUndefined) bindings.emplace_back(formal.type_parameter, types[i]);
  }
}

}  // namespace

OperatorSchemas::OperatorSchemas() {
  for (const Row& row : kRows) {
    OperatorSchema schema{
        row.domain, row.op_type, row.since_version, formal_parameters(row.inputs), formal_parameters(row.outputs), {}};
    for (const std::string& word : words(row.attributes)) {
      schema.attributes.push_back({word.substr(0, word.size() - 2), attribute_kind(word.back())});
    }
    schemas_.emplace(std::make_tuple(schema.domain, schema.op_type, schema.since_version), std::move(schema));
  }
}

const OperatorSchema* OperatorSchemas::find(std::string_view domain, std::string_view op_type,
                                            int since_version) const {
  const auto found = schemas_.find(std::make_tuple(domain, op_type, since_version));
  return found == schemas_.end() ? nullptr : &found->second;
}

std::vector<const OperatorSchema*> OperatorSchemas::versions(std::string_view domain, std::string_view op_type) const {
  std::vector<const OperatorSchema*> found;
  for (auto i = schemas_.lower_bound(std::make_tuple(domain, op_type, 0));
       i != schemas_.end() && i->second.domain == domain && i->second.op_type == op_type; ++i) {
    found.push_back(&i->second);
  }
  return found;
}

TypeBindings bind_types(const OperatorSchema& schema, const std::vector<kernels::DataType>& inputs,
                        const std::vector<kernels::DataType>& outputs) {
  TypeBindings bindings;
  bind(schema.inputs, inputs, bindings);
  bind(schema.outputs, outputs, bindings);
  return bindings;
}

}  // namespace onnx_light_ort::reverse
