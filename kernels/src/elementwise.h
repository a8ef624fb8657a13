// Kernels that compute each output element from the input elements at the same place, and the inner loops behind them.
//
// An operator is a struct with static always_inline functions apply(x) or apply(a, b). From it, a typed loop is made
// for each element type; the kernel classes here know shapes, broadcasting and threads, and only call the loop.
// Loops of 16-bit floats compute in float and round once: two operands of bfloat16 as they are, anything else a
// block at a time, by float's loop. What needs their sign and order only looks at their bits.
#pragma once

#include <cstring>
#include <memory>

#include "cpu_level.h"
#include "element_type.h"
#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// Parameters of an operator that its attributes give.
struct UnaryParameters {
  float alpha = 0;
  float beta = 0;
};

/// y[i] = f(x[i]) for i in [0, n); y may be x.
using UnaryLoop = void (*)(const void* x, void* y, int64_t n, const UnaryParameters& parameters);

/// out[i] = f(a[i], b[i]) for i in [0, n); out may be a or b.
using BinaryLoop = void (*)(const void* a, const void* b, void* out, int64_t n);

/// The three loops of a binary operator: a operand marked scalar is read at one place only.
struct BinaryLoops {
  BinaryLoop both = nullptr;
  BinaryLoop scalar_a = nullptr;
  BinaryLoop scalar_b = nullptr;
};

/// Elements that one thread should have at least, by the operator's cost.
inline constexpr int64_t kCheapGrain = 32768;
inline constexpr int64_t kCostlyGrain = 4096;

std::unique_ptr<Kernel> make_unary_kernel(UnaryLoop loop, DataType type, const UnaryParameters& parameters,
                                          int64_t grain);

/// `op` must outlive the kernel: a literal.
std::unique_ptr<Kernel> make_binary_kernel(const char* op, const BinaryLoops& loops, DataType in, DataType out,
                                           int64_t grain);

/// A binary operator folded over one or more inputs from the left, all broadcast to one shape; in and out types agree.
/// finish, if any, is applied to the result in place, with the number of inputs as alpha.
std::unique_ptr<Kernel> make_fold_kernel(const char* op, const BinaryLoops& loops, UnaryLoop finish, DataType type);

inline constexpr int64_t kHalfBlock = 512;

/// Base of operators that compute long enough for the widest vectors, in float.
struct Costly {};

/// Base of operators whose float loop holds where Op::within(x), or Op::within(a, b), only: a block with anything else
/// takes Op::beyond, one element after the other.
struct Bounded : Costly {};

/// Elements that are looked at and still found in the nearest cache when they are computed.
inline constexpr int64_t kBoundedBlock = 1024;

template <class Op, class In, class Out>
[[gnu::always_inline]] inline void unary_run(const In* x, Out* y, int64_t n, const UnaryParameters& parameters) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Op::apply(x[i], parameters));
}

template <class Op, class In, class Out>
[[gnu::always_inline]] inline void unary_body(const void* x_data, void* y_data, int64_t n,
                                              const UnaryParameters& parameters) {
  const In* x = static_cast<const In*>(x_data);
  Out* y = static_cast<Out*>(y_data);
  const UnaryParameters local = parameters;
  if constexpr (std::is_base_of_v<Bounded, Op> && std::is_same_v<In, float>) {
    for (int64_t begin = 0; begin < n; begin += kBoundedBlock) {
      const int64_t end = n - begin < kBoundedBlock ? n : begin + kBoundedBlock;
      int inside = 1;
      for (int64_t i = begin; i < end; ++i) inside &= Op::within(x[i]);
      if (inside != 0) {
        unary_run<Op>(x + begin, y + begin, end - begin, local);
      } else {
        for (int64_t i = begin; i < end; ++i) y[i] = Op::beyond(x[i]);
      }
    }
  } else {
    unary_run<Op>(x, y, n, local);
  }
}

template <class Op, class In, class Out>
UnaryLoop best_unary_loop() {
  if constexpr (std::is_base_of_v<Costly, Op> && std::is_same_v<In, float>) {
    return CostlyVersions<&unary_body<Op, In, Out>>::best();
  } else {
    return Versions<&unary_body<Op, In, Out>>::best();
  }
}

