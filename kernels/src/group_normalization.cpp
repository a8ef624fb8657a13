// InstanceNormalization, GroupNormalization, MeanVarianceNormalization, RMSNormalization, LpNormalization, LRN.
#include <cmath>

#include "cpu_level.h"
#include "dims.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrain = 16384;

template <class T>
struct Moments {
  T mean;
  T variance;
};

template <class T>
[[gnu::always_inline]] inline void moments_run(const T* x, int64_t n, Moments<T>* out) {
  const auto plus = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  const T mean = fold_lanes(x, n, T(0), plus, plus) / static_cast<T>(n);
  const auto plus_square = [mean](T a, T b) __attribute__((always_inline)) { return a + (b - mean) * (b - mean); };
  *out = {mean, fold_lanes(x, n, T(0), plus_square, plus) / static_cast<T>(n)};
}

template <class T>
[[gnu::always_inline]] inline void scale_run(const T* x, T* y, int64_t n, T scale, T shift) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
}

// y = x / root mean square * scale over one row.
template <class T>
[[gnu::always_inline]] inline void rms_row(const T* x, T* y, int64_t n, const T* scale, T epsilon) {
  const auto plus = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  const auto plus_square = [](T a, T b) __attribute__((always_inline)) { return a + b * b; };
  const T inverse = T(1) / std::sqrt(fold_lanes(x, n, T(0), plus_square, plus) / static_cast<T>(n) + epsilon);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * inverse * scale[i];
}

// Groups of channels normalised together, with a scale and a shift for each channel (before version 21 of
// GroupNormalization, for each group). Instance normalisation has as many groups as channels.
template <class T>
class GroupNormalizationKernel final : public Kernel {
 public:
  explicit GroupNormalizationKernel(const Node& node)
      : op_(node.op_type),
        groups_(node.attribute_or<int64_t>("num_groups", 0)),
        by_group_(op_ == "GroupNormalization" && node.since_version < 21),
        epsilon_(static_cast<T>(node.attribute_or("epsilon", 1e-5f))) {
    if (op_ == "GroupNormalization" && groups_ <= 0) {
      invalid_argument("GroupNormalization: num_groups is " + std::to_string(groups_));
    }
    if (node.attribute_or<int64_t>("stash_type", 1) != 1) decline(node, "stash_type other than float");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const TensorView& shift = context.required_input(2);
    const int64_t channels = x.rank >= 2 ? x.dims[1] : 0;
    const int64_t groups = groups_ > 0 ? groups_ : channels;
    const int64_t parameters = by_group_ ? groups : channels;
    if (x.rank < 2 || scale.element_count != parameters || shift.element_count != parameters ||
        (groups > 0 && channels % groups != 0)) {
      invalid_argument(op_ + ": an input of shape " + to_string(x) + " with scale of shape " + to_string(scale) +
                       ", bias of shape " + to_string(shift) + " and " + std::to_string(groups) + " groups");
    }
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    if (y.element_count == 0) return;
    const int64_t plane = product(x.dims, 2, x.rank);
    const int64_t per_group = channels / groups;
    const int64_t n = per_group * plane;
    context.parallel_for(x.dims[0] * groups, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        Moments<T> moments;
        moments_(x.as<T>() + group * n, n, &moments);
        const T inverse = T(1) / std::sqrt(moments.variance + epsilon_);
        for (int64_t i = 0; i < per_group; ++i) {
          const int64_t parameter = by_group_ ? group % groups : group % groups * per_group + i;
          const T factor = scale.as<T>()[parameter] * inverse;
          const int64_t at = group * n + i * plane;
          scale_(x.as<T>() + at, y.as<T>() + at, plane, factor, shift.as<T>()[parameter] - moments.mean * factor);
        }
      }
    });
  }

 private:
  std::string op_;
  int64_t groups_;
  bool by_group_;
  T epsilon_;
  void (*moments_)(const T*, int64_t, Moments<T>*) = Versions<&moments_run<T>>::best();
  void (*scale_)(const T*, T*, int64_t, T, T) = Versions<&scale_run<T>>::best();
};

