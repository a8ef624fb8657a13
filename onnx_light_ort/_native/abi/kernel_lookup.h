// Finds the kernel of a node while its execution provider is asked what it takes.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph_record.h"
#include "kernel_def.h"

namespace onnx_light_ort::abi {

/// Types of a node's inputs or outputs: ONNX element types of dense tensors, and the two numbers below.
using ArgumentTypes = std::vector<int>;
inline constexpr int kNoArgument = -1;
inline constexpr int kNoTensor = 0;  ///< Or of an unknown type.

/// Lives while a provider answers about one view.
class KernelLookup {
 public:
  /// Of the kernel for nodes of an operator with such arguments; null where there is none. Called on the plugin's
  /// thread, once for all nodes that are alike. Throws Error.
  using Match = std::function<const OrtKernelDef*(const OperatorRecord&, const ArgumentTypes& inputs,
                                                  const ArgumentTypes& outputs)>;

  explicit KernelLookup(Match match);

  /// Null where no kernel serves the node. Throws Error.
  const OrtKernelDef* find(const OrtNode& node);

 private:
  const Match match_;
  std::unordered_map<std::string, const OrtKernelDef*> found_;  ///< By operator and argument types.
  std::string key_;                                             ///< Kept for its memory.
};

}  // namespace onnx_light_ort::abi
