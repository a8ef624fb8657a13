#include "ep.h"

#include <string_view>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {
namespace {

// Weights that are larger are kept from the kernel that is created to see whether it accepts a node: it would pack
// them.
constexpr int64_t kSmallConstant = 4096;

DescribedNode without_large_constants(DescribedNode described) {
  for (const kernels::TensorView*& constant : described.node.constant_inputs) {
    if (constant != nullptr && constant->element_count > kSmallConstant) constant = nullptr;
  }
  return described;
}

std::string_view text(const char* characters) { return characters == nullptr ? std::string_view() : characters; }

}  // namespace

Ep::Ep(EpFactory& factory, const ClaimRule& rule) : OrtEp{}, factory_(factory), rule_(rule) {
  ort_version_supported = factory.api.version;
  OrtEp::GetName = [](const OrtEp*) noexcept { return kEpName; };
  OrtEp::GetCapability = [](OrtEp* ep, const OrtGraph* graph, OrtEpGraphSupportInfo* support) noexcept {
    auto* self = static_cast<Ep*>(ep);
    return fenced(self->factory_.api, [&] { self->claim(graph, support); });
  };
  OrtEp::GetKernelRegistry = [](OrtEp* ep, const OrtKernelRegistry** registry) noexcept {
    auto* self = static_cast<Ep*>(ep);
    return fenced(self->factory_.api, [&] { *registry = self->factory_.kernel_registry(); });
  };
  OrtEp::IsConcurrentRunSupported = [](OrtEp*, bool* supported) noexcept {
    *supported = true;
    return static_cast<OrtStatus*>(nullptr);
  };
}

void Ep::claim(const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  const Api& api = factory_.api;
  size_t count = 0;
  check(api, api.ort->Graph_GetNumNodes(graph, &count));
  if (count == 0) return;
  std::vector<const OrtNode*> nodes(count);
  check(api, api.ort->Graph_GetNodes(graph, nodes.data(), count));
  for (const OrtNode* node : nodes) {
    if (!takes(node)) continue;
    // The runtime's own matching has the last word: it is by this that it will look for the kernel.
    const OrtKernelDef* definition = nullptr;
    check(api, api.ep->EpGraphSupportInfo_LookUpKernel(support, node, &definition));
    if (definition != nullptr) check(api, api.ep->EpGraphSupportInfo_AddSingleNode(support, node));
  }
}

bool Ep::takes(const OrtNode* node) const {
  const Api& api = factory_.api;
  const char* domain = nullptr;
  const char* op_type = nullptr;
  int since_version = 0;
  check(api, api.ort->Node_GetDomain(node, &domain));
  check(api, api.ort->Node_GetOperatorType(node, &op_type));
  check(api, api.ort->Node_GetSinceVersion(node, &since_version));
  if (!factory_.catalogue.has_kernels(text(domain), text(op_type))) return false;
  const OperatorSchema* schema = factory_.catalogue.schemas().find(text(domain), text(op_type), since_version);
  if (schema == nullptr) return false;
  const DescribedNode described = without_large_constants(describe(api, node, *schema));
  std::string reason;
  const kernels::KernelEntry* entry = factory_.catalogue.find(*schema, described, reason);
  if (entry == nullptr) return false;
  if (!rule_.takes(*schema, bind_types(*schema, described.node.input_types, described.node.output_types),
                   factory_.gaps)) {
    return false;
  }
  try {
    return entry->factory(described.node) != nullptr;
  } catch (const kernels::Error&) {
    return false;  // a node that the kernel declines is left to other providers
  }
}

}  // namespace onnx_light_ort::reverse
