// What the library exports. A runtime finds these by name; everything else is hidden.
#include "api.h"
#include "custom_ops.h"
#include "ep_factory.h"
#include "onnx_light_ort/kernels/error.h"

using onnx_light_ort::reverse::Api;
using onnx_light_ort::reverse::EpFactory;

extern "C" {

/// One factory, for OrtEpFactory::CreateEp. Called by RegisterExecutionProviderLibrary.
ORT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t room, size_t* count) {
  using namespace onnx_light_ort::reverse;
  *count = 0;
  const Api api = negotiate(*base, kOldestEpVersion);
  if (api.ort == nullptr) return too_old(*base, kOldestEpVersion);
  return fenced(api, [&] {
    if (room < 1)
      throw onnx_light_ort::kernels::Error(onnx_light_ort::kernels::ErrorKind::kInvalidArgument,
                                           "CreateEpFactories: room for one factory is needed");
    factories[0] = new EpFactory(api, logger);
    *count = 1;
  });
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<EpFactory*>(factory);
  return nullptr;
}

/// The domain onnx_light. Called by SessionOptions.register_custom_ops_library.
ORT_EXPORT OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  using namespace onnx_light_ort::reverse;
  const Api api = negotiate(*base, kOldestCustomOpVersion);
  if (api.ort == nullptr) return too_old(*base, kOldestCustomOpVersion);
  return fenced(api, [&] { add_custom_ops(*base, api, options); });
}
}
