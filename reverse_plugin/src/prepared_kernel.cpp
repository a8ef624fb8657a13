#include "prepared_kernel.h"

#include <utility>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {
namespace {

std::string label(const kernels::Node& node) {
  return (node.domain.empty() ? "" : node.domain + "::") + node.op_type + " (version " +
         std::to_string(node.since_version) + ") node '" + node.name + "': ";
}

}  // namespace

PreparedKernel::PreparedKernel(const CallEnvironment& environment, const KernelCatalogue& catalogue,
                               const OperatorSchema& schema, DescribedNode described)
    : environment_(environment), described_(std::move(described)) {
  std::string reason;
  const kernels::KernelEntry* entry = catalogue.find(schema, described_, reason);
  if (entry == nullptr) {
    kernels::fail(kernels::ErrorKind::kNotImplemented, label(described_.node) + reason);
  }
  kernel_ = entry->factory(described_.node);
}

void PreparedKernel::compute(OrtKernelContext* context) {
  try {
    OrtRunContext run(environment_, context, described_);
    kernel_->compute(run);
  } catch (const kernels::Error& error) {
    if (error.code() != 0) throw;  // the runtime's own words
    throw kernels::Error(error.kind(), label(described_.node) + error.what());
  }
}

}  // namespace onnx_light_ort::reverse
