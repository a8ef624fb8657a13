// Resize: nearest neighbour for any type, linear interpolation for floating point.
// Other modes and options are left to the reference kernel.
#include <algorithm>
#include <cmath>

#include "cpu_level.h"
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "table_copy.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

enum class Coordinates { kHalfPixel, kHalfPixelSymmetric, kPytorchHalfPixel, kAlignCorners, kAsymmetric };

Coordinates coordinates_of(const Node& node) {
  if (node.since_version < 11) return Coordinates::kAsymmetric;
  const auto mode = node.attribute_or<std::string>("coordinate_transformation_mode", "half_pixel");
  if (mode == "half_pixel") return Coordinates::kHalfPixel;
  if (mode == "half_pixel_symmetric") return Coordinates::kHalfPixelSymmetric;
  if (mode == "pytorch_half_pixel") return Coordinates::kPytorchHalfPixel;
  if (mode == "align_corners") return Coordinates::kAlignCorners;
  if (mode == "asymmetric") return Coordinates::kAsymmetric;
  decline(node, "coordinate_transformation_mode " + mode);
}

// Position in the input that output index i is read at.
float input_position(Coordinates mode, int64_t i, float scale, int64_t in, int64_t out) {
  const auto x = static_cast<float>(i);
  switch (mode) {
    case Coordinates::kAsymmetric:
      return x / scale;
    case Coordinates::kAlignCorners: {
      const float exact_out = scale * static_cast<float>(in);
      return exact_out == 1 ? 0.0f : x * static_cast<float>(in - 1) / (exact_out - 1);
    }
    case Coordinates::kPytorchHalfPixel:
      return out > 1 ? (x + 0.5f) / scale - 0.5f : 0.0f;
    case Coordinates::kHalfPixelSymmetric: {
      const float exact_out = scale * static_cast<float>(in);
      const float adjustment = static_cast<float>(out) / exact_out;
      const float center = static_cast<float>(in) / 2;
      return center * (1 - adjustment) + (x + 0.5f) / scale - 0.5f;
    }
    default:
      return (x + 0.5f) / scale - 0.5f;
  }
}

enum class Rounding { kPreferFloor, kPreferCeil, kFloor, kCeil };

int64_t nearest_index(Rounding rounding, float position, int64_t extent) {
  float rounded = 0;
  switch (rounding) {
    case Rounding::kPreferFloor:
      rounded = std::ceil(position - 0.5f);
      break;
    case Rounding::kPreferCeil:
      rounded = std::floor(position + 0.5f);
      break;
    case Rounding::kFloor:
      rounded = std::floor(position);
      break;
    case Rounding::kCeil:
      rounded = std::ceil(position);
      break;
  }
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, extent - 1);
}

// y = a + (b - a) t over a row.
template <class T>
[[gnu::always_inline]] inline void interpolate_row(const T* a, const T* b, T t, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] * (T(1) - t) + b[i] * t;
}

