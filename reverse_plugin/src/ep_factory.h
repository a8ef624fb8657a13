// The factory of the execution provider that offers the kernels to a runtime.
#pragma once

#include <mutex>

#include "api.h"
#include "cpu_provider_gaps.h"
#include "kernel_catalogue.h"
#include "run_context.h"

namespace onnx_light_ort::reverse {

inline constexpr const char* kEpName = "OnnxLightExecutionProvider";

/// Lives from CreateEpFactories to ReleaseEpFactory: what all sessions share.
class EpFactory : public OrtEpFactory {
 public:
  /// The logger is the runtime's default one, which outlives the factory.
  EpFactory(const Api& given, const OrtLogger* logger);

  /// The definitions of all kernels that this runtime can be told of, made for the first session.
  const OrtKernelRegistry* kernel_registry();

  const Api api;
  const KernelCatalogue catalogue;
  const CpuProviderGaps gaps;

 private:
  OrtStatus* get_supported_devices(const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** ep_devices,
                                   size_t room, size_t* given) noexcept;
  OrtEp* create_ep(const OrtSessionOptions* options);
  void release_ep(OrtEp* ep) noexcept;
  void define(OrtKernelRegistry* registry, const kernels::KernelEntry& entry);
  OrtKernelImpl* create_kernel(const OrtKernelInfo* info);

  const OrtLogger* logger_;
  Owned<OrtMemoryInfo> cpu_;
  CopyCount copied_;
  CallEnvironment environment_;
  std::mutex registry_mutex_;
  Owned<OrtKernelRegistry> registry_;
};

}  // namespace onnx_light_ort::reverse
