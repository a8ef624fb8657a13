// Equal, Less, LessOrEqual, Greater, GreaterOrEqual. Any comparison with NaN is false.
#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

struct EqualOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T a, T b) {
    return a == b;
  }
};

// A bool is true by any nonzero byte.
struct EqualTruthOp {
  [[gnu::always_inline]] static bool apply(uint8_t a, uint8_t b) { return (a != 0) == (b != 0); }
};

struct LessOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T a, T b) {
    return a < b;
  }
};

struct LessOrEqualOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T a, T b) {
    return a <= b;
  }
};

struct GreaterOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T a, T b) {
    return a > b;
  }
};

struct GreaterOrEqualOp {
  template <class T>
  [[gnu::always_inline]] static bool apply(T a, T b) {
    return a >= b;
  }
};

template <class Op>
std::unique_ptr<Kernel> make_comparison(const Node& node) {
  const DataType type = input_type(node, 0);
  const BinaryLoops loops =
      dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
               uint64_t>(type, [](auto tag) { return binary_loops<Op, typename decltype(tag)::type, bool>(); });
  return make_binary_kernel("comparison", loops, type, DataType::kBool, kCheapGrain);
}

std::unique_ptr<Kernel> make_equal(const Node& node) {
  if (input_type(node, 0) != DataType::kBool) return make_comparison<EqualOp>(node);
  return make_binary_kernel("Equal", binary_loops<EqualTruthOp, uint8_t, bool>(), DataType::kBool, DataType::kBool,
                            kCheapGrain);
}

}  // namespace

void register_comparison(KernelRegistry& registry) {
  add_kernel(registry, "Equal", 7, 19, {{"T", kNumericTypes + kBoolType}}, &make_equal);
  add_kernel(registry, "Less", 7, 13, {{"T", kNumericTypes}}, &make_comparison<LessOp>);
  add_kernel(registry, "LessOrEqual", 12, 16, {{"T", kNumericTypes}}, &make_comparison<LessOrEqualOp>);
  add_kernel(registry, "Greater", 7, 13, {{"T", kNumericTypes}}, &make_comparison<GreaterOp>);
  add_kernel(registry, "GreaterOrEqual", 12, 16, {{"T", kNumericTypes}}, &make_comparison<GreaterOrEqualOp>);
}

}  // namespace onnx_light_ort::kernels
