// What ONNX says of the operators that kernels are registered for: names of inputs, outputs and attributes. The ABI
// hands out attributes by name only, and kernels are registered under the names of type parameters.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::reverse {

struct FormalParameter {
  std::string name;
  std::string type_parameter;  ///< The parameter's own name where its type is fixed.
  bool optional = false;
  bool variadic = false;
};

enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats, kStrings, kTensor };

struct FormalAttribute {
  std::string name;
  AttributeKind kind;
};

struct OperatorSchema {
  std::string domain;  ///< "" is ai.onnx.
  std::string op_type;
  int since_version = 0;
  std::vector<FormalParameter> inputs;
  std::vector<FormalParameter> outputs;
  std::vector<FormalAttribute> attributes;
};

/// Types that a node gives to each type parameter of its operator. A parameter whose values are all absent is missing.
using TypeBindings = std::vector<std::pair<std::string_view, kernels::DataType>>;

/// The schemas of tables/operator_schemas.inc, by domain, operator and since_version.
class OperatorSchemas {
 public:
  OperatorSchemas();

  const OperatorSchema* find(std::string_view domain, std::string_view op_type, int since_version) const;

  /// All versions of an operator, oldest first.
  std::vector<const OperatorSchema*> versions(std::string_view domain, std::string_view op_type) const;

 private:
  std::map<std::tuple<std::string, std::string, int>, OperatorSchema, std::less<>> schemas_;
};

/// Binds the types of present values to parameters, in the schema's order; a parameter may come up several times.
TypeBindings bind_types(const OperatorSchema& schema, const std::vector<kernels::DataType>& inputs,
                        const std::vector<kernels::DataType>& outputs);

}  // namespace onnx_light_ort::reverse
