// Finds the kernel of a node while its execution provider is asked what it takes.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph_record.h"
#include "kernel_registry.h"

namespace onnx_light_ort::abi {

/// Types of a node's inputs or outputs: ONNX element types of dense tensors, and the two numbers below.
using ArgumentTypes = std::vector<int>;
inline constexpr int kNoArgument = -1;
inline constexpr int kNoTensor = 0;  ///< Or of an unknown type.

/// Lives while a provider answers about one view.
class KernelLookup {
 public:
  /// Position in the registry of the kernel for nodes of an operator with such arguments. Called on the plugin's
  /// thread, once for all nodes that are alike. Throws Error.
  using Match = std::function<std::optional<size_t>(const OperatorRecord&, const ArgumentTypes& inputs,
                                                    const ArgumentTypes& outputs)>;

  KernelLookup(std::shared_ptr<const OrtKernelRegistry> registry, Match match);

  /// Null where no kernel serves the node. The definition lives as long as the registry. Throws Error.
  const OrtKernelDef* find(const OrtNode& node);

 private:
  const std::shared_ptr<const OrtKernelRegistry> registry_;
  const Match match_;
  std::unordered_map<std::string, const OrtKernelDef*> found_;  ///< By operator and argument types.
  std::string key_;                                             ///< Kept for its memory.
};

}  // namespace onnx_light_ort::abi
