#include "op_schema.h"

#include <utility>

#include "error.h"
#include "slots.h"

OrtOpSchema::OrtOpSchema(int since, std::vector<Parameter> inputs, std::vector<Parameter> outputs,
                         const std::vector<Constraint>& constraints)
    : since_version(since), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  constraints_.resize(constraints.size());
  for (size_t i = 0; i < constraints.size(); ++i) {
    OrtOpSchemaTypeConstraint& constraint = constraints_[i];
    constraint.name = constraints[i].name;
    constraint.allowed_types = constraints[i].allowed_types;
    for (const std::string& type : constraint.allowed_types) constraint.allowed_type_pointers.push_back(type.c_str());
    for (size_t j = 0; j < inputs_.size(); ++j) {
      if (inputs_[j].type == constraint.name) constraint.inputs.push_back(j);
    }
    for (size_t j = 0; j < outputs_.size(); ++j) {
      if (outputs_[j].type == constraint.name) constraint.outputs.push_back(j);
    }
  }
}

const OrtOpSchemaTypeConstraint* OrtOpSchema::constraint_of(const Parameter& parameter) const noexcept {
  for (const OrtOpSchemaTypeConstraint& constraint : constraints_) {
    if (constraint.name == parameter.type) return &constraint;
  }
  return nullptr;
}

namespace onnx_light_ort::abi {
namespace {

SchemaSource& schema_source() {
  static SchemaSource source;
  return source;
}

template <class T>
const T& at(const std::vector<T>& list, size_t index, const char* what) {
  if (index < list.size()) return list[index];
  throw Error(ORT_INVALID_ARGUMENT, "the schema has " + std::to_string(list.size()) + " " + what +
                                        "s, so there is no " + what + " " + std::to_string(index));
}

}  // namespace

void set_schema_source(SchemaSource source) { schema_source() = std::move(source); }

void OrtEpApiSlots::GetOpSchema(const char* name, int max_inclusive_version, const char* domain,
                                OrtOpSchema** out_schema) {
  const std::string asked = domain;
  *out_schema = schema_source()(name, max_inclusive_version, asked == "ai.onnx" ? "" : asked).release();
}

void OrtEpApiSlots::ReleaseOpSchema(OrtOpSchema* input) { delete input; }

void OrtEpApiSlots::OpSchema_GetSinceVersion(const OrtOpSchema* schema, int* out) { *out = schema->since_version; }

void OrtEpApiSlots::OpSchema_GetNumInputs(const OrtOpSchema* schema, size_t* out) { *out = schema->inputs().size(); }

void OrtEpApiSlots::OpSchema_GetInputName(const OrtOpSchema* schema, size_t index, const char** out) {
  *out = at(schema->inputs(), index, "input").name.c_str();
}

void OrtEpApiSlots::OpSchema_GetInputTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                    const OrtOpSchemaTypeConstraint** out) {
  *out = schema->constraint_of(at(schema->inputs(), index, "input"));
}

void OrtEpApiSlots::OpSchema_GetNumOutputs(const OrtOpSchema* schema, size_t* out) { *out = schema->outputs().size(); }

void OrtEpApiSlots::OpSchema_GetOutputName(const OrtOpSchema* schema, size_t index, const char** out) {
  *out = at(schema->outputs(), index, "output").name.c_str();
}

void OrtEpApiSlots::OpSchema_GetOutputTypeConstraint(const OrtOpSchema* schema, size_t index,
                                                     const OrtOpSchemaTypeConstraint** out) {
  *out = schema->constraint_of(at(schema->outputs(), index, "output"));
}

void OrtEpApiSlots::OpSchema_GetTypeConstraintCount(const OrtOpSchema* schema, size_t* out) {
  *out = schema->constraints().size();
}

void OrtEpApiSlots::OpSchema_GetTypeConstraint(const OrtOpSchema* schema, size_t index,
                                               const OrtOpSchemaTypeConstraint** out) {
  *out = &at(schema->constraints(), index, "type constraint");
}

void OrtEpApiSlots::OpSchemaTypeConstraint_GetTypeParamName(const OrtOpSchemaTypeConstraint* type_constraint,
                                                            const char** out) {
  *out = type_constraint->name.c_str();
}

void OrtEpApiSlots::OpSchemaTypeConstraint_GetAllowedTypes(const OrtOpSchemaTypeConstraint* type_constraint,
                                                           const char* const** out_types, size_t* num_types) {
  *out_types = type_constraint->allowed_type_pointers.data();
  *num_types = type_constraint->allowed_type_pointers.size();
}

void OrtEpApiSlots::OpSchemaTypeConstraint_GetInputIndices(const OrtOpSchemaTypeConstraint* type_constraint,
                                                           const size_t** out_indices, size_t* count) {
  *out_indices = type_constraint->inputs.data();
  *count = type_constraint->inputs.size();
}

void OrtEpApiSlots::OpSchemaTypeConstraint_GetOutputIndices(const OrtOpSchemaTypeConstraint* type_constraint,
                                                            const size_t** out_indices, size_t* count) {
  *out_indices = type_constraint->outputs.data();
  *count = type_constraint->outputs.size();
}

}  // namespace onnx_light_ort::abi