template <class Op, class Half, class Out>
void half_unary_loop(const void* x_data, void* y_data, int64_t n, const UnaryParameters& parameters) {
  using FloatOut = std::conditional_t<kIsHalf<Out>, float, Out>;
  static const UnaryLoop loop = best_unary_loop<Op, float, FloatOut>();
  alignas(64) float x[kHalfBlock];
  for (int64_t i = 0; i < n; i += kHalfBlock) {
    const int64_t count = n - i < kHalfBlock ? n - i : kHalfBlock;
    widen(static_cast<const Half*>(x_data) + i, x, count);
    if constexpr (kIsHalf<Out>) {
      loop(x, x, count, parameters);
      narrow(x, static_cast<Out*>(y_data) + i, count);
    } else {
      loop(x, static_cast<Out*>(y_data) + i, count, parameters);
    }
  }
}

/// Loop of Op from In to Out (to In where Out is left out).
template <class Op, class In, class Out = In>
UnaryLoop unary_loop() {
  if constexpr (kIsHalf<In>) {
    return &half_unary_loop<Op, In, Out>;
  } else {
    return best_unary_loop<Op, In, Out>();
  }
}

/// An element as what it is computed in.
template <class T>
[[gnu::always_inline]] inline T computed(T x) {
  return x;
}
[[gnu::always_inline]] inline float computed(BFloat16 x) { return to_float(x); }

template <class Op, class In, class Out, int kStrideA, int kStrideB>
[[gnu::always_inline]] inline void binary_run(const In* a, const In* b, Out* out, int64_t n) {
  const auto a0 = computed(a[0]);
  const auto b0 = computed(b[0]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<Out>(Op::apply(kStrideA ? computed(a[i]) : a0, kStrideB ? computed(b[i]) : b0));
  }
}

template <class Op, class In, class Out, int kStrideA, int kStrideB>
[[gnu::always_inline]] inline void binary_body(const void* a_data, const void* b_data, void* out_data, int64_t n) {
  const In* a = static_cast<const In*>(a_data);
  const In* b = static_cast<const In*>(b_data);
  Out* out = static_cast<Out*>(out_data);
  if constexpr (std::is_base_of_v<Bounded, Op> && std::is_same_v<In, float>) {
    for (int64_t begin = 0; begin < n; begin += kBoundedBlock) {
      const int64_t end = n - begin < kBoundedBlock ? n : begin + kBoundedBlock;
      int inside = 1;
      for (int64_t i = begin; i < end; ++i) inside &= Op::within(a[i * kStrideA], b[i * kStrideB]);
      if (inside != 0) {
        binary_run<Op, In, Out, kStrideA, kStrideB>(a + begin * kStrideA, b + begin * kStrideB, out + begin,
                                                    end - begin);
      } else {
        for (int64_t i = begin; i < end; ++i) out[i] = Op::beyond(a[i * kStrideA], b[i * kStrideB]);
      }
    }
  } else {
    binary_run<Op, In, Out, kStrideA, kStrideB>(a, b, out, n);
  }
}

template <class Op, class In, class Out, int kStrideA, int kStrideB>
BinaryLoop best_binary_loop() {
  if constexpr (std::is_base_of_v<Costly, Op> && std::is_same_v<In, float>) {
    return CostlyVersions<&binary_body<Op, In, Out, kStrideA, kStrideB>>::best();
  } else {
    return Versions<&binary_body<Op, In, Out, kStrideA, kStrideB>>::best();
  }
}

/// Upper half: the float rounded to bfloat16. The NaN of a sum or product of bfloat16 numbers has its low bits clear,
/// so that rounding leaves it alone.
[[gnu::always_inline]] inline uint32_t rounded_bits(float x) {
  const auto bits = bits_as<uint32_t>(x);
  return bits + 0x7FFFu + ((bits >> 16) & 1u);
}

