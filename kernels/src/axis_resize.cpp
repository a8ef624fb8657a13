#include "axis_resize.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dims.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

template <class Choice>
Choice chosen(const Node& node, const char* name, const char* fallback,
              std::initializer_list<std::pair<const char*, Choice>> choices) {
  const auto value = node.attribute_or<std::string>(name, fallback);
  for (const auto& [text, choice] : choices) {
    if (value == text) return choice;
  }
  invalid_argument(node.op_type + ": " + name + " is '" + value + "'");
}

}  // namespace

Interpolation::Interpolation(const Node& node)
    : mode_(chosen<Mode>(node, "mode", "nearest",
                         {{"nearest", Mode::kNearest},
                          {"linear", Mode::kLinear},
                          {"bilinear", Mode::kLinear},  // Upsample 1
                          {"cubic", Mode::kCubic}})),
      coordinates_(Coordinates::kAsymmetric),
      rounding_(Rounding::kByScale),
      cubic_coefficient_(node.attribute_or("cubic_coeff_a", -0.75f)),
      antialias_(node.attribute_or<int64_t>("antialias", 0) != 0),
      exclude_outside_(node.attribute_or<int64_t>("exclude_outside", 0) != 0) {
  // Upsample, and Resize in version 10, have neither coordinate modes nor ways to round.
  if (node.op_type != "Resize" || node.since_version < 11) return;
  coordinates_ = chosen<Coordinates>(node, "coordinate_transformation_mode", "half_pixel",
                                     {{"half_pixel", Coordinates::kHalfPixel},
                                      {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
                                      {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
                                      {"align_corners", Coordinates::kAlignCorners},
                                      {"asymmetric", Coordinates::kAsymmetric},
                                      {"tf_half_pixel_for_nn", Coordinates::kHalfPixelForNearest},
                                      {"tf_crop_and_resize", Coordinates::kCrop}});
  rounding_ = chosen<Rounding>(node, "nearest_mode", "round_prefer_floor",
                               {{"round_prefer_floor", Rounding::kPreferFloor},
                                {"round_prefer_ceil", Rounding::kPreferCeil},
                                {"floor", Rounding::kFloor},
                                {"ceil", Rounding::kCeil}});
}

// In float, as other runtimes compute it, so that a coordinate in the middle between two elements has the same nearest
// one.
float Interpolation::position(const Axis& axis, int64_t i) const {
  const auto x = static_cast<float>(i);
  const auto in = static_cast<float>(axis.in);
  const float resized = axis.scale * in;
  switch (coordinates_) {
    case Coordinates::kAsymmetric:
      return x / axis.scale;
    case Coordinates::kAlignCorners:
      return resized == 1 ? 0.0f : x * (in - 1) / (resized - 1);
    case Coordinates::kPytorchHalfPixel:
      return axis.out > 1 ? (x + 0.5f) / axis.scale - 0.5f : 0.0f;
    case Coordinates::kHalfPixelSymmetric: {
      const float adjustment = static_cast<float>(axis.out) / resized;
      return in / 2 * (1 - adjustment) + (x + 0.5f) / axis.scale - 0.5f;
    }
    case Coordinates::kHalfPixelForNearest:
      return (x + 0.5f) / axis.scale;
    case Coordinates::kCrop:
      if (axis.out == 1) return (axis.begin + axis.end) * (in - 1) / 2;
      return axis.begin * (in - 1) + x * (axis.end - axis.begin) * (in - 1) / (resized - 1);
    default:
      return (x + 0.5f) / axis.scale - 0.5f;
  }
}

std::vector<int64_t> Interpolation::nearest_indices(const Axis& axis) const {
  std::vector<int64_t> indices(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    const float at = position(axis, i);
    float rounded = at;
    switch (rounding_) {
      case Rounding::kPreferFloor:
        rounded = std::ceil(at - 0.5f);
        break;
      case Rounding::kPreferCeil:
        rounded = std::floor(at + 0.5f);
        break;
      case Rounding::kFloor:
        rounded = std::floor(at);
        break;
      case Rounding::kCeil:
        rounded = std::ceil(at);
        break;
      case Rounding::kByScale:  // what ORT does before version 11
        rounded = axis.scale < 1 ? std::ceil(at) : std::floor(at);
        break;
    }
    const float last = static_cast<float>(axis.in - 1);
    const auto index = static_cast<int64_t>(std::min(std::max(rounded, 0.0f), last));
    indices[static_cast<size_t>(i)] = is_outside(axis, at) ? -1 : std::min(index, axis.in - 1);
  }
  return indices;
}

// Of an element at a distance, in elements: a triangle, or the kernel of R. Keys, "Cubic convolution interpolation for
// digital image processing", IEEE Transactions on Acoustics, Speech, and Signal Processing 29(6), 1981.
double Interpolation::weight(double distance) const {
  const double x = std::abs(distance);
  if (mode_ == Mode::kLinear) return std::max(0.0, 1 - x);
  const double a = cubic_coefficient_;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

template <class T>
Interpolation::Weights<T> Interpolation::weights(const Axis& axis) const {
  // With antialias, a smaller output takes a proportionally wider neighbourhood.
  const double shrink = antialias_ ? std::min(static_cast<double>(axis.scale), 1.0) : 1.0;
  const double reach = (mode_ == Mode::kLinear ? 1 : 2) / shrink;
  const auto first = static_cast<int64_t>(std::floor(-reach)) + 1;
  Weights<T> found;
  found.taps = 2 - 2 * first;
  const int64_t count = checked_product("Resize", axis.out, found.taps);
  found.indices.reserve(static_cast<size_t>(count));
  found.weights.reserve(static_cast<size_t>(count));
  std::vector<double> line(static_cast<size_t>(found.taps));
  for (int64_t i = 0; i < axis.out; ++i) {
    const float at = position(axis, i);
    if (crops()) found.outside.push_back(is_outside(axis, at) ? 1 : 0);
    const float whole = std::floor(at);
    const double fraction = static_cast<double>(at) - static_cast<double>(whole);
    const auto base = static_cast<int64_t>(std::min(std::max(whole, -0x1p40f), 0x1p62f));
    double sum = 0;
    for (int64_t k = 0; k < found.taps; ++k) {
      const int64_t index = base + first + k;
      double& w = line[static_cast<size_t>(k)];
      w = weight((static_cast<double>(first + k) - fraction) * shrink);
      if (exclude_outside_ && (index < 0 || index >= axis.in)) w = 0;
      sum += w;
      found.indices.push_back(std::clamp<int64_t>(index, 0, axis.in - 1));
    }
    const bool normalizes = (antialias_ || exclude_outside_) && sum != 0;
    for (const double w : line) found.weights.push_back(static_cast<T>(normalizes ? w / sum : w));
  }
  return found;
}

template Interpolation::Weights<float> Interpolation::weights<float>(const Axis& axis) const;
template Interpolation::Weights<double> Interpolation::weights<double>(const Axis& axis) const;

}  // namespace onnx_light_ort::kernels
