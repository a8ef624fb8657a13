// BatchNormalization in inference and LayerNormalization.
#include <cmath>
#include <tuple>

#include "batch_normalization_in_training.h"
#include "cpu_level.h"
#include "dims.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// y = scale x + shift over one plane of a channel.
template <class T>
[[gnu::always_inline]] inline void scale_plane(const T* x, T* y, int64_t n, T scale, T shift) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
}

template <class T>
class BatchNormalizationKernel final : public Kernel {
 public:
  explicit BatchNormalizationKernel(const Node& node) : epsilon_(node.attribute_or("epsilon", 1e-5f)) {
    if (node.attribute_or<int64_t>("spatial", 1) != 1) decline(node, "spatial = 0");
    for (size_t i = 1; i < node.output_types.size(); ++i) {
      if (has_output(node, i)) decline(node, "outputs of training");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (x.rank < 2) invalid_argument("BatchNormalization: the input has shape " + to_string(x));
    const int64_t channels = x.dims[1];
    const T* parameters[4];
    for (size_t i = 0; i < 4; ++i) {
      const TensorView& parameter = context.required_input(i + 1);
      if (parameter.element_count != channels) {
        invalid_argument("BatchNormalization: input " + std::to_string(i + 1) + " has shape " + to_string(parameter) +
                         " for " + std::to_string(channels) + " channels");
      }
      parameters[i] = parameter.as<T>();
    }
    const auto [scale, shift, mean, variance] = std::tuple(parameters[0], parameters[1], parameters[2], parameters[3]);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    const int64_t n = product(x.dims, 2, x.rank);
    context.parallel_for(
        x.dims[0] * channels, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
          for (int64_t plane = begin; plane < end; ++plane) {
            const int64_t c = plane % channels;
            const T factor = scale[c] / std::sqrt(variance[c] + static_cast<T>(epsilon_));
            loop_(x.as<T>() + plane * n, y.as<T>() + plane * n, n, factor, shift[c] - mean[c] * factor);
          }
        });
  }

 private:
  float epsilon_;
  void (*loop_)(const T*, T*, int64_t, T, T) = Versions<&scale_plane<T>>::best();
};

std::unique_ptr<Kernel> make_batch_normalization(const Node& node) {
  if (node.attribute_or<int64_t>("training_mode", 0) != 0) return make_batch_normalization_in_training(node);
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<BatchNormalizationKernel<double>>(node);
  return std::make_unique<BatchNormalizationKernel<float>>(node);
}

// One row: statistics in two passes, then (x - mean) / deviation * scale + shift.
template <class T>
[[gnu::always_inline]] inline void normalize_row(const T* x, T* y, int64_t n, const T* scale, const T* shift, T epsilon,
                                                 T* mean_out, T* inverse_out) {
  const auto plus = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  const T mean = fold_lanes(x, n, T(0), plus, plus) / static_cast<T>(n);
  const auto plus_square = [mean](T a, T b) __attribute__((always_inline)) { return a + (b - mean) * (b - mean); };
  const T variance = fold_lanes(x, n, T(0), plus_square, plus) / static_cast<T>(n);
  const T inverse = T(1) / std::sqrt(variance + epsilon);
  if (shift != nullptr) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + shift[i];
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i];
  }
  *mean_out = mean;
  *inverse_out = inverse;
}

template <class T>
class LayerNormalizationKernel final : public Kernel {
 public:
  explicit LayerNormalizationKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", -1)), epsilon_(node.attribute_or("epsilon", 1e-5f)) {
    if (node.attribute_or<int64_t>("stash_type", 1) != 1) decline(node, "stash_type other than float");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const TensorView* shift = context.input(2);
    const size_t axis = normalized_axis("LayerNormalization", axis_, x.rank);
    const int64_t rows = product(x.dims, 0, axis);
    const int64_t n = product(x.dims, axis, x.rank);
    if (scale.element_count != n || (shift != nullptr && shift->element_count != n)) {
      invalid_argument("LayerNormalization: Scale of shape " + to_string(scale) + " does not fit input of shape " +
                       to_string(x) + " from axis " + std::to_string(axis) + " on");
    }
    Dims statistics(x);
    for (size_t d = axis; d < x.rank; ++d) statistics[d] = 1;
    T* means = statistic(context, 1, statistics);
    T* inverses = statistic(context, 2, statistics);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    if (y.element_count == 0) return;
    context.parallel_for(rows, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T mean;
        T inverse;
        loop_(x.as<T>() + row * n, y.as<T>() + row * n, n, scale.as<T>(), shift != nullptr ? shift->as<T>() : nullptr,
              static_cast<T>(epsilon_), &mean, &inverse);
        if (means != nullptr) means[row] = mean;
        if (inverses != nullptr) inverses[row] = inverse;
      }
    });
  }

 private:
  static T* statistic(RunContext& context, size_t i, const Dims& dims) {
    if (i >= context.output_count() || !context.output_wanted(i)) return nullptr;
    return context.output(i, dims.data(), dims.size()).template as<T>();
  }

  int64_t axis_;
  float epsilon_;
  void (*loop_)(const T*, T*, int64_t, const T*, const T*, T, T*, T*) = Versions<&normalize_row<T>>::best();
};

std::unique_ptr<Kernel> make_layer_normalization(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<LayerNormalizationKernel<double>>(node);
  return std::make_unique<LayerNormalizationKernel<float>>(node);
}

}  // namespace

void register_normalization(KernelRegistry& registry) {
  const auto batch_normalization = &with_one_float<&make_batch_normalization>;
  add_kernel(registry, "BatchNormalization", 7, 9, {{"T", kFloatTypes}}, batch_normalization);
  add_kernel(registry, "BatchNormalization", 14, 14, {{"T", kFloatTypes}, {"U", kFloatTypes}}, batch_normalization);
  add_kernel(registry, "BatchNormalization", 15, 15, {{"T", kFloatTypes}, {"T1", kFloatTypes}, {"T2", kFloatTypes}},
             batch_normalization);
  add_kernel(registry, "LayerNormalization", 17, 17, {{"T", kFloatTypes}}, &with_one_float<&make_layer_normalization>);
}

}  // namespace onnx_light_ort::kernels
