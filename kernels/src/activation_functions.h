// The activation functions as operators of elementwise.h.
#pragma once

#include <cmath>

#include "elementwise.h"
#include "half_order.h"
#include "integer_conversion.h"
#include "vector_math.h"

namespace onnx_light_ort::kernels {

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

}  // namespace onnx_light_ort::kernels
