#include "ep_kernel.h"

#include <string>
#include <utility>

#include "error.h"
#include "error_kind.h"
#include "logger.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

using Gate = field::OrtKernelImpl;

std::vector<OutputReuse> reuse_of(const OrtKernelDef& definition, const NodeInfo& node) {
  std::vector<OutputReuse> reuse;
  add_reuse(reuse, definition.mutable_aliases, false, node.inputs.size(), node.outputs.size());
  add_reuse(reuse, definition.aliases, true, node.inputs.size(), node.outputs.size());
  return reuse;
}

}  // namespace

std::shared_ptr<const OrtKernelRegistry::Kernels> read_kernel_registry(const Ep& ep) {
  const auto get_registry = field::OrtEp::GetKernelRegistry(ep.get());
  if (get_registry == nullptr) return nullptr;
  const OrtKernelRegistry* registry = nullptr;
  ep.call("OrtEp::GetKernelRegistry", [&] { return get_registry(ep.get(), &registry); });
  return registry == nullptr ? nullptr : std::make_shared<const OrtKernelRegistry::Kernels>(registry->kernels);
}

EpKernel::EpKernel(std::shared_ptr<const Ep> ep, const OrtKernelRegistry::Kernel& kernel,
                   std::shared_ptr<const NodeInfo> node)
    : ep_(std::move(ep)),
      node_(std::move(node)),
      info_{node_},
      reuse_(reuse_of(*kernel.definition, *node_)),
      impl_(nullptr, Release{ep_.get()}) {
  create(kernel);
  offer_constants();
}

void EpKernel::create(const OrtKernelRegistry::Kernel& kernel) {
  OrtKernelImpl* made = nullptr;
  ep_->call("OrtKernelCreateFunc", [&] { return kernel.create(kernel.create_state, &info_, &made); });
  const auto refuse = [&](const std::string& reason) {
    throw Error(ORT_EP_FAIL, "execution provider '" + ep_->name() + "': " + reason);
  };
  if (made == nullptr) refuse("OrtKernelCreateFunc reported success and made no kernel: set *kernel_out");
  // Every version of the struct has these: as in ORT they count whatever version it declares.
  if (made->Release == nullptr) refuse("its OrtKernelImpl has no Release: set the callback");
  impl_.reset(made);
  if (made->Compute == nullptr) refuse("its OrtKernelImpl has no Compute: set the callback");
  if (made->flags != 0) {
    refuse("its OrtKernelImpl has flags " + std::to_string(made->flags) +
           ", which only kernels of the host have: set flags to 0");
  }
}

void EpKernel::Release::operator()(OrtKernelImpl* impl) const {
  try {
    ep->call("OrtKernelImpl::Release", [&] { impl->Release(impl); });
  } catch (const Error& error) {
    log(ep->services()->logger, ORT_LOGGING_LEVEL_ERROR, error.what());
  }
}

// What is packed is lent to each run all the same: the plan keeps its constants.
void EpKernel::offer_constants() {
  const auto pack = Gate::PrePackWeight(impl_.get());
  if (pack == nullptr) return;
  const std::string* disabled = find_config_entry(node_->session->config_entries, "session.disable_prepacking");
  if (disabled != nullptr && *disabled == "1") return;
  packing_allocator_ = std::make_unique<HostAllocator>(node_->session->budget);
  for (size_t i = 0; i < node_->constants.size(); ++i) {
    const OrtValue& constant = node_->constants[i];
    if (constant.view == nullptr) continue;
    bool is_packed = false;
    // No cache to share packed weights through.
    ep_->call("OrtKernelImpl::PrePackWeight", [&] {
      return pack(impl_.get(), &constant, static_cast<int>(i), packing_allocator_.get(), nullptr, &is_packed);
    });
  }
}

void EpKernel::compute(kernels::RunContext& run) {
  OrtKernelContext context(run, *node_->session, reuse_.empty() ? nullptr : reuse_.data());
  OrtKernelImpl* const impl = impl_.get();
  try {
    ep_->call("OrtKernelImpl::Compute", [&] { return impl->Compute(impl, &context); });
  } catch (const Error& error) {
    throw to_engine(error);
  }
}

}  // namespace onnx_light_ort::abi
