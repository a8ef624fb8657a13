// Cast and CastLike between the numeric types and bool. 16-bit floats go through float on either side.
#include "cpu_level.h"
#include "dims.h"
#include "elementwise.h"
#include "integer_conversion.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

using CastLoop = void (*)(const void* x, void* y, int64_t n);

// In and Out: bool stands for a byte that is true when it is not zero.
template <class In, class Out>
[[gnu::always_inline]] inline void cast_body(const void* x_data, void* y_data, int64_t n) {
  using Stored = std::conditional_t<std::is_same_v<In, bool>, uint8_t, In>;
  const Stored* x = static_cast<const Stored*>(x_data);
  Out* y = static_cast<Out*>(y_data);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<Out, bool>) {
      y[i] = x[i] != 0;
    } else if constexpr (std::is_same_v<In, bool>) {
      y[i] = static_cast<Out>(x[i] != 0);
    } else if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>) {
      y[i] = integer_from<Out>(x[i]);
    } else {
      y[i] = static_cast<Out>(x[i]);
    }
  }
}

template <class In, class Out>
void cast_through_float(const void* x_data, void* y_data, int64_t n) {
  alignas(64) float block[kHalfBlock];
  const In* x = static_cast<const In*>(x_data);
  Out* y = static_cast<Out*>(y_data);
  for (int64_t i = 0; i < n; i += kHalfBlock) {
    const int64_t count = n - i < kHalfBlock ? n - i : kHalfBlock;
    if constexpr (kIsHalf<In>) {
      widen(x + i, block, count);
    } else {
      static const CastLoop loop = Versions<&cast_body<In, float>>::best();
      loop(x + i, block, count);
    }
    if constexpr (kIsHalf<Out>) {
      narrow(block, y + i, count);
    } else {
      static const CastLoop loop = Versions<&cast_body<float, Out>>::best();
      loop(block, y + i, count);
    }
  }
}

template <class In, class Out>
CastLoop cast_loop() {
  if constexpr (kIsHalf<In> || kIsHalf<Out>) {
    return &cast_through_float<In, Out>;
  } else {
    return Versions<&cast_body<In, Out>>::best();
  }
}

CastLoop cast_loop(DataType from, DataType to) {
  return dispatch<float, double, Float16, BFloat16, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                  uint32_t, uint64_t>(from, [&](auto in) {
    return dispatch<float, double, Float16, BFloat16, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                    uint32_t, uint64_t>(
        to, [&](auto out) { return cast_loop<typename decltype(in)::type, typename decltype(out)::type>(); });
  });
}

class CastKernel final : public Kernel {
 public:
  CastKernel(DataType from, DataType to)
      : loop_(cast_loop(from, to)), same_(from == to), in_width_(byte_width(from)), out_width_(byte_width(to)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (same_) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y = in_width_ == out_width_ ? context.output_reusing_input(0, 0, x.dims, x.rank)
                                                  : context.output(0, x.dims, x.rank);
    context.parallel_for(x.element_count, kCheapGrain, [&](int64_t begin, int64_t end) {
      loop_(x.as<char>() + begin * static_cast<int64_t>(in_width_),
            y.as<char>() + begin * static_cast<int64_t>(out_width_), end - begin);
    });
  }

 private:
  CastLoop loop_;
  bool same_;
  size_t in_width_;
  size_t out_width_;
};

std::unique_ptr<Kernel> make_cast(const Node& node) {
  const DataType to =
      node.op_type == "Cast" ? static_cast<DataType>(node.attribute_or<int64_t>("to", 0)) : input_type(node, 1);
  return std::make_unique<CastKernel>(input_type(node, 0), to);
}

}  // namespace

void register_cast(KernelRegistry& registry) {
  const std::vector<TypeConstraint> types = {{"T1", kNumericTypes + kBoolType}, {"T2", kNumericTypes + kBoolType}};
  add_kernel(registry, "Cast", 6, 28, types, &make_cast);
  add_kernel(registry, "CastLike", 15, 25, types, &make_cast);
}

}  // namespace onnx_light_ort::kernels
