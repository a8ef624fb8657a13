// Clip: y = min(max(x, low), high), limits as attributes (version 6) or optional inputs (11 and later).
// NaN stays, a NaN limit limits nothing, and high wins where the limits are crossed, as in ORT.
#include <limits>

#include "broadcast.h"
#include "elementwise.h"
#include "half_order.h"
#include "native_kernels.h"
#include "registration.h"
#include "streamed_output.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
[[gnu::always_inline]] inline void clip_loop(const T* x, T* y, int64_t n, T low, T high) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T raised = x[i] < low ? low : x[i];
    y[i] = raised > high ? high : raised;
  }
}

// 16-bit floats by their order; NaN stays, and no limit is NaN.
template <class Half>
[[gnu::always_inline]] inline void clip_half_loop(const Half* x, Half* y, int64_t n, float low_limit,
                                                  float high_limit) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Half low;
  Half high;
  from_float(low_limit != low_limit ? -kInfinity : low_limit, low);
  from_float(high_limit != high_limit ? kInfinity : high_limit, high);
  const int16_t low_order = order_of_bits(low.bits);
  const int16_t high_order = order_of_bits(high.bits);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t raised = order_of_bits(x[i].bits) < low_order ? low.bits : x[i].bits;
    const uint16_t clipped = order_of_bits(raised) > high_order ? high.bits : raised;
    y[i].bits = is_nan_bits<Half>(x[i].bits) ? x[i].bits : clipped;
  }
}

template <class T>
class ClipKernel final : public Kernel {
 public:
  using Limit = std::conditional_t<kIsHalf<T>, float, T>;

  explicit ClipKernel(const Node& node) {
    if constexpr (kIsHalf<T>) {
      loop_ = Versions<&clip_half_loop<T>>::best();
    } else {
      loop_ = Versions<&clip_loop<T>>::best();
    }
    if constexpr (std::numeric_limits<Limit>::has_infinity) {
      low_ = -std::numeric_limits<Limit>::infinity();
      high_ = std::numeric_limits<Limit>::infinity();
      if (node.attribute("min") != nullptr) low_ = static_cast<Limit>(node.attribute_or("min", 0.0f));
      if (node.attribute("max") != nullptr) high_ = static_cast<Limit>(node.attribute_or("max", 0.0f));
    } else {
      static_cast<void>(node);
      low_ = std::numeric_limits<Limit>::lowest();
      high_ = std::numeric_limits<Limit>::max();
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const Limit low = limit(context, 1, low_);
    const Limit high = limit(context, 2, high_);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    if (!x.is_dense()) {
      if (x.element_count == 0) return;
      const BroadcastPlan<1> plan(Dims(x), {&x});
      plan.for_each_dense_run(context, {x.data}, {sizeof(T)}, kCheapGrain, [&](const BroadcastRun<1>& run) {
        loop_(reinterpret_cast<const T*>(run.from[0]), y.as<T>() + run.position, run.n, low, high);
      });
      return;
    }
    write_elements(
        context, y.data, sizeof(T), x.element_count, kCheapGrain, x.data == y.data,
        [&](int64_t begin, int64_t n, void* to) { loop_(x.as<T>() + begin, static_cast<T*>(to), n, low, high); });
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  static Limit limit(const RunContext& context, size_t input, Limit absent) {
    const TensorView* view = context.input(input);
    if (view == nullptr) return absent;
    if (view->element_count != 1)
      invalid_argument("Clip: a limit has shape " + to_string(*view) + ", expected a scalar");
    if constexpr (kIsHalf<T>) {
      return to_float(*view->as<T>());
    } else {
      return *view->as<T>();
    }
  }

  void (*loop_)(const T*, T*, int64_t, Limit, Limit);
  Limit low_;
  Limit high_;
};

std::unique_ptr<Kernel> make_clip(const Node& node) {
  return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                  uint64_t>(input_type(node, 0), [&](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<ClipKernel<typename decltype(tag)::type>>(node));
  });
}

}  // namespace

void register_clip(KernelRegistry& registry) {
  add_kernel(registry, "Clip", 1, 13, {{"T", kNumericTypes}}, &make_clip);
}

}  // namespace onnx_light_ort::kernels