template <class T>
class RmsNormalizationKernel final : public Kernel {
 public:
  explicit RmsNormalizationKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", -1)), epsilon_(static_cast<T>(node.attribute_or("epsilon", 1e-5f))) {
    if (node.attribute_or<int64_t>("stash_type", 1) != 1) decline(node, "stash_type other than float");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const size_t axis = normalized_axis("RMSNormalization", axis_, x.rank);
    const int64_t n = product(x.dims, axis, x.rank);
    const T* factors = scale.as<T>();
    if (scale.element_count != n) factors = repeated(context, x, axis, scale);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    if (y.element_count == 0) return;
    context.parallel_for(x.element_count / n, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) loop_(x.as<T>() + row * n, y.as<T>() + row * n, n, factors, epsilon_);
    });
  }

 private:
  // The scale broadcast to the dimensions that are normalised together.
  static const T* repeated(RunContext& context, const TensorView& x, size_t axis, const TensorView& scale) {
    const Dims dims(x.dims + axis, x.rank - axis);
    const Dims own = dense_strides(scale.dims, scale.rank);
    Dims strides(dims.size(), 0);
    bool fits = scale.rank <= dims.size();
    for (size_t d = 0; fits && d < scale.rank; ++d) {
      const size_t at = dims.size() - scale.rank + d;
      fits = scale.dims[d] == 1 || scale.dims[d] == dims[at];
      strides[at] = scale.dims[d] == 1 ? 0 : own[d];
    }
    if (!fits) {
      invalid_argument("RMSNormalization: scale of shape " + to_string(scale) + " does not broadcast to " +
                       to_string(dims));
    }
    const auto n = static_cast<size_t>(product(dims.data(), 0, dims.size()));
    T* all = static_cast<T*>(context.scratch(n * sizeof(T)));
    strided_copy(context, all, dims, scale.data, strides, sizeof(T));
    return all;
  }

  int64_t axis_;
  T epsilon_;
  void (*loop_)(const T*, T*, int64_t, const T*, T) = Versions<&rms_row<T>>::best();
};

// (x - mean) / deviation over named axes, which are moved to the end for it.
template <class T>
class MeanVarianceKernel final : public Kernel {
 public:
  explicit MeanVarianceKernel(const Node& node) : axes_(node.attribute_or<std::vector<int64_t>>("axes", {0, 2, 3})) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    Dims named(x.rank, 0);
    for (const int64_t axis : axes_) named[normalized_axis("MeanVarianceNormalization", axis, x.rank)] = 1;
    const Dims source = strides_of(x);
    Dims dims;
    Dims strides;
    int64_t n = 1;
    for (const int64_t last : {0, 1}) {
      for (size_t d = 0; d < x.rank; ++d) {
        if (named[d] != last) continue;
        dims.push_back(x.dims[d]);
        strides.push_back(source[d]);
        if (last == 1) n *= x.dims[d];
      }
    }
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (y.element_count == 0) return;
    T* moved = static_cast<T*>(context.scratch(static_cast<size_t>(x.element_count) * sizeof(T)));
    strided_copy(context, moved, dims, x.data, strides, sizeof(T));
    context.parallel_for(x.element_count / n, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        Moments<T> moments;
        moments_(moved + row * n, n, &moments);
        const T inverse = T(1) / (std::sqrt(moments.variance) + T(1e-9));
        scale_(moved + row * n, moved + row * n, n, inverse, -moments.mean * inverse);
      }
    });
    // Back: strides of the moved tensor in the order of the input's dimensions.
    const Dims dense = dense_strides(dims.data(), dims.size());
    Dims back(x.rank);
    size_t at = 0;
    for (const int64_t last : {0, 1}) {
      for (size_t d = 0; d < x.rank; ++d) {
        if (named[d] == last) back[d] = dense[at++];
      }
    }
    strided_copy(context, y.data, Dims(x), moved, back, sizeof(T));
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  std::vector<int64_t> axes_;
  void (*moments_)(const T*, int64_t, Moments<T>*) = Versions<&moments_run<T>>::best();
  void (*scale_)(const T*, T*, int64_t, T, T) = Versions<&scale_run<T>>::best();
};

