// The layout that a provider wants its inputs in. This host has the ONNX layout, channels first, and changes none: what
// would have to be changed is refused.
#include <algorithm>
#include <string>
#include <string_view>

#include "ep.h"
#include "error.h"
#include "graph_node.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

// The operators that ORT converts for a provider that leaves the decision to it.
constexpr std::string_view kOfOnnx[] = {"AveragePool",
                                        "BatchNormalization",
                                        "Conv",
                                        "ConvInteger",
                                        "ConvTranspose",
                                        "DepthToSpace",
                                        "GlobalAveragePool",
                                        "GlobalLpPool",
                                        "GlobalMaxPool",
                                        "GridSample",
                                        "InstanceNormalization",
                                        "LRN",
                                        "LpPool",
                                        "MaxPool",
                                        "MaxUnpool",
                                        "QLinearConv",
                                        "Resize",
                                        "SpaceToDepth"};
constexpr std::string_view kOfMicrosoft[] = {"FusedConv", "GridSample", "QLinearAveragePool",
                                             "QLinearGlobalAveragePool"};

template <size_t Count>
bool has(const std::string_view (&names)[Count], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

void Ep::read_layout() {
  const auto get_layout = field::OrtEp::GetPreferredDataLayout(ep_);
  if (get_layout == nullptr) return;
  call("OrtEp::GetPreferredDataLayout", [&] { return get_layout(ep_, &layout_); });
  if (layout_ == OrtEpDataLayout_NCHW || layout_ == OrtEpDataLayout_NHWC) return;
  throw Error(ORT_EP_FAIL, "execution provider '" + name_ + "': OrtEp::GetPreferredDataLayout gave " +
                               std::to_string(static_cast<int>(layout_)) + ", which is no OrtEpDataLayout");
}

void Ep::require_no_layout_change(const std::vector<Claim>& claims) const {
  if (layout_ == OrtEpDataLayout_NCHW) return;
  const auto should_convert = field::OrtEp::ShouldConvertDataLayoutForOp(ep_);
  for (const Claim& claim : claims) {
    for (const OrtNode* node : claim.nodes) {
      const OperatorRecord& op = *node->record->op;
      const bool is_microsoft = op.domain == "com.microsoft";
      if (!op.domain.empty() && !is_microsoft) continue;
      int answer = -1;
      if (should_convert != nullptr) {
        call("OrtEp::ShouldConvertDataLayoutForOp",
             [&] { return should_convert(ep_, op.domain.c_str(), op.op_type.c_str(), layout_, &answer); });
      }
      if (answer == 0) continue;
      if (answer < 0 && !(is_microsoft ? has(kOfMicrosoft, op.op_type) : has(kOfOnnx, op.op_type))) continue;
      throw Error(ORT_NOT_IMPLEMENTED, "execution provider '" + name_ + "' takes node '" + node->record->name + "' (" +
                                           op.op_type + ") with the channels last (NHWC), and this host changes no " +
                                           "layout: configure the provider for NCHW, or do not use it for this model");
    }
  }
}

}  // namespace onnx_light_ort::abi
