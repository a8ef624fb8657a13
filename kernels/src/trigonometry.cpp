// Sin, Cos, Tan, their inverses and the hyperbolic functions.
#include <cmath>

#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"
#include "vector_trigonometry.h"

namespace onnx_light_ort::kernels {
namespace {

struct SinOp : Bounded {
  [[gnu::always_inline]] static bool within(float x) { return std::fabs(x) <= vector_math::kLargestAngle; }
  static float beyond(float x) { return std::sin(x); }
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::sin(x);
  }
};

struct CosOp : Bounded {
  [[gnu::always_inline]] static bool within(float x) { return std::fabs(x) <= vector_math::kLargestAngle; }
  static float beyond(float x) { return std::cos(x); }
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::cos(x);
  }
};

struct TanOp : Bounded {
  [[gnu::always_inline]] static bool within(float x) { return std::fabs(x) <= vector_math::kLargestAngle; }
  static float beyond(float x) { return std::tan(x); }
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::tan(x);
  }
};

struct AsinOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::asin(x);
  }
};

struct AcosOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::acos(x);
  }
};

struct AtanOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::atan(x);
  }
};

struct SinhOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::sinh(x);
  }
};

struct CoshOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::cosh(x);
  }
};

struct AsinhOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::asinh(x);
  }
};

struct AcoshOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::acosh(x);
  }
};

struct AtanhOp : Bounded {
  [[gnu::always_inline]] static bool within(float x) { return std::fabs(x) < 1.0f; }
  static float beyond(float x) { return std::atanh(x); }
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return vector_math::atanh(x);
  }
};

template <class Op>
std::unique_ptr<Kernel> make(const Node& node) {
  const DataType type = input_type(node, 0);
  const UnaryLoop loop = dispatch<float, double, Float16, BFloat16>(
      type, [](auto tag) { return unary_loop<Op, typename decltype(tag)::type>(); });
  return make_unary_kernel(loop, type, {}, kCostlyGrain);
}

}  // namespace

void register_trigonometry(KernelRegistry& registry) {
  add_kernel(registry, "Sin", 7, 22, {{"T", kFloatTypes}}, &make<SinOp>);
  add_kernel(registry, "Cos", 7, 22, {{"T", kFloatTypes}}, &make<CosOp>);
  add_kernel(registry, "Tan", 7, 22, {{"T", kFloatTypes}}, &make<TanOp>);
  add_kernel(registry, "Asin", 7, 22, {{"T", kFloatTypes}}, &make<AsinOp>);
  add_kernel(registry, "Acos", 7, 22, {{"T", kFloatTypes}}, &make<AcosOp>);
  add_kernel(registry, "Atan", 7, 22, {{"T", kFloatTypes}}, &make<AtanOp>);
  add_kernel(registry, "Sinh", 9, 22, {{"T", kFloatTypes}}, &make<SinhOp>);
  add_kernel(registry, "Cosh", 9, 22, {{"T", kFloatTypes}}, &make<CoshOp>);
  add_kernel(registry, "Asinh", 9, 22, {{"T", kFloatTypes}}, &make<AsinhOp>);
  add_kernel(registry, "Acosh", 9, 22, {{"T", kFloatTypes}}, &make<AcoshOp>);
  add_kernel(registry, "Atanh", 9, 22, {{"T", kFloatTypes}}, &make<AtanhOp>);
}

}  // namespace onnx_light_ort::kernels
