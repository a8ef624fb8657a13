// MaxPool, AveragePool, LpPool, GlobalMaxPool, GlobalAveragePool, GlobalLpPool. A maximum passes over NaN.
#include <cmath>
#include <limits>
#include <optional>

#include "cpu_level.h"
#include "lanes.h"
#include "max_pool_with_indices.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"
#include "window.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
struct MaxPooling {
  explicit MaxPooling(const Node&) {}
  static T start() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  static T fold(T a, T x) { return x > a ? x : a; }
  T finish(T a, int64_t, int64_t) const { return a; }
};

template <class T>
struct AveragePooling {
  explicit AveragePooling(const Node& node) : count_padding(node.attribute_or<int64_t>("count_include_pad", 0) != 0) {}
  static T start() { return T(0); }
  static T fold(T a, T x) { return a + x; }
  T finish(T a, int64_t inside, int64_t with_padding) const {
    return a / static_cast<T>(count_padding ? with_padding : inside);
  }
  bool count_padding;
};

// p of LpPool and GlobalLpPool, a float in version 1.
float exponent_of(const Node& node) {
  if (node.since_version == 1) return node.attribute_or("p", 2.0f);
  return static_cast<float>(node.attribute_or<int64_t>("p", 2));
}

// (sum of |x|^p)^(1/p)
template <class T>
struct PowerPooling {
  explicit PowerPooling(const Node& node) : p(static_cast<T>(exponent_of(node))) {}
  static T start() { return T(0); }
  T fold(T a, T x) const { return a + (p == 2 ? x * x : p == 1 ? std::abs(x) : std::pow(std::abs(x), p)); }
  T finish(T a, int64_t, int64_t) const { return p == 2 ? std::sqrt(a) : p == 1 ? a : std::pow(a, 1 / p); }
  T p;
};

template <class Pooling, class T>
class PoolKernel final : public Kernel {
 public:
  explicit PoolKernel(const Node& node) : window_(node), pooling_(node) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const PlacedWindow w = window_.place(x, nullptr);
    Dims dims(x);
    for (size_t d = 2; d < x.rank; ++d) dims[d] = w.out[d + 3 - x.rank];
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t planes = x.dims[0] * x.dims[1];
    context.parallel_for(planes, std::max<int64_t>(1, 32768 / w.out_count() / w.taps()),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t plane = begin; plane < end; ++plane) {
                             pool(x.as<T>() + plane * w.in_count(), y.as<T>() + plane * w.out_count(), w);
                           }
                         });
  }

 private:
  void pool(const T* x, T* y, const PlacedWindow& w) const {
    for (int64_t od = 0; od < w.out[0]; ++od) {
      for (int64_t oh = 0; oh < w.out[1]; ++oh) {
        for (int64_t ow = 0; ow < w.out[2]; ++ow) {
          const Extents o = {od, oh, ow};
          ValidRange taps[3];
          int64_t inside = 1;
          int64_t with_padding = 1;
          for (size_t d = 0; d < 3; ++d) {
            taps[d] = valid_taps(o[d], w.stride[d], w.pad_begin[d], w.dilation[d], w.kernel[d], 0, w.in[d]);
            inside *= taps[d].last - taps[d].first;
            // With ceil_mode the last window may reach beyond the padding; what is beyond does not count.
            const ValidRange padded = valid_taps(o[d], w.stride[d], w.pad_begin[d], w.dilation[d], w.kernel[d],
                                                 -w.pad_begin[d], w.in[d] + w.pad_end[d]);
            with_padding *= padded.last - padded.first;
          }
          T total = Pooling::start();
          for (int64_t kd = taps[0].first; kd < taps[0].last; ++kd) {
            for (int64_t kh = taps[1].first; kh < taps[1].last; ++kh) {
              const int64_t depth = od * w.stride[0] - w.pad_begin[0] + kd * w.dilation[0];
              const int64_t height = oh * w.stride[1] - w.pad_begin[1] + kh * w.dilation[1];
              const T* row = x + (depth * w.in[1] + height) * w.in[2] + ow * w.stride[2] - w.pad_begin[2];
              for (int64_t kw = taps[2].first; kw < taps[2].last; ++kw) {
                total = pooling_.fold(total, row[kw * w.dilation[2]]);
              }
            }
          }
          *y++ = pooling_.finish(total, inside, with_padding);
        }
      }
    }
  }

  Window window_;
  Pooling pooling_;
};

