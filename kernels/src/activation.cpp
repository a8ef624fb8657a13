// Activation functions: Relu, LeakyRelu, Elu, Sigmoid, HardSigmoid, HardSwish, Tanh, Softplus, Gelu.
#include <cmath>

#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"
#include "vector_math.h"

namespace onnx_light_ort::kernels {
namespace {

// NaN stays, as in ORT.
struct ReluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return x < T(0) ? T(0) : x;
  }
};

struct LeakyReluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x < T(0) ? static_cast<T>(parameters.alpha) * x : x;
  }
};

struct EluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x < T(0) ? static_cast<T>(parameters.alpha) * (vector_math::exp(x) - T(1)) : x;
  }
};

struct SigmoidOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::sigmoid(x);
  }
};

struct TanhOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::tanh(x);
  }
};

template <class T>
[[gnu::always_inline]] inline T hard_sigmoid(T x, T alpha, T beta) {
  const T y = alpha * x + beta;
  const T low = y < T(0) ? T(0) : y;
  return low > T(1) ? T(1) : low;
}

struct HardSigmoidOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return hard_sigmoid(x, static_cast<T>(parameters.alpha), static_cast<T>(parameters.beta));
  }
};

struct HardSwishOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return x * hard_sigmoid(x, T(1) / T(6), T(0.5));
  }
};

// log(1 + exp(x)), written so that exp does not overflow.
struct SoftplusOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    const T tail = std::log1p(std::exp(-std::abs(x)));
    return x > T(0) ? x + tail : tail;
  }
};

struct GeluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return T(0.5) * x * (T(1) + vector_math::erf(x * T(0.70710678118654752440)));
  }
};

struct TanhGeluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
    return T(0.5) * x * (T(1) + vector_math::tanh(inner));
  }
};

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
  const UnaryLoop loop = dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t>(
      type, [](auto tag) { return unary_loop<ReluOp, typename decltype(tag)::type>(); });
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

}  // namespace

void register_activation(KernelRegistry& registry) {
  add_kernel(registry, "Relu", 6, 14, {{"T", kFloatTypes + kSignedTypes}}, &make_relu);
  add_kernel(registry, "LeakyRelu", 6, 16, {{"T", kFloatTypes}}, &make_leaky_relu);
  add_kernel(registry, "Elu", 6, 22, {{"T", kFloatTypes}}, &make_elu);
  add_kernel(registry, "Sigmoid", 6, 13, {{"T", kFloatTypes}}, &make_plain<SigmoidOp>);
  add_kernel(registry, "HardSigmoid", 6, 22, {{"T", kFloatTypes}}, &make_hard_sigmoid);
  add_kernel(registry, "HardSwish", 14, 22, {{"T", kFloatTypes}}, &make_plain<HardSwishOp>);
  add_kernel(registry, "Tanh", 6, 13, {{"T", kFloatTypes}}, &make_plain<TanhOp>);
  add_kernel(registry, "Softplus", 1, 22, {{"T", kFloatTypes}}, &make_plain<SoftplusOp>);
  add_kernel(registry, "Gelu", 20, 20, {{"T", kFloatTypes}}, &make_gelu);
}

}  // namespace onnx_light_ort::kernels
