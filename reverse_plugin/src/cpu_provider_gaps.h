// Which nodes ORT's own CPU provider cannot run: a table of what one release lacks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "operator_schema.h"

namespace onnx_light_ort::reverse {

/// The rows of tables/cpu_provider_gaps.inc, which tests/ort/record_cpu_provider_gaps.py wrote by loading a model of
/// one node for each operator, version and choice of types.
class CpuProviderGaps {
 public:
  CpuProviderGaps();

  /// Whether the CPU provider has no way to run a node of this operator with these types. A type parameter whose values
  /// are all absent does not decide.
  bool lacks(const OperatorSchema& schema, const TypeBindings& bindings) const;

 private:
  // A set of types for each named parameter: the provider lacks every choice of one type from each.
  struct Product {
    std::vector<std::string> parameters;
    std::vector<uint32_t> types;  ///< Bit t stands for the type with ONNX's number t.
  };

  std::map<std::tuple<std::string, std::string, int>, std::vector<Product>, std::less<>> gaps_;
};

}  // namespace onnx_light_ort::reverse