/// bfloat16 in pairs, as words of 32 bits: the element in the upper half is a float already, but for the lower half's
/// bits below it, and no lane of a vector has to move.
template <class Op, int kStrideA, int kStrideB>
[[gnu::always_inline]] inline void binary_pair_body(const void* a_data, const void* b_data, void* out_data, int64_t n) {
  constexpr uint32_t kUpper = 0xFFFF0000u;
  const BFloat16* a = static_cast<const BFloat16*>(a_data);
  const BFloat16* b = static_cast<const BFloat16*>(b_data);
  BFloat16* out = static_cast<BFloat16*>(out_data);
  const float a0 = to_float(a[0]);
  const float b0 = to_float(b[0]);
  const int64_t pairs = n / 2;
#pragma GCC ivdep
  for (int64_t i = 0; i < pairs; ++i) {
    uint32_t a_pair = 0;
    uint32_t b_pair = 0;
    if (kStrideA != 0) std::memcpy(&a_pair, a + 2 * i, sizeof a_pair);
    if (kStrideB != 0) std::memcpy(&b_pair, b + 2 * i, sizeof b_pair);
    const float low =
        Op::apply(kStrideA ? bits_as<float>(a_pair << 16) : a0, kStrideB ? bits_as<float>(b_pair << 16) : b0);
    const float high =
        Op::apply(kStrideA ? bits_as<float>(a_pair & kUpper) : a0, kStrideB ? bits_as<float>(b_pair & kUpper) : b0);
    const uint32_t pair = (rounded_bits(low) >> 16) | (rounded_bits(high) & kUpper);
    std::memcpy(out + 2 * i, &pair, sizeof pair);
  }
  if (n % 2 != 0) {
    const float last = Op::apply(kStrideA ? to_float(a[n - 1]) : a0, kStrideB ? to_float(b[n - 1]) : b0);
    out[n - 1] = BFloat16{static_cast<uint16_t>(rounded_bits(last) >> 16)};
  }
}

template <class Op, class Half, class Out, int kStrideA, int kStrideB>
void half_binary_loop(const void* a_data, const void* b_data, void* out_data, int64_t n) {
  using FloatOut = std::conditional_t<kIsHalf<Out>, float, Out>;
  static const BinaryLoop loop = best_binary_loop<Op, float, FloatOut, kStrideA, kStrideB>();
  alignas(64) float a[kHalfBlock];
  alignas(64) float b[kHalfBlock];
  const Half* half_a = static_cast<const Half*>(a_data);
  const Half* half_b = static_cast<const Half*>(b_data);
  if (kStrideA == 0) a[0] = to_float(*half_a);
  if (kStrideB == 0) b[0] = to_float(*half_b);
  for (int64_t i = 0; i < n; i += kHalfBlock) {
    const int64_t count = n - i < kHalfBlock ? n - i : kHalfBlock;
    if (kStrideA != 0) widen(half_a + i, a, count);
    if (kStrideB != 0) widen(half_b + i, b, count);
    if constexpr (kIsHalf<Out>) {
      float* result = kStrideA != 0 ? a : b;
      loop(a, b, result, count);
      narrow(result, static_cast<Out*>(out_data) + i, count);
    } else {
      loop(a, b, static_cast<Out*>(out_data) + i, count);
    }
  }
}

/// Loops of Op from In to Out (to In where Out is left out).
template <class Op, class In, class Out = In>
BinaryLoops binary_loops() {
  if constexpr (std::is_same_v<In, BFloat16> && std::is_same_v<Out, BFloat16> && !std::is_base_of_v<Bounded, Op>) {
    return {Versions<&binary_pair_body<Op, 1, 1>>::best(), Versions<&binary_pair_body<Op, 0, 1>>::best(),
            Versions<&binary_pair_body<Op, 1, 0>>::best()};
  } else if constexpr (std::is_same_v<In, Float16> || (kIsHalf<In> && std::is_base_of_v<Bounded, Op>)) {
    return {&half_binary_loop<Op, In, Out, 1, 1>, &half_binary_loop<Op, In, Out, 0, 1>,
            &half_binary_loop<Op, In, Out, 1, 0>};
  } else {
    return {best_binary_loop<Op, In, Out, 1, 1>(), best_binary_loop<Op, In, Out, 0, 1>(),
            best_binary_loop<Op, In, Out, 1, 0>()};
  }
}

}  // namespace onnx_light_ort::kernels
