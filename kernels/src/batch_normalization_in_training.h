// BatchNormalization by the statistics of its own batch.
#pragma once

#include <memory>

#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// A kernel for BatchNormalization of float or double, from version 14 on, with training_mode: normalises by the mean
/// and the population variance of each channel, and updates the running ones by `momentum`.
std::unique_ptr<Kernel> make_batch_normalization_in_training(const Node& node);

}  // namespace onnx_light_ort::kernels
