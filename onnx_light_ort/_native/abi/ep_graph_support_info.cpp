#include "ep_graph_support_info.h"

#include <utility>

#include "error.h"
#include "graph.h"
#include "kernel_lookup.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

[[noreturn]] void refuse(OrtEpGraphSupportInfo& info, const std::string& reason) {
  if (info.refusal.empty()) info.refusal = reason;
  throw Error(ORT_INVALID_ARGUMENT, reason);
}

/// The graph's own node for one that may be a view's, which the plugin may release before it returns.
const OrtNode* require_node(OrtEpGraphSupportInfo& info, const OrtNode* node) {
  if (node == nullptr) refuse(info, "a node to claim is null: pass nodes that Graph_GetNodes gave");
  if (const auto position = info.graph.position_of(node)) return &info.graph.nodes()[*position];
  refuse(info, describe_node(node) + " is no node of graph '" + info.graph.name() +
                   "', which the provider was asked about: claim nodes of that graph");
}

}  // namespace

void OrtEpApiSlots::EpGraphSupportInfo_AddNodesToFuse(OrtEpGraphSupportInfo* graph_support_info,
                                                      const OrtNode* const* nodes, size_t num_nodes,
                                                      const OrtNodeFusionOptions* node_fusion_options) {
  if (num_nodes == 0) refuse(*graph_support_info, "no nodes to fuse were given: pass one or more");
  Claim claim;
  for (size_t i = 0; i < num_nodes; ++i) claim.nodes.push_back(require_node(*graph_support_info, nodes[i]));
  claim.fused = true;
  claim.drop_constant_initializers = node_fusion_options != nullptr && node_fusion_options->drop_constant_initializers;
  graph_support_info->claims.push_back(std::move(claim));
}

void OrtEpApiSlots::EpGraphSupportInfo_AddSingleNode(OrtEpGraphSupportInfo* graph_support_info, const OrtNode* node) {
  graph_support_info->claims.push_back({{require_node(*graph_support_info, node)}, false, false});
}

void OrtEpApiSlots::EpGraphSupportInfo_LookUpKernel(OrtEpGraphSupportInfo* graph_support_info, const OrtNode* node,
                                                    const OrtKernelDef** out_kernel_def) {
  *out_kernel_def = nullptr;
  if (!graph_support_info->graph.knows(node)) {
    throw Error(ORT_INVALID_ARGUMENT, describe_node(node) + " is no node of graph '" +
                                          graph_support_info->graph.name() +
                                          "', which the provider was asked about, nor of its subgraphs");
  }
  if (graph_support_info->kernels != nullptr) *out_kernel_def = graph_support_info->kernels->find(*node);
}

}  // namespace onnx_light_ort::abi
