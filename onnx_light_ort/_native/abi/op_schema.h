// Schemas of operators, as the package onnx declares them.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A type parameter of an operator. Lives in its schema.
struct OrtOpSchemaTypeConstraint {
  std::string name;
  std::vector<std::string> allowed_types;  ///< As "tensor(float)".
  std::vector<const char*> allowed_type_pointers;
  std::vector<size_t> inputs;  ///< Positions of the formal parameters that have this type.
  std::vector<size_t> outputs;
};

/// One version of an operator. Plugins get one for themselves, which they release.
struct OrtOpSchema {
 public:
  struct Parameter {
    std::string name;
    std::string type;  ///< The name of a type constraint, or a type as "tensor(int64)".
  };
  struct Constraint {
    std::string name;
    std::vector<std::string> allowed_types;
  };

  OrtOpSchema(int since, std::vector<Parameter> inputs, std::vector<Parameter> outputs,
              const std::vector<Constraint>& constraints);
  OrtOpSchema(const OrtOpSchema&) = delete;
  OrtOpSchema& operator=(const OrtOpSchema&) = delete;

  const int since_version;
  const std::vector<Parameter>& inputs() const noexcept { return inputs_; }
  const std::vector<Parameter>& outputs() const noexcept { return outputs_; }
  const std::vector<OrtOpSchemaTypeConstraint>& constraints() const noexcept { return constraints_; }
  /// Null for a parameter of a fixed type.
  const OrtOpSchemaTypeConstraint* constraint_of(const Parameter& parameter) const noexcept;

 private:
  const std::vector<Parameter> inputs_;
  const std::vector<Parameter> outputs_;
  std::vector<OrtOpSchemaTypeConstraint> constraints_;  ///< Does not change once it is made.
};

namespace onnx_light_ort::abi {

/// Finds the newest version of an operator that is not newer than asked for; null where there is none. Called on the
/// plugin's thread.
using SchemaSource =
    std::function<std::unique_ptr<OrtOpSchema>(const std::string& name, int newest, const std::string& domain)>;

/// Set once, before the first plugin is loaded.
void set_schema_source(SchemaSource source);

}  // namespace onnx_light_ort::abi
