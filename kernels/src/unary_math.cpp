// Functions of one element: Neg, Abs, Sign, Floor, Ceil, Round, Sqrt, Reciprocal, Exp, Log, Erf, Sin, Cos, IsNaN,
// IsInf.
#include <cmath>

#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"
#include "vector_math.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// Negation wraps around at the lowest number, so the unsigned loop serves the signed type.
struct NegOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return static_cast<T>(~x + 1u);
    }
  }
};

struct AbsOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else if constexpr (std::is_signed_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(x < 0 ? static_cast<U>(~static_cast<U>(x) + 1u) : static_cast<U>(x));
    } else {
      return x;
    }
  }
};

struct SignOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    if (x != x) return x;
    return static_cast<T>(static_cast<T>(x > T(0)) - static_cast<T>(x < T(0)));
  }
};

struct SqrtOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return std::sqrt(x);
  }
};

struct ReciprocalOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return T(1) / x;
  }
};

struct ExpOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::exp(x);
  }
};

struct LogOp : Bounded {
  [[gnu::always_inline]] static bool within(float x) {
    return x >= std::numeric_limits<float>::min() && x <= std::numeric_limits<float>::max();
  }
  static float beyond(float x) { return vector_math::log(x); }
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    if constexpr (std::is_same_v<T, float>) {
      return vector_math::log_of_normal(x);
    } else {
      return vector_math::log(x);
    }
  }
};

struct ErfOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::erf(x);
  }
};

struct FloorOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return std::floor(x);
  }
};

struct CeilOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return std::ceil(x);
  }
};

// Halves go to the even neighbour.
struct RoundOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return std::nearbyint(x);
  }
};

struct IsNanOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T x, const UnaryParameters&) {
    return x != x;
  }
};

struct IsInfOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T x, const UnaryParameters& limits) {
    return x == static_cast<T>(limits.alpha) || x == static_cast<T>(limits.beta);
  }
};

template <class Op, class Out = void>
UnaryLoop float_loop(DataType type) {
  return dispatch<float, double, Float16, BFloat16>(type, [](auto tag) {
    using T = typename decltype(tag)::type;
    return unary_loop<Op, T, std::conditional_t<std::is_void_v<Out>, T, Out>>();
  });
}

template <class Op, int64_t kGrain>
std::unique_ptr<Kernel> make_float(const Node& node) {
  const DataType type = input_type(node, 0);
  return make_unary_kernel(float_loop<Op>(type), type, {}, kGrain);
}

// Of float8 by the float that carries it.
std::unique_ptr<Kernel> make_is_nan(const Node& node) {
  const DataType type = input_type(node, 0);
  if (bit_size(type) == 8) return make_widened_kernel(node, &make_is_nan);
  return make_unary_kernel(float_loop<IsNanOp, bool>(type), type, {}, kCheapGrain);
}

std::unique_ptr<Kernel> make_is_inf(const Node& node) {
  const DataType type = input_type(node, 0);
  if (bit_size(type) == 8) return make_widened_kernel(node, &make_is_inf);
  // Compared with what is never equal to x where a sign is not wanted.
  const bool positive = node.attribute_or<int64_t>("detect_positive", 1) != 0;
  const bool negative = node.attribute_or<int64_t>("detect_negative", 1) != 0;
  const UnaryParameters limits{positive ? std::numeric_limits<float>::infinity() : std::nanf(""),
                               negative ? -std::numeric_limits<float>::infinity() : std::nanf("")};
  return make_unary_kernel(float_loop<IsInfOp, bool>(type), type, limits, kCheapGrain);
}

template <class Op>
std::unique_ptr<Kernel> make_numeric(const Node& node) {
  const DataType type = input_type(node, 0);
  const UnaryLoop loop =
      dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t>(type, [](auto tag) { return unary_loop<Op, typename decltype(tag)::type>(); });
  return make_unary_kernel(loop, type, {}, kCheapGrain);
}