// Lines along one axis divided by the sum of their absolute values or by their length; zero stays zero.
template <class T>
class LpNormalizationKernel final : public Kernel {
 public:
  explicit LpNormalizationKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", -1)), p_(node.attribute_or<int64_t>("p", 2)) {
    if (p_ != 1 && p_ != 2) invalid_argument("LpNormalization: p is " + std::to_string(p_) + ", expected 1 or 2");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const size_t axis = normalized_axis("LpNormalization", axis_, x.rank);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    if (y.element_count == 0) return;
    const int64_t n = x.dims[axis];
    const int64_t inner = product(x.dims, axis + 1, x.rank);
    context.parallel_for(x.element_count / n, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / inner * n * inner + i % inner;
        const T* from = x.as<T>() + first;
        T* to = y.as<T>() + first;
        T sum = T(0);
        for (int64_t j = 0; j < n; ++j) {
          const T value = from[j * inner];
          sum += p_ == 1 ? std::abs(value) : value * value;
        }
        const T norm = p_ == 1 ? sum : std::sqrt(sum);
        for (int64_t j = 0; j < n; ++j) to[j * inner] = norm == T(0) ? T(0) : from[j * inner] / norm;
      }
    });
  }

 private:
  int64_t axis_;
  int64_t p_;
};

// x / (bias + alpha / size * sum of squares over neighbouring channels) ^ beta.
template <class T>
class LrnKernel final : public Kernel {
 public:
  explicit LrnKernel(const Node& node)
      : size_(node.attribute_or<int64_t>("size", 0)),
        alpha_(node.attribute_or("alpha", 1e-4f)),
        beta_(node.attribute_or("beta", 0.75f)),
        bias_(node.attribute_or("bias", 1.0f)) {
    if (size_ <= 0) invalid_argument("LRN: size is " + std::to_string(size_) + ", expected at least 1");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (x.rank < 2) invalid_argument("LRN: the input has shape " + to_string(x));
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (y.element_count == 0) return;
    const int64_t channels = x.dims[1];
    const int64_t plane = product(x.dims, 2, x.rank);
    const T factor = static_cast<T>(alpha_) / static_cast<T>(size_);
    context.parallel_for(x.dims[0] * channels, std::max<int64_t>(1, 4096 / plane), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i % channels;
        const int64_t low = std::max<int64_t>(0, channel - (size_ - 1) / 2);
        const int64_t high = std::min(channels, channel + size_ / 2 + 1);
        const T* image = x.as<T>() + (i - channel) * plane;
        for (int64_t j = 0; j < plane; ++j) {
          T sum = T(0);
          for (int64_t c = low; c < high; ++c) sum += image[c * plane + j] * image[c * plane + j];
          const T base = static_cast<T>(bias_) + factor * sum;
          y.as<T>()[i * plane + j] = image[channel * plane + j] / std::pow(base, static_cast<T>(beta_));
        }
      }
    });
  }

 private:
  int64_t size_;
  float alpha_;
  float beta_;
  float bias_;
};

template <template <class> class K>
std::unique_ptr<Kernel> make(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<K<double>>(node);
  return std::make_unique<K<float>>(node);
}

}  // namespace

void register_group_normalization(KernelRegistry& registry) {
  add_kernel(registry, "InstanceNormalization", 1, 22, {{"T", kFloatTypes}},
             &with_half<&make<GroupNormalizationKernel>>);
  add_kernel(registry, "GroupNormalization", 18, 21, {{"T", kFloatTypes}}, &with_half<&make<GroupNormalizationKernel>>);
  add_kernel(registry, "RMSNormalization", 23, 23, {{"T", kFloatTypes}, {"V", kFloatTypes}},
             &with_one_float<&make<RmsNormalizationKernel>>);
  add_kernel(registry, "MeanVarianceNormalization", 9, 13, {{"T", kFloatTypes}}, &with_half<&make<MeanVarianceKernel>>);
  add_kernel(registry, "LpNormalization", 1, 22, {{"T", kFloatTypes}}, &with_half<&make<LpNormalizationKernel>>);
  add_kernel(registry, "LRN", 1, 13, {{"T", kFloatTypes}}, &with_half<&make<LrnKernel>>);
}

}  // namespace onnx_light_ort::kernels
