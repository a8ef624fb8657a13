#include "onnx_light_ort/kernels/kernel_registry.h"

namespace onnx_light_ort::kernels {

const KernelRegistry& native_kernels() {
  static const KernelRegistry registry;
  return registry;
}

}  // namespace onnx_light_ort::kernels