class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(const Node& node)
      : scales_input_(node.since_version >= 11 ? 2 : 1), coordinates_(coordinates_of(node)), linear_(false) {
    const auto mode = node.attribute_or<std::string>("mode", "nearest");
    if (mode == "linear") {
      linear_ = true;
      if (input_type(node, 0) != DataType::kFloat) decline(node, "linear interpolation of this type");
    } else if (mode != "nearest") {
      decline(node, "mode " + mode);
    }
    if (node.attribute_or<int64_t>("antialias", 0) != 0) decline(node, "antialias");
    if (node.attribute_or<int64_t>("exclude_outside", 0) != 0) decline(node, "exclude_outside");
    if (node.attribute_or<std::string>("keep_aspect_ratio_policy", "stretch") != "stretch") {
      decline(node, "keep_aspect_ratio_policy");
    }
    axes_ = node.attribute_or<std::vector<int64_t>>("axes", {});
    if (node.since_version < 11) {
      const TensorView* scales = constant_input(node, 1);
      if (scales == nullptr || std::any_of(scales->as<float>(), scales->as<float>() + scales->element_count,
                                           [](float scale) { return scale < 1; })) {
        decline(node, "version 10 with scales that may be below 1");
      }
      rounding_ = Rounding::kFloor;
      return;
    }
    const auto rounding = node.attribute_or<std::string>("nearest_mode", "round_prefer_floor");
    if (rounding == "round_prefer_floor") {
      rounding_ = Rounding::kPreferFloor;
    } else if (rounding == "round_prefer_ceil") {
      rounding_ = Rounding::kPreferCeil;
    } else if (rounding == "floor") {
      rounding_ = Rounding::kFloor;
    } else if (rounding == "ceil") {
      rounding_ = Rounding::kCeil;
    } else {
      invalid_argument("Resize: nearest_mode is '" + rounding + "'");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    Dims dims(x);
    std::vector<float> scales(x.rank, 1.0f);
    target(context, x, dims, scales);
    if (dims.equals(x) && std::all_of(scales.begin(), scales.end(), [](float s) { return s == 1.0f; })) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    if (x.element_count == 0) invalid_argument("Resize: the input of shape " + to_string(x) + " is empty");
    if (linear_) {
      interpolate(context, x, y, scales);
      return;
    }
    std::vector<std::vector<int64_t>> tables(x.rank);
    for (size_t d = 0; d < x.rank; ++d) {
      for (int64_t i = 0; i < dims[d]; ++i) {
        tables[d].push_back(
            scales[d] == 1.0f && dims[d] == x.dims[d]
                ? i
                : nearest_index(rounding_, input_position(coordinates_, i, scales[d], x.dims[d], dims[d]), x.dims[d]));
      }
    }
    table_copy(context, y, x, tables, nullptr, byte_width(x.dtype));
  }

 private:
  void target(const RunContext& context, const TensorView& x, Dims& dims, std::vector<float>& scales) const {
    const TensorView* given_scales = context.input(scales_input_);
    const TensorView* given_sizes = context.input(3);
    const bool by_scale = given_scales != nullptr && given_scales->element_count > 0;
    const bool by_size = given_sizes != nullptr && given_sizes->element_count > 0;
    if (by_scale == by_size) invalid_argument("Resize: exactly one of scales and sizes is to be given");
    const size_t count = axes_.empty() ? x.rank : axes_.size();
    const auto given = static_cast<size_t>(by_scale ? given_scales->element_count : given_sizes->element_count);
    if (given != count) {
      invalid_argument("Resize: " + std::to_string(given) + " values for " + std::to_string(count) + " axes");
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t axis = axes_.empty() ? i : normalized_axis("Resize", axes_[i], x.rank);
      if (by_scale) {
        scales[axis] = given_scales->as<float>()[i];
        if (!(scales[axis] > 0)) invalid_argument("Resize: scales must be positive");
        const float extent = std::floor(static_cast<float>(x.dims[axis]) * scales[axis]);
        if (!(extent < 0x1p62f)) {
          invalid_argument("Resize: scale " + std::to_string(scales[axis]) + " of extent " +
                           std::to_string(x.dims[axis]) + " gives too many elements");
        }
        dims[axis] = static_cast<int64_t>(extent);
      } else {
        dims[axis] = given_sizes->as<int64_t>()[i];
        if (dims[axis] < 0) invalid_argument("Resize: sizes must not be negative");
        scales[axis] = static_cast<float>(dims[axis]) / static_cast<float>(x.dims[axis]);
      }
    }
  }

  // One dimension after the other, the last first, so that the rows that follow are long.
  void interpolate(RunContext& context, const TensorView& x, const TensorView& y,
                   const std::vector<float>& scales) const {
    Dims now(x);
    const float* from = x.as<float>();
    std::vector<size_t> changed;
    for (size_t d = x.rank; d-- > 0;) {
      if (scales[d] != 1.0f || y.dims[d] != x.dims[d]) changed.push_back(d);
    }
    for (size_t i = 0; i < changed.size(); ++i) {
      const size_t d = changed[i];
      const int64_t in = now[d];
      const int64_t out = y.dims[d];
      const int64_t outer = product(now.data(), 0, d);
      const int64_t inner = product(now.data(), d + 1, now.size());
      now[d] = out;
      float* to = y.as<float>();
      if (i + 1 < changed.size()) {
        const int64_t elements = checked_product("Resize", checked_product("Resize", outer, out), inner);
        to = static_cast<float*>(context.scratch(static_cast<size_t>(elements) * sizeof(float)));
      }
      std::vector<int64_t> low(static_cast<size_t>(out));
      std::vector<float> weight(static_cast<size_t>(out));
      for (int64_t o = 0; o < out; ++o) {
        const float position =
            std::clamp(input_position(coordinates_, o, scales[d], in, out), 0.0f, static_cast<float>(in - 1));
        low[static_cast<size_t>(o)] = static_cast<int64_t>(position);
        weight[static_cast<size_t>(o)] = position - std::floor(position);
      }
      context.parallel_for(outer, std::max<int64_t>(1, 16384 / (out * inner)), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const float* source = from + row * in * inner;
          float* line = to + row * out * inner;
          for (int64_t o = 0; o < out; ++o) {
            const int64_t a = low[static_cast<size_t>(o)];
            const int64_t b = std::min(a + 1, in - 1);
            row_(source + a * inner, source + b * inner, weight[static_cast<size_t>(o)], line + o * inner, inner);
          }
        }
      });
      from = to;
    }
  }

  size_t scales_input_;
  Coordinates coordinates_;
  bool linear_;
  Rounding rounding_ = Rounding::kFloor;
  std::vector<int64_t> axes_;
  void (*row_)(const float*, const float*, float, float*, int64_t) = Versions<&interpolate_row<float>>::best();
};

std::unique_ptr<Kernel> make_resize(const Node& node) { return std::make_unique<ResizeKernel>(node); }

// Moving elements needs no arithmetic: 16-bit floats are widened for interpolation only.
std::unique_ptr<Kernel> make_resize_of_any_type(const Node& node) {
  const bool linear = node.attribute_or<std::string>("mode", "nearest") == "linear";
  return linear ? with_half<&make_resize>(node) : make_resize(node);
}

}  // namespace

void register_resize(KernelRegistry& registry) {
  add_kernel(registry, "Resize", 10, 10, {{"T", kByteTypes}}, &make_resize_of_any_type);
  add_kernel(registry, "Resize", 11, 19, {{"T1", kByteTypes}, {"T2", kFloatTypes}}, &make_resize_of_any_type);
}

}  // namespace onnx_light_ort::kernels
