#include "onnx_light_ort/kernels/run_context.h"

#include <string>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::kernels {

const TensorView& RunContext::required_input(size_t i) const {
  const TensorView* view = input(i);
  if (view == nullptr) invalid_argument("input " + std::to_string(i) + " is required and absent");
  return *view;
}

}  // namespace onnx_light_ort::kernels
