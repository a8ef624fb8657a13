// Softmax, LogSoftmax and Hardmax along one axis; before version 13 along all dimensions from the axis on, as one.
#include <cmath>
#include <limits>

#include "cpu_level.h"
#include "dims.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "vector_math.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

// Rows of n contiguous elements.
template <class T, bool kLog>
[[gnu::always_inline]] inline void softmax_rows(const T* x, T* y, int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
    const auto larger = [](T a, T b) __attribute__((always_inline)) { return a > b ? a : b; };
    const auto plus = [](T a, T b) __attribute__((always_inline)) { return a + b; };
    const T max = fold_lanes(x, n, kLowest<T>, larger, larger);
    if constexpr (kLog) {
      const T sum = fold_lanes(
          x, n, T(0), [max](T a, T b) __attribute__((always_inline)) { return a + vector_math::exp(b - max); }, plus);
      const T log_sum = std::log(sum);
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - max) - log_sum;
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = vector_math::exp(x[i] - max);
      const T scale = T(1) / fold_lanes(y, n, T(0), plus, plus);
      for (int64_t i = 0; i < n; ++i) y[i] *= scale;
    }
  }
}

// `width` neighbouring columns of n elements each, `stride` apart; width <= kColumns.
constexpr int64_t kColumns = 64;

template <class T, bool kLog>
[[gnu::always_inline]] inline void softmax_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t width) {
  T max[kColumns];
  T sum[kColumns];
  for (int64_t j = 0; j < width; ++j) {
    max[j] = kLowest<T>;
    sum[j] = T(0);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) max[j] = x[i * stride + j] > max[j] ? x[i * stride + j] : max[j];
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const T e = vector_math::exp(x[i * stride + j] - max[j]);
      sum[j] += e;
      if (!kLog) y[i * stride + j] = e;
    }
  }
  for (int64_t j = 0; j < width; ++j) sum[j] = kLog ? std::log(sum[j]) : T(1) / sum[j];
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      y[i * stride + j] = kLog ? (x[i * stride + j] - max[j]) - sum[j] : y[i * stride + j] * sum[j];
    }
  }
}

template <class T, bool kLog>
class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const Node& node)
      : one_axis_(node.since_version >= 13), axis_(node.attribute_or<int64_t>("axis", one_axis_ ? -1 : 1)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    // LogSoftmax reads x again after it began to write y.
    const TensorView& y = kLog ? context.output(0, x.dims, x.rank) : context.output_reusing_input(0, 0, x.dims, x.rank);
    if (x.element_count == 0) return;
    if (x.rank == 0) {
      *y.as<T>() = kLog ? T(0) : T(1);
      if (*x.as<T>() != *x.as<T>()) *y.as<T>() = *x.as<T>();
      return;
    }
    const auto rank = static_cast<int64_t>(x.rank);
    const size_t axis = !one_axis_ && axis_ == rank ? x.rank : normalized_axis("Softmax", axis_, x.rank);
    const int64_t outer = product(x.dims, 0, axis);
    const int64_t n = one_axis_ ? x.dims[axis] : product(x.dims, axis, x.rank);
    const int64_t inner = x.element_count / outer / n;
    if (inner == 1) {
      context.parallel_for(outer, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
        rows_(x.as<T>() + begin * n, y.as<T>() + begin * n, end - begin, n);
      });
      return;
    }
    const int64_t blocks = (inner + kColumns - 1) / kColumns;
    context.parallel_for(
        outer * blocks, std::max<int64_t>(1, 4096 / (n * std::min(inner, kColumns))), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t column = i % blocks * kColumns;
            const int64_t offset = i / blocks * n * inner + column;
            columns_(x.as<T>() + offset, y.as<T>() + offset, n, inner, std::min(kColumns, inner - column));
          }
        });
  }

 private:
  bool one_axis_;
  int64_t axis_;
  void (*rows_)(const T*, T*, int64_t, int64_t) = Versions<&softmax_rows<T, kLog>>::best();
  void (*columns_)(const T*, T*, int64_t, int64_t, int64_t) = Versions<&softmax_columns<T, kLog>>::best();
};

// One where the largest element is, the first of several; zero elsewhere.
template <class T>
class HardmaxKernel final : public Kernel {
 public:
  explicit HardmaxKernel(const Node& node)
      : one_axis_(node.since_version >= 13), axis_(node.attribute_or<int64_t>("axis", one_axis_ ? -1 : 1)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (x.element_count == 0) return;
    std::fill_n(y.as<T>(), y.element_count, T(0));
    if (x.rank == 0) {
      *y.as<T>() = T(1);
      return;
    }
    const auto rank = static_cast<int64_t>(x.rank);
    const size_t axis = !one_axis_ && axis_ == rank ? x.rank : normalized_axis("Hardmax", axis_, x.rank);
    const int64_t n = one_axis_ ? x.dims[axis] : product(x.dims, axis, x.rank);
    const int64_t inner = x.element_count / product(x.dims, 0, axis) / n;
    context.parallel_for(x.element_count / n, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / inner * n * inner + i % inner;
        const T* line = x.as<T>() + first;
        int64_t best = 0;
        for (int64_t j = 1; j < n; ++j) best = line[j * inner] > line[best * inner] ? j : best;
        y.as<T>()[first + best * inner] = T(1);
      }
    });
  }

 private:
  bool one_axis_;
  int64_t axis_;
};

std::unique_ptr<Kernel> make_hardmax(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<HardmaxKernel<double>>(node);
  return std::make_unique<HardmaxKernel<float>>(node);
}

template <bool kLog>
std::unique_ptr<Kernel> make_softmax(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<SoftmaxKernel<double, kLog>>(node);
  return std::make_unique<SoftmaxKernel<float, kLog>>(node);
}

}  // namespace

void register_softmax(KernelRegistry& registry) {
  add_kernel(registry, "Softmax", 1, 13, {{"T", kFloatTypes}}, &with_half<&make_softmax<false>>);
  add_kernel(registry, "Hardmax", 1, 13, {{"T", kFloatTypes}}, &with_half<&make_hardmax>);
  add_kernel(registry, "LogSoftmax", 1, 13, {{"T", kFloatTypes}}, &with_half<&make_softmax<true>>);
}

}  // namespace onnx_light_ort::kernels
