#include "kernel_catalogue.h"

#include <algorithm>
#include <iterator>

#include "element_type.h"

namespace onnx_light_ort::reverse {

using kernels::DataType;
using kernels::KernelEntry;

namespace {

bool has_parameter(const OperatorSchema& schema, const std::string& parameter) {
  const auto named = [&](const FormalParameter& formal) { return formal.type_parameter == parameter; };
  return std::any_of(schema.inputs.begin(), schema.inputs.end(), named) ||
         std::any_of(schema.outputs.begin(), schema.outputs.end(), named);
}

bool serves(const KernelEntry& entry, const OperatorSchema& schema, const TypeBindings& bindings, std::string& reason) {
  for (const auto& [parameter, types] : entry.type_constraints) {
    if (!has_parameter(schema, parameter)) {
      reason = "the kernel constrains " + parameter + ", which this version does not have";
      return false;
    }
    for (const auto& [bound, type] : bindings) {
      if (bound == parameter && std::find(types.begin(), types.end(), type) == types.end()) {
        reason = "no kernel for " + parameter + " " + kernels::data_type_name(type);
        return false;
      }
    }
  }
  return true;
}

}  // namespace

KernelCatalogue::KernelCatalogue() : registry_(kernels::native_kernels()) {
  for (const KernelEntry& entry : registry_.entries()) entries_[{entry.domain, entry.op_type}].push_back(&entry);
}

bool KernelCatalogue::has_kernels(std::string_view domain, std::string_view op_type) const {
  return entries_.find(std::make_tuple(domain, op_type)) != entries_.end();
}

std::vector<DataType> KernelCatalogue::expressible_types(const kernels::TypeConstraint& constraint) {
  std::vector<DataType> types;
  std::copy_if(constraint.second.begin(), constraint.second.end(), std::back_inserter(types), is_expressible);
  return types;
}

const KernelEntry* KernelCatalogue::find(const OperatorSchema& schema, const DescribedNode& described,
                                         std::string& reason) const {
  if (!described.obstacle.empty()) {
    reason = described.obstacle;
    return nullptr;
  }
  const TypeBindings bindings = bind_types(schema, described.node.input_types, described.node.output_types);
  reason = "no kernel of that name and version";
  const auto found = entries_.find(std::make_tuple(std::string_view(schema.domain), std::string_view(schema.op_type)));
  if (found == entries_.end()) return nullptr;
  for (const KernelEntry* entry : found->second) {
    if (entry->since_version > schema.since_version || entry->end_version < schema.since_version) continue;
    if (serves(*entry, schema, bindings, reason)) return entry;
  }
  return nullptr;
}

}  // namespace onnx_light_ort::reverse