std::unique_ptr<Kernel> make_max_pool(const Node& node) {
  if (has_output(node, 1)) return make_max_pool_with_indices(node);
  return dispatch<float, double, int8_t, uint8_t>(input_type(node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<PoolKernel<MaxPooling<T>, T>>(node));
  });
}

std::unique_ptr<Kernel> make_average_pool(const Node& node) {
  return dispatch<float, double>(input_type(node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<PoolKernel<AveragePooling<T>, T>>(node));
  });
}

std::unique_ptr<Kernel> make_lp_pool(const Node& node) {
  return dispatch<float, double>(input_type(node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<PoolKernel<PowerPooling<T>, T>>(node));
  });
}

template <class T>
[[gnu::always_inline]] inline void plane_sum(const T* x, int64_t n, T* total) {
  const auto plus = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  *total = fold_lanes(x, n, T(0), plus, plus);
}

template <class T>
[[gnu::always_inline]] inline void plane_max(const T* x, int64_t n, T* total) {
  const auto larger = [](T a, T b) __attribute__((always_inline)) { return b > a ? b : a; };
  *total = fold_lanes(x, n, -std::numeric_limits<T>::infinity(), larger, larger);
}

template <class T>
class GlobalPoolKernel final : public Kernel {
 public:
  explicit GlobalPoolKernel(const Node& node)
      : average_(node.op_type == "GlobalAveragePool"),
        fold_(average_ ? Versions<&plane_sum<T>>::best() : Versions<&plane_max<T>>::best()) {
    if (node.op_type == "GlobalLpPool") power_.emplace(node);
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (x.rank < 2) invalid_argument("global pooling: the input has shape " + to_string(x) + ", expected a batch");
    Dims dims(x.rank, 1);
    dims[0] = x.dims[0];
    dims[1] = x.dims[1];
    const TensorView& y = context.output(0, dims.data(), dims.size());
    const int64_t n = product(x.dims, 2, x.rank);
    context.parallel_for(y.element_count, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, n)),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t plane = begin; plane < end; ++plane) {
                             y.as<T>()[plane] = pooled(x.as<T>() + plane * n, n);
                           }
                         });
  }

 private:
  T pooled(const T* x, int64_t n) const {
    T total = T(0);
    if (power_.has_value()) {
      const auto add = [this](T a, T b) { return power_->fold(a, b); };
      total = fold_lanes(x, n, T(0), add, [](T a, T b) { return a + b; });
      return power_->finish(total, n, n);
    }
    fold_(x, n, &total);
    return average_ ? total / static_cast<T>(n) : total;
  }

  bool average_;
  std::optional<PowerPooling<T>> power_;
  void (*fold_)(const T*, int64_t, T*);
};

std::unique_ptr<Kernel> make_global_pool(const Node& node) {
  return dispatch<float, double>(input_type(node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<GlobalPoolKernel<T>>(node));
  });
}

}  // namespace

void register_pool(KernelRegistry& registry) {
  const TypeList max_types = kFloatTypes + TypeList{DataType::kInt8, DataType::kUInt8};
  add_kernel(registry, "MaxPool", 1, 22, {{"T", max_types}}, &with_half<&make_max_pool>);
  add_kernel(registry, "AveragePool", 7, 22, {{"T", kFloatTypes}}, &with_half<&make_average_pool>);
  add_kernel(registry, "LpPool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_lp_pool>);
  add_kernel(registry, "GlobalMaxPool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_global_pool>);
  add_kernel(registry, "GlobalAveragePool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_global_pool>);
  add_kernel(registry, "GlobalLpPool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_global_pool>);
}

}  // namespace onnx_light_ort::kernels
