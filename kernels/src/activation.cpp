// Activation functions: Relu, LeakyRelu, ThresholdedRelu, Elu, Celu, Selu, Sigmoid, HardSigmoid, HardSwish, Swish,
// Tanh, Softplus, Softsign, Mish, Gelu, Shrink.
#include "activation_functions.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

template <class Op, int64_t kGrain>
std::unique_ptr<Kernel> make_float(const Node& node, const UnaryParameters& parameters) {
  const DataType type = input_type(node, 0);
  const UnaryLoop loop = dispatch<float, double, Float16, BFloat16>(
      type, [](auto tag) { return unary_loop<Op, typename decltype(tag)::type>(); });
  return make_unary_kernel(loop, type, parameters, kGrain);
}

template <class Op>
std::unique_ptr<Kernel> make_plain(const Node& node) {
  return make_float<Op, kCostlyGrain>(node, {});
}

std::unique_ptr<Kernel> make_relu(const Node& node) {
  const DataType type = input_type(node, 0);
  const UnaryLoop loop =
      dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t>(type, [](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsHalf<T>) {
          return unary_loop<HalfReluOp<T>, uint16_t>();
        } else {
          return unary_loop<ReluOp, T>();
        }
      });
  return make_unary_kernel(loop, type, {}, kCheapGrain);
}

std::unique_ptr<Kernel> make_leaky_relu(const Node& node) {
  return make_float<LeakyReluOp, kCheapGrain>(node, {node.attribute_or("alpha", 0.01f), 0});
}

std::unique_ptr<Kernel> make_elu(const Node& node) {
  return make_float<EluOp, kCostlyGrain>(node, {node.attribute_or("alpha", 1.0f), 0});
}

std::unique_ptr<Kernel> make_hard_sigmoid(const Node& node) {
  return make_float<HardSigmoidOp, kCheapGrain>(node,
                                                {node.attribute_or("alpha", 0.2f), node.attribute_or("beta", 0.5f)});
}

std::unique_ptr<Kernel> make_gelu(const Node& node) {
  const auto approximate = node.attribute_or<std::string>("approximate", "none");
  if (approximate == "none") return make_plain<GeluOp>(node);
  if (approximate == "tanh") return make_plain<TanhGeluOp>(node);
  invalid_argument("Gelu: approximate is '" + approximate + "', expected 'none' or 'tanh'");
}

std::unique_ptr<Kernel> make_shrink(const Node& node) {
  const DataType type = input_type(node, 0);
  const UnaryLoop loop =
      dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t>(type, [](auto tag) { return unary_loop<ShrinkOp, typename decltype(tag)::type>(); });
  return make_unary_kernel(loop, type, {node.attribute_or("lambd", 0.5f), node.attribute_or("bias", 0.0f)},
                           kCheapGrain);
}

std::unique_ptr<Kernel> make_celu(const Node& node) {
  return make_float<CeluOp, kCostlyGrain>(node, {node.attribute_or("alpha", 1.0f), 0});
}

std::unique_ptr<Kernel> make_selu(const Node& node) {
  return make_float<SeluOp, kCostlyGrain>(
      node, {node.attribute_or("alpha", 1.67326319217681884765625f), node.attribute_or("gamma", 1.0507009873554804f)});
}

std::unique_ptr<Kernel> make_thresholded_relu(const Node& node) {
  return make_float<ThresholdedReluOp, kCheapGrain>(node, {node.attribute_or("alpha", 1.0f), 0});
}

std::unique_ptr<Kernel> make_swish(const Node& node) {
  return make_float<SwishOp, kCostlyGrain>(node, {node.attribute_or("alpha", 1.0f), 0});
}

}  // namespace

void register_activation(KernelRegistry& registry) {
  add_kernel(registry, "Relu", 1, 14, {{"T", kFloatTypes + kSignedTypes}}, &make_relu);
  add_kernel(registry, "LeakyRelu", 1, 16, {{"T", kFloatTypes}}, &make_leaky_relu);
  add_kernel(registry, "Elu", 1, 22, {{"T", kFloatTypes}}, &make_elu);
  add_kernel(registry, "Sigmoid", 1, 13, {{"T", kFloatTypes}}, &make_plain<SigmoidOp>);
  add_kernel(registry, "HardSigmoid", 1, 22, {{"T", kFloatTypes}}, &make_hard_sigmoid);
  add_kernel(registry, "HardSwish", 14, 22, {{"T", kFloatTypes}}, &make_plain<HardSwishOp>);
  add_kernel(registry, "Tanh", 1, 13, {{"T", kFloatTypes}}, &make_plain<TanhOp>);
  add_kernel(registry, "Softplus", 1, 22, {{"T", kFloatTypes}}, &make_plain<SoftplusOp>);
  add_kernel(registry, "ThresholdedRelu", 10, 22, {{"T", kFloatTypes}}, &make_thresholded_relu);
  add_kernel(registry, "Celu", 12, 28, {{"T", kFloatTypes}}, &make_celu);
  add_kernel(registry, "Selu", 1, 22, {{"T", kFloatTypes}}, &make_selu);
  add_kernel(registry, "Softsign", 1, 22, {{"T", kFloatTypes}}, &make_plain<SoftsignOp>);
  add_kernel(registry, "Swish", 24, 24, {{"T", kFloatTypes}}, &make_swish);
  add_kernel(registry, "Mish", 18, 22, {{"T", kFloatTypes}}, &make_plain<MishOp>);
  add_kernel(registry, "Shrink", 9, 9, {{"T", kNumericTypes}}, &make_shrink);
  add_kernel(registry, "Gelu", 20, 20, {{"T", kFloatTypes}}, &make_gelu);
}

}  // namespace onnx_light_ort::kernels
