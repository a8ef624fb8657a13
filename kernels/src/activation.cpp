// Activation functions: Relu, LeakyRelu, ThresholdedRelu, Elu, Celu, Selu, Sigmoid, HardSigmoid, HardSwish, Swish,
// Tanh, Softplus, Softsign, Mish, Gelu, Shrink.
#include <cmath>

#include "elementwise.h"
#include "half_order.h"
#include "integer_conversion.h"
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

// Negative numbers, NaN excepted, are one interval of the bits.
template <class Half>
struct HalfReluOp {
  [[gnu::always_inline]] static uint16_t apply(uint16_t bits, const UnaryParameters&) {
    return static_cast<uint16_t>(bits - 0x8001u) < kInfinityBits<Half> ? uint16_t{0} : bits;
  }
};

struct LeakyReluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x < T(0) ? static_cast<T>(parameters.alpha) * x : x;
  }
};

struct EluOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x < T(0) ? static_cast<T>(parameters.alpha) * (vector_math::exp(x) - T(1)) : x;
  }
};

// alpha is the scale below zero, beta what x is divided by there.
struct CeluOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    const auto alpha = static_cast<T>(parameters.alpha);
    return x < T(0) ? alpha * (vector_math::exp(x / alpha) - T(1)) : x;
  }
};

// beta is gamma.
struct SeluOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    const auto alpha = static_cast<T>(parameters.alpha);
    return static_cast<T>(parameters.beta) * (x < T(0) ? alpha * (vector_math::exp(x) - T(1)) : x);
  }
};

struct ThresholdedReluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x > static_cast<T>(parameters.alpha) ? x : T(0);
  }
};

struct SoftsignOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return x / (T(1) + std::abs(x));
  }
};

struct SwishOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x * vector_math::sigmoid(static_cast<T>(parameters.alpha) * x);
  }
};

// Toward zero by beta outside [-alpha, alpha], zero inside. Integers are computed in double.
struct ShrinkOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    using Wide = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const auto wide = static_cast<Wide>(x);
    const auto limit = static_cast<Wide>(parameters.alpha);
    const auto bias = static_cast<Wide>(parameters.beta);
    const Wide y = wide < -limit ? wide + bias : wide > limit ? wide - bias : Wide(0);
    if constexpr (std::is_integral_v<T>) return integer_from<T>(y);
    return static_cast<T>(y);
  }
};

struct SigmoidOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::sigmoid(x);
  }
};

struct TanhOp : Costly {
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
struct SoftplusOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    const T tail = vector_math::log1p(vector_math::exp(-std::abs(x)));
    return x > T(0) ? x + tail : tail;
  }
};

// x * tanh(softplus(x)); with e = exp(x), the tanh is e (e + 2) / (e (e + 2) + 2).
struct MishOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    const T e = vector_math::exp(x > T(20) ? T(20) : x);
    const T n = e * (e + T(2));
    return x > T(20) ? x : x * (n / (n + T(2)));
  }
};

struct GeluOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return T(0.5) * x * (T(1) + vector_math::erf(x * T(0.70710678118654752440)));
  }
};

struct TanhGeluOp : Costly {
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
  add_kernel(registry, "Relu", 6, 14, {{"T", kFloatTypes + kSignedTypes}}, &make_relu);
  add_kernel(registry, "LeakyRelu", 6, 16, {{"T", kFloatTypes}}, &make_leaky_relu);
  add_kernel(registry, "Elu", 6, 22, {{"T", kFloatTypes}}, &make_elu);
  add_kernel(registry, "Sigmoid", 6, 13, {{"T", kFloatTypes}}, &make_plain<SigmoidOp>);
  add_kernel(registry, "HardSigmoid", 6, 22, {{"T", kFloatTypes}}, &make_hard_sigmoid);
  add_kernel(registry, "HardSwish", 14, 22, {{"T", kFloatTypes}}, &make_plain<HardSwishOp>);
  add_kernel(registry, "Tanh", 6, 13, {{"T", kFloatTypes}}, &make_plain<TanhOp>);
  add_kernel(registry, "Softplus", 1, 22, {{"T", kFloatTypes}}, &make_plain<SoftplusOp>);
  add_kernel(registry, "ThresholdedRelu", 10, 22, {{"T", kFloatTypes}}, &make_thresholded_relu);
  add_kernel(registry, "Celu", 12, 28, {{"T", kFloatTypes}}, &make_celu);
  add_kernel(registry, "Selu", 6, 22, {{"T", kFloatTypes}}, &make_selu);
  add_kernel(registry, "Softsign", 1, 22, {{"T", kFloatTypes}}, &make_plain<SoftsignOp>);
  add_kernel(registry, "Swish", 24, 24, {{"T", kFloatTypes}}, &make_swish);
  add_kernel(registry, "Mish", 18, 22, {{"T", kFloatTypes}}, &make_plain<MishOp>);
  add_kernel(registry, "Shrink", 9, 9, {{"T", kNumericTypes}}, &make_shrink);
  add_kernel(registry, "Gelu", 20, 20, {{"T", kFloatTypes}}, &make_gelu);
}

}  // namespace onnx_light_ort::kernels
