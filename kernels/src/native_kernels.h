// The operator families of the library. Each is defined in the file of its name.
#pragma once

#include "onnx_light_ort/kernels/kernel_registry.h"

namespace onnx_light_ort::kernels {

void register_arithmetic(KernelRegistry& registry);
void register_unary_math(KernelRegistry& registry);
void register_activation(KernelRegistry& registry);
void register_comparison(KernelRegistry& registry);
void register_logic(KernelRegistry& registry);
void register_clip(KernelRegistry& registry);
void register_where(KernelRegistry& registry);
void register_cast(KernelRegistry& registry);
void register_matmul(KernelRegistry& registry);
void register_einsum(KernelRegistry& registry);
void register_softmax(KernelRegistry& registry);
void register_reduce(KernelRegistry& registry);
void register_reshape(KernelRegistry& registry);
void register_dropout(KernelRegistry& registry);
void register_shape(KernelRegistry& registry);
void register_transpose(KernelRegistry& registry);
void register_concat(KernelRegistry& registry);
void register_split(KernelRegistry& registry);
void register_slice(KernelRegistry& registry);
void register_gather(KernelRegistry& registry);
void register_expand(KernelRegistry& registry);
void register_conv(KernelRegistry& registry);
void register_conv_transpose(KernelRegistry& registry);
void register_pool(KernelRegistry& registry);
void register_max_roi_pool(KernelRegistry& registry);
void register_max_unpool(KernelRegistry& registry);
void register_normalization(KernelRegistry& registry);
void register_lstm(KernelRegistry& registry);
void register_rnn(KernelRegistry& registry);
void register_pad(KernelRegistry& registry);
void register_resize(KernelRegistry& registry);
void register_grid_sample(KernelRegistry& registry);
void register_generator(KernelRegistry& registry);
void register_quantize(KernelRegistry& registry);
void register_integer_matmul(KernelRegistry& registry);
void register_integer_conv(KernelRegistry& registry);
void register_arg_extremum(KernelRegistry& registry);
void register_cumulative(KernelRegistry& registry);
void register_trigonometry(KernelRegistry& registry);
void register_bitwise(KernelRegistry& registry);
void register_group_normalization(KernelRegistry& registry);
void register_gru(KernelRegistry& registry);
void register_attention(KernelRegistry& registry);
void register_rotary_embedding(KernelRegistry& registry);
void register_roi_align(KernelRegistry& registry);
void register_top_k(KernelRegistry& registry);
void register_non_max_suppression(KernelRegistry& registry);
void register_one_hot(KernelRegistry& registry);
void register_scatter(KernelRegistry& registry);
void register_selection(KernelRegistry& registry);
void register_rearrange(KernelRegistry& registry);

}  // namespace onnx_light_ort::kernels
