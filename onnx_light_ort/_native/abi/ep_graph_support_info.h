// What an execution provider says it takes of a graph.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <string>
#include <vector>

namespace onnx_light_ort::abi {

class Ep;
class KernelLookup;

/// One group of nodes that a provider takes: a single node for a kernel of its registry, or nodes to compile as one.
struct Claim {
  std::vector<const OrtNode*> nodes;  ///< Of the graph that was asked about; never null.
  bool fused = false;
  bool drop_constant_initializers = false;  ///< The provider keeps copies, and takes no constants as inputs.
};

}  // namespace onnx_light_ort::abi

/// Lives while the provider answers.
struct OrtEpGraphSupportInfo {
  const OrtGraph& graph;
  onnx_light_ort::abi::Ep& ep;
  onnx_light_ort::abi::KernelLookup* kernels;  ///< Null where the provider has no kernels.
  std::vector<onnx_light_ort::abi::Claim> claims;
  /// Why a claim was refused, if one was: also a provider that passes over the status is held to it.
  std::string refusal;
};
