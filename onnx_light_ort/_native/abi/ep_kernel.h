// A kernel of an execution provider, for one node.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <vector>

#include "allocator.h"
#include "ep.h"
#include "kernel_context.h"
#include "kernel_info.h"
#include "kernel_registry.h"
#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::abi {

/// The kernels that a provider has now, in the order in which they were added; null where it has no registry.
/// Throws Error, with the provider's name.
std::shared_ptr<const OrtKernelRegistry::Kernels> read_kernel_registry(const Ep& ep);

/// The OrtKernelImpl that a provider made for one node: created here, released exactly once, when this goes, and always
/// before the provider.
class EpKernel final : public kernels::Kernel {
 public:
  /// Makes the kernel, and offers it the constant inputs to pack unless the session is configured not to. Throws Error,
  /// with the provider's name.
  EpKernel(std::shared_ptr<const Ep> ep, const OrtKernelRegistry::Kernel& kernel, std::shared_ptr<const NodeInfo> node);
  EpKernel(const EpKernel&) = delete;
  EpKernel& operator=(const EpKernel&) = delete;

  /// Throws kernels::Error, with the provider's name, when the kernel reports a failure or throws.
  void compute(kernels::RunContext& run) override;

 private:
  struct Release {
    const Ep* ep;
    void operator()(OrtKernelImpl* impl) const;
  };

  void create(const OrtKernelRegistry::Kernel& kernel);
  void offer_constants();

  // In the order in which they are needed: the kernel goes before what it was lent.
  const std::shared_ptr<const Ep> ep_;
  const std::shared_ptr<const NodeInfo> node_;
  const OrtKernelInfo info_;  ///< The kernel may keep the pointer.
  std::vector<OutputReuse> reuse_;
  std::unique_ptr<HostAllocator> packing_allocator_;
  std::unique_ptr<OrtKernelImpl, Release> impl_;
};

}  // namespace onnx_light_ort::abi
