// Resize and Upsample: nearest neighbour for any type, linear and cubic interpolation for numbers. Integers are
// interpolated in double, rounded to the nearest even and saturated.
#include <algorithm>
#include <cmath>
#include <limits>

#include "axis_resize.h"
#include "converted_tensor.h"
#include "cpu_level.h"
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "table_copy.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// y = sum over taps of weights[k] * x[at[k] * n ...] over a row of n elements.
template <class T>
[[gnu::always_inline]] inline void weighted_rows(const T* x, const int64_t* at, const T* weights, int64_t taps, T* y,
                                                 int64_t n) {
  if (taps == 2) {
    const T* a = x + at[0] * n;
    const T* b = x + at[1] * n;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = a[i] * weights[0] + b[i] * weights[1];
    return;
  }
  const T* first = x + at[0] * n;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = first[i] * weights[0];
  for (int64_t k = 1; k < taps; ++k) {
    const T* row = x + at[k] * n;
    const T weight = weights[k];
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] += row[i] * weight;
  }
}

template <class T>
void round_to_integers(RunContext& context, const double* x, const TensorView& y) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  // The largest number of a wide type rounds up to one that the type does not have.
  constexpr double kBeyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  context.parallel_for(y.element_count, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double rounded = std::nearbyint(x[i]);
      y.as<T>()[i] = rounded >= kBeyond  ? std::numeric_limits<T>::max()
                     : !(rounded > kLow) ? std::numeric_limits<T>::min()
                                         : static_cast<T>(rounded);
    }
  });
}

