#include "onnx_light_ort/kernels/kernel_registry.h"

#include <algorithm>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::kernels {
namespace {

bool share_a_type(const std::vector<DataType>& a, const std::vector<DataType>& b) {
  return std::any_of(a.begin(), a.end(), [&](DataType t) { return std::find(b.begin(), b.end(), t) != b.end(); });
}

// Two entries are ambiguous when some node could match both: versions overlap, and no parameter that both constrain
// separates them.
bool overlap(const KernelEntry& a, const KernelEntry& b) {
  if (a.domain != b.domain || a.op_type != b.op_type) return false;
  if (a.end_version < b.since_version || b.end_version < a.since_version) return false;
  for (const auto& [name, types] : a.type_constraints) {
    for (const auto& [other_name, other_types] : b.type_constraints) {
      if (name == other_name && !share_a_type(types, other_types)) return false;
    }
  }
  return true;
}

}  // namespace

void KernelRegistry::add(KernelEntry entry) {
  const std::string label = entry.domain + "::" + entry.op_type;
  if (entry.since_version > entry.end_version) {
    invalid_argument("kernel " + label + ": version range is inverted");
  }
  for (const KernelEntry& other : entries_) {
    if (overlap(entry, other))
      invalid_argument("kernel " + label + " is registered twice for the same types and versions");
  }
  entries_.push_back(std::move(entry));
}

void fail_attribute_type(const Node& node, std::string_view name) {
  invalid_argument("node '" + node.name + "' (" + node.op_type + "): attribute '" + std::string(name) +
                   "' has another type than the operator asks for");
}

}  // namespace onnx_light_ort::kernels
