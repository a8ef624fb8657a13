// Add, Sub, Mul, Div, Mod, PRelu, Pow and the variadic Sum, Mean, Min, Max. Integers wrap around; Min and Max propagate
// NaN.
#include <cmath>

#include "broadcast.h"
#include "converted_tensor.h"
#include "elementwise.h"
#include "half_order.h"
#include "integer_conversion.h"
#include "native_kernels.h"
#include "power_loop.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// Unsigned type in which T's arithmetic wraps without overflowing int; T itself for floating point.
template <class T>
struct Wrapping {
  using type = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
};
template <>
struct Wrapping<float> {
  using type = float;
};
template <>
struct Wrapping<double> {
  using type = double;
};

struct AddOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};

struct SubOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
  }
};

struct MulOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};

// Integer division truncates; by zero it gives zero, as numpy does, and the lowest number by -1 wraps around.
struct DivOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return SubOp::apply(T(0), a);
      }
      return static_cast<T>(a / b);
    }
  }
};

struct MaxOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T larger = a > b ? a : b;  // b where either is NaN
      return a != a ? a : larger;
    } else {
      return a > b ? a : b;
    }
  }
};

struct MinOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T smaller = a < b ? a : b;
      return a != a ? a : smaller;
    } else {
      return a < b ? a : b;
    }
  }
};

// The remainder of the division that truncates: it has the dividend's sign. By zero it gives zero for integers, as
// numpy does.
//
// Of floats whose quotient is below 2^29, in double: the quotient's integer part has 29 bits, a divisor 24, hence their
// product is exact, and so is what remains. Where the quotient was rounded up to an integer, what remains is negative.
struct FmodOp : Bounded {
  [[gnu::always_inline]] static bool within(float a, float b) {
    return (std::fabs(a) < std::fabs(b) * 0x1p29f) & (std::fabs(b) <= std::numeric_limits<float>::max());
  }
  static float beyond(float a, float b) { return std::fmod(a, b); }

  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    if constexpr (std::is_same_v<T, float>) {
      const double dividend = std::fabs(a);
      const double divisor = std::fabs(b);
      const double rest = dividend - static_cast<double>(static_cast<int32_t>(dividend / divisor)) * divisor;
      return std::copysign(static_cast<float>(rest < 0 ? rest + divisor : rest), a);
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return 0;
      }
      return static_cast<T>(a % b);
    }
  }
};

// The remainder of the division that rounds down: it has the divisor's sign.
struct ModOp : Bounded {
  [[gnu::always_inline]] static bool within(float a, float b) { return FmodOp::within(a, b); }
  static float beyond(float a, float b) { return with_sign_of_divisor(FmodOp::beyond(a, b), b); }

  template <class T>
  [[gnu::always_inline]] static T with_sign_of_divisor(T remainder, T b) {
    if constexpr (std::is_unsigned_v<T>) {
      return remainder;
    } else {
      return remainder != 0 && (remainder < 0) != (b < 0) ? static_cast<T>(remainder + b) : remainder;
    }
  }

  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return with_sign_of_divisor(FmodOp::apply(a, b), b);
  }
};

struct PReluOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, T slope) {
    return x < T(0) ? MulOp::apply(x, slope) : x;
  }
};

// The larger, or smaller, of two 16-bit floats by their order; NaN wins.
template <class Half, bool kMax>
struct HalfExtremumOp {
  [[gnu::always_inline]] static uint16_t apply(uint16_t a, uint16_t b) {
    const bool first = kMax ? order_of_bits(a) > order_of_bits(b) : order_of_bits(a) < order_of_bits(b);
    const uint16_t ordered = first ? a : b;
    const uint16_t b_or_ordered = is_nan_bits<Half>(b) ? b : ordered;
    return is_nan_bits<Half>(a) ? a : b_or_ordered;
  }
};

template <class Op, bool kMax>
BinaryLoops extremum_loops(DataType type) {
  if (type == DataType::kFloat16) return binary_loops<HalfExtremumOp<Float16, kMax>, uint16_t>();
  if (type == DataType::kBFloat16) return binary_loops<HalfExtremumOp<BFloat16, kMax>, uint16_t>();
  return dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      type, [](auto tag) { return binary_loops<Op, typename decltype(tag)::type>(); });
}

