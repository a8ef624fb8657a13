// The registry of kernels as the C ABI can offer it: matched with described nodes, minus what the ABI does not express.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "node_description.h"
#include "onnx_light_ort/kernels/kernel_registry.h"
#include "operator_schema.h"

namespace onnx_light_ort::reverse {

class KernelCatalogue {
 public:
  KernelCatalogue();

  const std::vector<kernels::KernelEntry>& entries() const noexcept { return registry_.entries(); }
  const OperatorSchemas& schemas() const noexcept { return schemas_; }

  /// Whether there is a kernel for any version and types of an operator.
  bool has_kernels(std::string_view domain, std::string_view op_type) const;

  /// The types of an entry's constraint that have a meaning in the C ABI.
  static std::vector<kernels::DataType> expressible_types(const kernels::TypeConstraint& constraint);

  /// The entry that serves a node; null, and the reason, where there is none.
  const kernels::KernelEntry* find(const OperatorSchema& schema, const DescribedNode& described,
                                   std::string& reason) const;

 private:
  const kernels::KernelRegistry& registry_;
  OperatorSchemas schemas_;
  std::map<std::tuple<std::string, std::string>, std::vector<const kernels::KernelEntry*>, std::less<>> entries_;
};

}  // namespace onnx_light_ort::reverse
