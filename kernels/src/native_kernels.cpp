#include "native_kernels.h"

namespace onnx_light_ort::kernels {
namespace {

KernelRegistry build() {
  KernelRegistry registry;
  register_arithmetic(registry);
  register_unary_math(registry);
  register_activation(registry);
  register_comparison(registry);
  register_logic(registry);
  register_clip(registry);
  register_where(registry);
  register_cast(registry);
  register_matmul(registry);
  register_einsum(registry);
  register_softmax(registry);
  register_reduce(registry);
  register_reshape(registry);
  register_dropout(registry);
  register_shape(registry);
  register_transpose(registry);
  register_concat(registry);
  register_split(registry);
  register_slice(registry);
  register_gather(registry);
  register_expand(registry);
  register_conv(registry);
  register_conv_transpose(registry);
  register_pool(registry);
  register_max_roi_pool(registry);
  register_max_unpool(registry);
  register_normalization(registry);
  register_lstm(registry);
  register_rnn(registry);
  register_pad(registry);
  register_resize(registry);
  register_grid_sample(registry);
  register_generator(registry);
  register_quantize(registry);
  register_integer_matmul(registry);
  register_integer_conv(registry);
  register_arg_extremum(registry);
  register_cumulative(registry);
  register_trigonometry(registry);
  register_bitwise(registry);
  register_group_normalization(registry);
  register_gru(registry);
  register_attention(registry);
  register_rotary_embedding(registry);
  register_roi_align(registry);
  register_top_k(registry);
  register_non_max_suppression(registry);
  register_one_hot(registry);
  register_scatter(registry);
  register_selection(registry);
  register_rearrange(registry);
  return registry;
}

}  // namespace

const KernelRegistry& native_kernels() {
  static const KernelRegistry registry = build();
  return registry;
}

}  // namespace onnx_light_ort::kernels