struct DivideByCountOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return x / static_cast<T>(parameters.alpha);
  }
};

// Addition and its kin do not look at the sign, so the unsigned loop serves both signs.
template <class Op>
BinaryLoops wrapping_loops(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return binary_loops<Op, uint8_t>();
    case DataType::kInt16:
      return binary_loops<Op, uint16_t>();
    case DataType::kInt32:
      return binary_loops<Op, uint32_t>();
    case DataType::kInt64:
      return binary_loops<Op, uint64_t>();
    default:
      return dispatch<float, double, Float16, BFloat16, uint8_t, uint16_t, uint32_t, uint64_t>(
          type, [](auto tag) { return binary_loops<Op, typename decltype(tag)::type>(); });
  }
}

template <class Op>
BinaryLoops numeric_loops(DataType type) {
  return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                  uint64_t>(type, [](auto tag) { return binary_loops<Op, typename decltype(tag)::type>(); });
}

BinaryLoops loops_for(const Node& node) {
  const DataType type = input_type(node, 0);
  if (node.op_type == "Add" || node.op_type == "Sum" || node.op_type == "Mean") return wrapping_loops<AddOp>(type);
  if (node.op_type == "Sub") return wrapping_loops<SubOp>(type);
  if (node.op_type == "Mul") return wrapping_loops<MulOp>(type);
  if (node.op_type == "Div") return numeric_loops<DivOp>(type);
  if (node.op_type == "Max") return extremum_loops<MaxOp, true>(type);
  return extremum_loops<MinOp, false>(type);
}

std::unique_ptr<Kernel> make_arithmetic(const Node& node) {
  const DataType type = input_type(node, 0);
  return make_binary_kernel("arithmetic", loops_for(node), type, type, kCheapGrain);
}

std::unique_ptr<Kernel> make_mod(const Node& node) {
  const DataType type = input_type(node, 0);
  const BinaryLoops loops =
      node.attribute_or<int64_t>("fmod", 0) != 0 ? numeric_loops<FmodOp>(type) : numeric_loops<ModOp>(type);
  return make_binary_kernel("Mod", loops, type, type, kCostlyGrain);
}

// The slope is to broadcast to x; where it has the larger shape, the result has it too, as in ORT.
std::unique_ptr<Kernel> make_prelu(const Node& node) {
  const DataType type = input_type(node, 0);
  const BinaryLoops loops = dispatch<float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(
      type, [](auto tag) { return binary_loops<PReluOp, typename decltype(tag)::type>(); });
  return make_binary_kernel("PRelu", loops, type, type, kCheapGrain);
}

std::unique_ptr<Kernel> make_fold(const Node& node) {
  const DataType type = input_type(node, 0);
  UnaryLoop finish = nullptr;
  if (node.op_type == "Mean") {
    finish = dispatch<float, double, Float16, BFloat16>(
        type, [](auto tag) { return unary_loop<DivideByCountOp, typename decltype(tag)::type>(); });
  }
  return make_fold_kernel("fold", loops_for(node), finish, type);
}

// Pow -----------------------------------------------------------------------------------------------------------------

// Of bases other than float, in double; an integer result out of range is the lowest number.
template <class Base, class Exponent>
Base power(Base base, Exponent exponent) {
  const double result = std::pow(static_cast<double>(base), static_cast<double>(exponent));
  if constexpr (std::is_integral_v<Base>) return integer_from<Base>(result);
  return static_cast<Base>(result);
}

struct SquareOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return x * x;
  }
};

struct CubeOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return x * x * x;
  }
};

// pow(x, 1/2) differs from the square root at -infinity and at -0.
struct HalfPowerOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return x == -std::numeric_limits<T>::infinity() ? -x : std::sqrt(x) + T(0);
  }
};

