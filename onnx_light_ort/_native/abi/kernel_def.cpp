#include "kernel_def.h"

#include <algorithm>
#include <array>
#include <utility>

#include "element_type.h"
#include "error.h"
#include "slots.h"

using Alias = OrtKernelDef::Alias;

bool OrtKernelDef::conflicts_with(const OrtKernelDef& other) const {
  const auto name_of = [](const std::string& name) { return name == "ai.onnx" ? std::string() : name; };
  if (op_type != other.op_type || name_of(domain) != name_of(other.domain) || provider != other.provider) return false;
  if (start_version > other.last_version() || other.start_version > last_version()) return false;
  for (const auto& [parameter, types] : type_constraints) {
    const auto found = other.type_constraints.find(parameter);
    if (found == other.type_constraints.end()) continue;
    const auto& others = found->second;
    const bool overlap = std::any_of(types.begin(), types.end(), [&](const OrtDataType* type) {
      return std::find(others.begin(), others.end(), type) != others.end();
    });
    if (!overlap) return false;
  }
  // ORT compares memory types in a way that lets nearly all definitions with any pass.
  const auto plain = [](const OrtKernelDef& def) {
    return def.input_memory_types.empty() && def.output_memory_types.empty();
  };
  return aliases == other.aliases && mutable_aliases == other.mutable_aliases && plain(*this) && plain(other);
}

namespace onnx_light_ort::abi {
namespace {

using kernels::DataType;

const OrtDataType& data_type(DataType element_type) {
  static const auto types = [] {
    std::array<OrtDataType, 64> made;
    for (size_t i = 0; i < made.size(); ++i) made[i].element_type = static_cast<DataType>(i);
    return made;
  }();
  return types.at(static_cast<size_t>(element_type));
}

OrtKernelDef& definition(OrtKernelDefBuilder* builder) {
  if (builder->definition == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT, "the builder has built its definition: create another builder for another one");
  }
  return *builder->definition;
}

/// One pair is added to those before it; several take their place, as in ORT.
void add_aliases(std::vector<Alias>& aliases, const int* inputs, const int* outputs, size_t count) {
  if (count == 0) throw Error(ORT_INVALID_ARGUMENT, "no pair of an input and an output is given: pass at least one");
  if (count > 1) aliases.clear();
  for (size_t i = 0; i < count; ++i) aliases.emplace_back(inputs[i], outputs[i]);
}

OrtMemType memory_type(const OrtKernelDef::MemoryTypes& types, size_t index) {
  const auto found = types.find(index);
  return found == types.end() ? OrtMemTypeDefault : found->second;
}

}  // namespace

void OrtEpApiSlots::CreateKernelDefBuilder(OrtKernelDefBuilder** kernel_def_builder_out) {
  *kernel_def_builder_out = new OrtKernelDefBuilder;
}

void OrtEpApiSlots::ReleaseKernelDefBuilder(OrtKernelDefBuilder* input) { delete input; }

void OrtEpApiSlots::KernelDefBuilder_SetOperatorType(OrtKernelDefBuilder* kernel_def_builder, const char* op_type) {
  definition(kernel_def_builder).op_type = op_type;
}

void OrtEpApiSlots::KernelDefBuilder_SetDomain(OrtKernelDefBuilder* kernel_def_builder, const char* domain) {
  definition(kernel_def_builder).domain = domain;
}

void OrtEpApiSlots::KernelDefBuilder_SetSinceVersion(OrtKernelDefBuilder* kernel_def_builder, int since_version_start,
                                                     int since_version_end) {
  if (since_version_start < 1 || since_version_end < since_version_start) {
    throw Error(ORT_INVALID_ARGUMENT, "since-versions " + std::to_string(since_version_start) + " to " +
                                          std::to_string(since_version_end) +
                                          " are no range: start at 1 or later and end no earlier than that");
  }
  OrtKernelDef& def = definition(kernel_def_builder);
  def.start_version = since_version_start;
  def.end_version = since_version_end;
}

