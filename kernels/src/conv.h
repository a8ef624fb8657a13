// The kernel of Conv, for operators that are a convolution in other clothes.
#pragma once

#include <memory>

#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// A kernel for a Conv of float or double.
std::unique_ptr<Kernel> make_conv(const Node& node);

}  // namespace onnx_light_ort::kernels