template <class Base, class Exponent>
class PowKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView y = converted(context, context.required_input(1), kDataTypeOf<Exponent>);
    const TensorView* operands[] = {&x, &y};
    const Dims dims = broadcast_dims("Pow", operands, 2);
    if constexpr (std::is_floating_point_v<Base>) {
      if (y.element_count == 1 && dims.equals(x) && x.is_dense()) {
        const auto exponent = static_cast<double>(*y.as<Exponent>());
        if (const UnaryLoop loop = simple_power(exponent)) {
          const TensorView& z = context.output_reusing_input(0, 0, x.dims, x.rank);
          context.parallel_for(z.element_count, kCheapGrain, [&](int64_t begin, int64_t end) {
            loop(x.as<Base>() + begin, z.as<Base>() + begin, end - begin, UnaryParameters{});
          });
          return;
        }
      }
    }
    const TensorView& z = context.output(0, dims.data(), dims.size());
    if (z.element_count == 0) return;
    const BroadcastPlan<2> plan(dims, {&x, &y});
    const std::array<size_t, 2> widths = {sizeof(Base), sizeof(Exponent)};
    plan.for_each_dense_run(context, {x.data, y.data}, widths, kCostlyGrain, [&](const BroadcastRun<2>& run) {
      const Base* base = reinterpret_cast<const Base*>(run.from[0]);
      const Exponent* exponent = reinterpret_cast<const Exponent*>(run.from[1]);
      const int64_t stride_x = run.single[0] ? 0 : 1;
      const int64_t stride_y = run.single[1] ? 0 : 1;
      Base* out = z.as<Base>() + run.position;
      if constexpr (std::is_same_v<Base, float>) {
        power_loop(base, stride_x, exponent, stride_y, out, run.n);
      } else {
        for (int64_t i = 0; i < run.n; ++i) out[i] = power(base[i * stride_x], exponent[i * stride_y]);
      }
    });
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  // Fast path of the exponents that models use; null for any other.
  static UnaryLoop simple_power(double exponent) {
    if (exponent == 2) return unary_loop<SquareOp, Base>();
    if (exponent == 3) return unary_loop<CubeOp, Base>();
    if (exponent == 0.5) return unary_loop<HalfPowerOp, Base>();
    return nullptr;
  }
};

// The type that an exponent is computed in: one that holds its values, but that uint64 is rounded to double.
DataType exponent_type(DataType type) {
  switch (type) {
    case DataType::kUInt64:
      return DataType::kDouble;
    case DataType::kUInt32:
      return DataType::kInt64;
    case DataType::kInt8:
    case DataType::kUInt8:
    case DataType::kInt16:
    case DataType::kUInt16:
      return DataType::kInt32;
    default:
      return type;
  }
}

std::unique_ptr<Kernel> make_pow(const Node& node) {
  return dispatch<float, double, int32_t, int64_t>(input_type(node, 0), [&](auto base) {
    return dispatch<float, double, int32_t, int64_t>(exponent_type(input_type(node, 1)), [&](auto exponent) {
      using Base = typename decltype(base)::type;
      using Exponent = typename decltype(exponent)::type;
      return std::unique_ptr<Kernel>(std::make_unique<PowKernel<Base, Exponent>>());
    });
  });
}

}  // namespace

void register_arithmetic(KernelRegistry& registry) {
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    add_kernel(registry, op, 7, 14, {{"T", kNumericTypes}}, &make_arithmetic);
  }
  add_kernel(registry, "Mod", 10, 28, {{"T", kNumericTypes}}, &make_mod);
  add_kernel(registry, "PRelu", 7, 16, {{"T", kFloatTypes + kWideIntegerTypes}}, &make_prelu);
  for (const char* op : {"Max", "Min"}) {
    add_kernel(registry, op, 6, 13, {{"T", kNumericTypes}}, &make_fold);
  }
  for (const char* op : {"Sum", "Mean"}) {
    add_kernel(registry, op, 6, 13, {{"T", kFloatTypes}}, &make_fold);
  }
  const TypeList powers = kFloatTypes + kIndexTypes;
  add_kernel(registry, "Pow", 7, 7, {{"T", kFloatTypes}}, &with_half<&make_pow>);
  add_kernel(registry, "Pow", 12, 15, {{"T", powers}, {"T1", kNumericTypes}}, &with_half<&make_pow>);
}

}  // namespace onnx_light_ort::kernels