class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(const Node& node)
      : op_(node.op_type),
        interpolation_(node),
        takes_region_(node.op_type == "Resize" && node.since_version >= 11),
        axes_(node.attribute_or<std::vector<int64_t>>("axes", {})),
        scales_(node.attribute_or<std::vector<float>>("scales", {})),
        extrapolation_value_(node.attribute_or("extrapolation_value", 0.0f)) {
    if (interpolation_.mode() != Interpolation::Mode::kNearest) {
      const DataType type = input_type(node, 0);
      const TypeList numbers = TypeList{DataType::kFloat, DataType::kDouble} + kSignedTypes + kUnsignedTypes;
      if (std::find(numbers.begin(), numbers.end(), type) == numbers.end()) {
        decline(node, std::string("interpolation of ") + data_type_name(type));
      }
    }
    const bool is_complex = input_type(node, 0) == DataType::kComplex64 || input_type(node, 0) == DataType::kComplex128;
    if (is_complex && interpolation_.crops()) decline(node, "cropping of complex numbers");
    if (op_ == "Upsample" && node.since_version == 1) {
      scales_ = {1.0f, 1.0f, node.attribute_or("height_scale", 1.0f), node.attribute_or("width_scale", 1.0f)};
    }
    const auto policy = node.attribute_or<std::string>("keep_aspect_ratio_policy", "stretch");
    if (policy == "not_larger") {
      policy_ = Policy::kNotLarger;
    } else if (policy == "not_smaller") {
      policy_ = Policy::kNotSmaller;
    } else if (policy != "stretch") {
      invalid_argument("Resize: keep_aspect_ratio_policy is '" + policy + "'");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    std::vector<Interpolation::Axis> axes = target(context, x);
    Dims dims(x);
    for (size_t d = 0; d < x.rank; ++d) dims[d] = axes[d].out;
    if (std::none_of(axes.begin(), axes.end(), is_changed)) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    if (x.element_count == 0) invalid_argument(op_ + ": the input of shape " + to_string(x) + " is empty");
    if (interpolation_.mode() == Interpolation::Mode::kNearest) {
      copy_nearest(context, x, y, axes);
    } else if (x.dtype == DataType::kFloat) {
      interpolate(context, x.as<float>(), x, y.as<float>(), axes);
    } else if (x.dtype == DataType::kDouble) {
      interpolate(context, x.as<double>(), x, y.as<double>(), axes);
    } else {
      const TensorView wide = converted(context, x, DataType::kDouble);
      auto* result = static_cast<double*>(context.scratch(static_cast<size_t>(y.element_count) * sizeof(double)));
      interpolate(context, wide.as<double>(), x, result, axes);
      dispatch<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(x.dtype, [&](auto tag) {
        round_to_integers<typename decltype(tag)::type>(context, result, y);
        return 0;
      });
    }
  }

 private:
  enum class Policy { kStretch, kNotLarger, kNotSmaller };

  static bool is_changed(const Interpolation::Axis& axis) {
    return axis.out != axis.in || axis.scale != 1.0f || axis.begin != 0.0f || axis.end != 1.0f;
  }

  // What becomes of each axis of x.
  std::vector<Interpolation::Axis> target(const RunContext& context, const TensorView& x) const {
    std::vector<Interpolation::Axis> axes;
    for (size_t d = 0; d < x.rank; ++d) axes.push_back({x.dims[d], x.dims[d], 1.0f});
    std::vector<size_t> chosen;
    for (size_t i = 0; i < (axes_.empty() ? x.rank : axes_.size()); ++i) {
      chosen.push_back(axes_.empty() ? i : normalized_axis(op_.c_str(), axes_[i], x.rank));
    }
    const TensorView* scales = scales_.empty() ? context.input(takes_region_ ? 2 : 1) : nullptr;
    const TensorView* sizes = takes_region_ ? context.input(3) : nullptr;
    const bool by_scale = !scales_.empty() || (scales != nullptr && scales->element_count > 0);
    const bool by_size = sizes != nullptr && sizes->element_count > 0;
    if (by_scale == by_size) invalid_argument(op_ + ": exactly one of scales and sizes is to be given");
    if (by_scale) {
      set_scales(axes, chosen, scales_.empty() ? elements_as<float>(*scales) : scales_);
    } else {
      set_sizes(axes, chosen, integers(*sizes));
    }
    const TensorView* region = takes_region_ && interpolation_.crops() ? context.input(1) : nullptr;
    if (region != nullptr && region->element_count > 0) {
      const std::vector<float> bounds = elements_as<float>(*region);
      check_count(bounds.size(), 2 * chosen.size(), "roi");
      for (size_t i = 0; i < chosen.size(); ++i) {
        axes[chosen[i]].begin = bounds[i];
        axes[chosen[i]].end = bounds[i + chosen.size()];
      }
    }
    return axes;
  }

  void check_count(size_t given, size_t expected, const char* name) const {
    if (given == expected) return;
    invalid_argument(op_ + ": " + name + " has " + std::to_string(given) + " values, expected " +
                     std::to_string(expected));
  }

  void set_scales(std::vector<Interpolation::Axis>& axes, const std::vector<size_t>& chosen,
                  const std::vector<float>& scales) const {
    check_count(scales.size(), chosen.size(), "scales");
    for (size_t i = 0; i < chosen.size(); ++i) {
      Interpolation::Axis& axis = axes[chosen[i]];
      axis.scale = scales[i];
      if (!(axis.scale > 0)) invalid_argument(op_ + ": scales must be positive");
      const float extent = std::floor(static_cast<float>(axis.in) * axis.scale);
      if (!(extent < 0x1p62f)) {
        invalid_argument(op_ + ": scale " + std::to_string(axis.scale) + " of extent " + std::to_string(axis.in) +
                         " gives too many elements");
      }
      axis.out = static_cast<int64_t>(extent);
    }
  }

  void set_sizes(std::vector<Interpolation::Axis>& axes, const std::vector<size_t>& chosen,
                 const std::vector<int64_t>& sizes) const {
    check_count(sizes.size(), chosen.size(), "sizes");
    double common = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      Interpolation::Axis& axis = axes[chosen[i]];
      axis.out = sizes[i];
      if (axis.out < 0) invalid_argument(op_ + ": sizes must not be negative");
      axis.scale = static_cast<float>(axis.out) / static_cast<float>(axis.in);
      const double scale = static_cast<double>(axis.out) / static_cast<double>(axis.in);
      common = i == 0 ? scale : policy_ == Policy::kNotLarger ? std::min(common, scale) : std::max(common, scale);
    }
    if (policy_ == Policy::kStretch) return;
    for (const size_t d : chosen) {
      const double extent = std::floor(common * static_cast<double>(axes[d].in) + 0.5);
      if (!(extent < 0x1p62)) invalid_argument(op_ + ": sizes give too many elements");
      axes[d].out = static_cast<int64_t>(extent);
      axes[d].scale = static_cast<float>(common);
    }
  }

  void copy_nearest(RunContext& context, const TensorView& x, const TensorView& y,
                    const std::vector<Interpolation::Axis>& axes) const {
    std::vector<std::vector<int64_t>> tables;
    for (const Interpolation::Axis& axis : axes) {
      if (is_changed(axis)) {
        tables.push_back(interpolation_.nearest_indices(axis));
        continue;
      }
      tables.emplace_back(static_cast<size_t>(axis.out));
      for (int64_t i = 0; i < axis.out; ++i) tables.back()[static_cast<size_t>(i)] = i;
    }
    uint64_t fill[2] = {};
    if (interpolation_.crops()) {
      ElementConversion(DataType::kFloat, x.dtype).run(&extrapolation_value_, fill, 0, 1);
    }
    table_copy(context, y, x, tables, fill, byte_width(x.dtype));
  }

  // One axis after the other, the last first, so that the rows that follow are long.
  template <class T>
  void interpolate(RunContext& context, const T* from, const TensorView& x, T* result,
                   const std::vector<Interpolation::Axis>& axes) const {
    const auto loop = Versions<&weighted_rows<T>>::best();
    Dims now(x);
    std::vector<size_t> changed;
    for (size_t d = x.rank; d-- > 0;) {
      if (is_changed(axes[d])) changed.push_back(d);
    }
    for (size_t i = 0; i < changed.size(); ++i) {
      const size_t d = changed[i];
      const int64_t in = axes[d].in;
      const int64_t out = axes[d].out;
      const int64_t outer = product(now.data(), 0, d);
      const int64_t inner = product(now.data(), d + 1, now.size());
      now[d] = out;
      T* to = result;
      if (i + 1 < changed.size()) {
        const int64_t elements = checked_product("Resize", checked_product("Resize", outer, out), inner);
        to = static_cast<T*>(context.scratch(static_cast<size_t>(elements) * sizeof(T)));
      }
      const auto w = interpolation_.weights<T>(axes[d]);
      const auto beyond = static_cast<T>(extrapolation_value_);
      const int64_t work = out * inner * w.taps;
      context.parallel_for(outer, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* source = from + row * in * inner;
          T* line = to + row * out * inner;
          if (inner == 1) {
            gather_row(source, w, out, line);
          } else {
            for (int64_t o = 0; o < out; ++o) {
              loop(source, w.indices.data() + o * w.taps, w.weights.data() + o * w.taps, w.taps, line + o * inner,
                   inner);
            }
          }
          for (size_t o = 0; o < w.outside.size(); ++o) {
            if (w.outside[o] != 0) std::fill_n(line + static_cast<int64_t>(o) * inner, inner, beyond);
          }
        }
      });
      from = to;
    }
  }

  // Along the last axis: single elements in place of rows.
  template <class T>
  static void gather_row(const T* source, const Interpolation::Weights<T>& w, int64_t out, T* line) {
    const int64_t* at = w.indices.data();
    const T* weights = w.weights.data();
    for (int64_t o = 0; o < out; ++o, at += w.taps, weights += w.taps) {
      T sum = source[at[0]] * weights[0];
      for (int64_t k = 1; k < w.taps; ++k) sum += source[at[k]] * weights[k];
      line[o] = sum;
    }
  }

  std::string op_;
  Interpolation interpolation_;
  bool takes_region_;
  std::vector<int64_t> axes_;
  std::vector<float> scales_;  ///< Of Upsample before version 9.
  float extrapolation_value_;
  Policy policy_ = Policy::kStretch;
};

std::unique_ptr<Kernel> make_resize(const Node& node) { return std::make_unique<ResizeKernel>(node); }

// Moving elements needs no arithmetic: 16-bit floats are widened for interpolation only.
std::unique_ptr<Kernel> make_resize_of_any_type(const Node& node) {
  const bool nearest = node.attribute_or<std::string>("mode", "nearest") == "nearest";
  return nearest ? make_resize(node) : with_half<&make_resize>(node);
}

}  // namespace

void register_resize(KernelRegistry& registry) {
  add_kernel(registry, "Resize", 10, 10, {{"T", kByteTypes}}, &make_resize_of_any_type);
  add_kernel(registry, "Resize", 11, 19, {{"T1", kByteTypes}, {"T2", kFloatTypes}}, &make_resize_of_any_type);
  add_kernel(registry, "Upsample", 1, 9, {{"T", kByteTypes}}, &make_resize_of_any_type);
}

}  // namespace onnx_light_ort::kernels