DataType integer_as_float(DataType type) noexcept {
  switch (type) {
    case DataType::kDouble:
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return type;
    default:
      return DataType::kFloat;
  }
}

// Of integers, -1, 0 and 1: the fraction is cut off.
std::unique_ptr<Kernel> make_erf(const Node& node) {
  if (integer_as_float(input_type(node, 0)) == input_type(node, 0)) return make_float<ErfOp, kCostlyGrain>(node);
  return make_widened_kernel(node, &make_erf, &integer_as_float);
}

// Of 16-bit floats only the sign bit changes.
struct FlipSignOp {
  [[gnu::always_inline]] static uint16_t apply(uint16_t bits, const UnaryParameters&) { return bits ^ 0x8000u; }
};

struct ClearSignOp {
  [[gnu::always_inline]] static uint16_t apply(uint16_t bits, const UnaryParameters&) { return bits & 0x7FFFu; }
};

std::unique_ptr<Kernel> make_abs(const Node& node) {
  const DataType type = input_type(node, 0);
  if (!is_half(type)) return make_numeric<AbsOp>(node);
  return make_unary_kernel(unary_loop<ClearSignOp, uint16_t>(), type, {}, kCheapGrain);
}

std::unique_ptr<Kernel> make_neg(const Node& node) {
  const DataType type = input_type(node, 0);
  switch (type) {
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return make_unary_kernel(unary_loop<FlipSignOp, uint16_t>(), type, {}, kCheapGrain);
    case DataType::kInt8:
      return make_unary_kernel(unary_loop<NegOp, uint8_t>(), type, {}, kCheapGrain);
    case DataType::kInt16:
      return make_unary_kernel(unary_loop<NegOp, uint16_t>(), type, {}, kCheapGrain);
    case DataType::kInt32:
      return make_unary_kernel(unary_loop<NegOp, uint32_t>(), type, {}, kCheapGrain);
    case DataType::kInt64:
      return make_unary_kernel(unary_loop<NegOp, uint64_t>(), type, {}, kCheapGrain);
    default:
      return make_unary_kernel(float_loop<NegOp>(type), type, {}, kCheapGrain);
  }
}

}  // namespace

void register_unary_math(KernelRegistry& registry) {
  add_kernel(registry, "Neg", 1, 13, {{"T", kFloatTypes + kSignedTypes}}, &make_neg);
  add_kernel(registry, "Abs", 1, 13, {{"T", kNumericTypes}}, &make_abs);
  add_kernel(registry, "Sign", 9, 13, {{"T", kNumericTypes}}, &make_numeric<SignOp>);
  add_kernel(registry, "Sqrt", 1, 13, {{"T", kFloatTypes}}, &make_float<SqrtOp, kCheapGrain>);
  add_kernel(registry, "Reciprocal", 1, 13, {{"T", kFloatTypes}}, &make_float<ReciprocalOp, kCheapGrain>);
  add_kernel(registry, "Exp", 1, 13, {{"T", kFloatTypes}}, &make_float<ExpOp, kCostlyGrain>);
  add_kernel(registry, "Log", 1, 13, {{"T", kFloatTypes}}, &make_float<LogOp, kCostlyGrain>);
  add_kernel(registry, "Erf", 9, 13, {{"T", kNumericTypes}}, &make_erf);
  add_kernel(registry, "Floor", 1, 13, {{"T", kFloatTypes}}, &make_float<FloorOp, kCheapGrain>);
  add_kernel(registry, "Ceil", 1, 13, {{"T", kFloatTypes}}, &make_float<CeilOp, kCheapGrain>);
  add_kernel(registry, "Round", 11, 22, {{"T", kFloatTypes}}, &make_float<RoundOp, kCheapGrain>);
  const TypeList special = kFloatTypes + TypeList{DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                                  DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ};
  add_kernel(registry, "IsNaN", 9, 20, {{"T1", special}}, &make_is_nan);
  add_kernel(registry, "IsInf", 10, 20, {{"T1", special}}, &make_is_inf);
}

}  // namespace onnx_light_ort::kernels
