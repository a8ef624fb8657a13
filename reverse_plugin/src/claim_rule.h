// Which of the nodes that a kernel serves the EP takes from the runtime.
#pragma once

#include <string>
#include <vector>

#include "cpu_provider_gaps.h"
#include "kernel_catalogue.h"

namespace onnx_light_ort::reverse {

class ClaimRule {
 public:
  /// "missing", "all", or operators separated by commas, such as "Add,ai.onnx.ml::Scaler". Throws kernels::Error naming
  /// an operator that no kernel computes.
  ClaimRule(const std::string& text, const KernelCatalogue& catalogue);

  bool takes(const OperatorSchema& schema, const TypeBindings& bindings, const CpuProviderGaps& gaps) const;

 private:
  enum class Kind { kMissing, kAll, kList };

  Kind kind_ = Kind::kList;
  std::vector<std::string> operators_;
};

}  // namespace onnx_light_ort::reverse