void OrtEpApiSlots::KernelDefBuilder_SetExecutionProvider(OrtKernelDefBuilder* kernel_def_builder,
                                                          const char* ep_name) {
  definition(kernel_def_builder).provider = ep_name;
}

void OrtEpApiSlots::KernelDefBuilder_SetInputMemType(OrtKernelDefBuilder* kernel_def_builder, size_t input_index,
                                                     OrtMemType mem_type) {
  definition(kernel_def_builder).input_memory_types.insert_or_assign(input_index, mem_type);
}

void OrtEpApiSlots::KernelDefBuilder_SetOutputMemType(OrtKernelDefBuilder* kernel_def_builder, size_t output_index,
                                                      OrtMemType mem_type) {
  definition(kernel_def_builder).output_memory_types.insert_or_assign(output_index, mem_type);
}

void OrtEpApiSlots::KernelDefBuilder_AddTypeConstraint(OrtKernelDefBuilder* kernel_def_builder, const char* arg_name,
                                                       const OrtDataType* const* types, size_t num_types) {
  if (num_types == 0) {
    throw Error(ORT_INVALID_ARGUMENT,
                std::string("type parameter '") + arg_name + "' is given no type: pass those that the kernel serves");
  }
  definition(kernel_def_builder)
      .type_constraints.insert_or_assign(arg_name, std::vector<const OrtDataType*>(types, types + num_types));
}

void OrtEpApiSlots::KernelDefBuilder_AddInputOutputAliases(OrtKernelDefBuilder* kernel_def_builder,
                                                           const int* input_indices, const int* output_indices,
                                                           size_t num_io_indices) {
  add_aliases(definition(kernel_def_builder).aliases, input_indices, output_indices, num_io_indices);
}

void OrtEpApiSlots::KernelDefBuilder_AddInputOutputMutableAliases(OrtKernelDefBuilder* kernel_def_builder,
                                                                  const int* input_indices, const int* output_indices,
                                                                  size_t num_io_indices) {
  add_aliases(definition(kernel_def_builder).mutable_aliases, input_indices, output_indices, num_io_indices);
}

// Once; then, as in ORT, there is no definition to give, and that is no error.
void OrtEpApiSlots::KernelDefBuilder_Build(OrtKernelDefBuilder* kernel_def_builder, OrtKernelDef** kernel_def_out) {
  const std::shared_ptr<OrtKernelDef> definition = std::move(kernel_def_builder->definition);
  *kernel_def_out = definition.get();
  if (definition != nullptr) definition->claim = definition;
}

void OrtEpApiSlots::ReleaseKernelDef(OrtKernelDef* input) {
  if (input != nullptr) const std::shared_ptr<const OrtKernelDef> last = std::move(input->claim);
}

const char* OrtEpApiSlots::KernelDef_GetOperatorType(const OrtKernelDef* kernel_def) {
  return kernel_def->op_type.c_str();
}

const char* OrtEpApiSlots::KernelDef_GetDomain(const OrtKernelDef* kernel_def) { return kernel_def->domain.c_str(); }

void OrtEpApiSlots::KernelDef_GetSinceVersion(const OrtKernelDef* kernel_def, int* start_version, int* end_version) {
  *start_version = kernel_def->start_version;
  *end_version = kernel_def->end_version;
}

const char* OrtEpApiSlots::KernelDef_GetExecutionProvider(const OrtKernelDef* kernel_def) {
  return kernel_def->provider.c_str();
}

void OrtEpApiSlots::KernelDef_GetInputMemType(const OrtKernelDef* kernel_def, size_t input_index,
                                              OrtMemType* mem_type) {
  *mem_type = memory_type(kernel_def->input_memory_types, input_index);
}

void OrtEpApiSlots::KernelDef_GetOutputMemType(const OrtKernelDef* kernel_def, size_t output_index,
                                               OrtMemType* mem_type) {
  *mem_type = memory_type(kernel_def->output_memory_types, output_index);
}

void OrtEpApiSlots::GetTensorDataType(ONNXTensorElementDataType elem_type, const OrtDataType** out) {
  *out = nullptr;
  *out = &data_type(tensor_element_type(elem_type));
}

}  // namespace onnx_light_ort::abi
