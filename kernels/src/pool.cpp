// MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool. A maximum passes over NaN.
#include <limits>

#include "cpu_level.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"
#include "window.h"

namespace onnx_light_ort::kernels {
namespace {

// Taps i in [first, last) of a window at output index o for which the position lies in [low, high).
ValidRange valid_taps(int64_t o, int64_t stride, int64_t pad, int64_t dilation, int64_t kernel, int64_t low,
                      int64_t high) {
  const int64_t start = o * stride - pad;
  const int64_t first = start < low ? (low - start + dilation - 1) / dilation : 0;
  const int64_t room = high - start;
  const int64_t last = room > 0 ? (room + dilation - 1) / dilation : 0;
  return {std::min(first, kernel), std::max(std::min(first, kernel), std::min(last, kernel))};
}

template <class T>
struct MaxPooling {
  explicit MaxPooling(const Node& node) {
    if (has_output(node, 1)) decline(node, "the output Indices");
  }
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
                total = Pooling::fold(total, row[kw * w.dilation[2]]);
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
  explicit GlobalPoolKernel(bool average)
      : average_(average), fold_(average ? Versions<&plane_sum<T>>::best() : Versions<&plane_max<T>>::best()) {}

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
                             T total;
                             fold_(x.as<T>() + plane * n, n, &total);
                             y.as<T>()[plane] = average_ ? total / static_cast<T>(n) : total;
                           }
                         });
  }

 private:
  bool average_;
  void (*fold_)(const T*, int64_t, T*);
};

std::unique_ptr<Kernel> make_global_pool(const Node& node) {
  return dispatch<float, double>(input_type(node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<GlobalPoolKernel<T>>(node.op_type == "GlobalAveragePool"));
  });
}

}  // namespace

void register_pool(KernelRegistry& registry) {
  const TypeList max_types = kFloatTypes + TypeList{DataType::kInt8, DataType::kUInt8};
  add_kernel(registry, "MaxPool", 1, 22, {{"T", max_types}}, &with_half<&make_max_pool>);
  add_kernel(registry, "AveragePool", 7, 22, {{"T", kFloatTypes}}, &with_half<&make_average_pool>);
  add_kernel(registry, "GlobalMaxPool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_global_pool>);
  add_kernel(registry, "GlobalAveragePool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_global_pool>);
}

}  // namespace onnx_light_ort::kernels
