// How one axis is resized: which elements of the input an element of the output is made of, and with what weights.
// Interpolation is separable, so that each axis is resized alone.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// The attributes of Resize and Upsample that decide indices and weights.
class Interpolation {
 public:
  /// Throws Error(kInvalidArgument) where an attribute has a value that the operator does not know.
  explicit Interpolation(const Node& node);

  /// An axis of `in` elements to become `out`; begin and end are the region of tf_crop_and_resize, where that is asked
  /// for, as fractions of the axis.
  struct Axis {
    int64_t in;
    int64_t out;
    float scale;
    float begin = 0;
    float end = 1;
  };

  enum class Mode { kNearest, kLinear, kCubic };
  Mode mode() const noexcept { return mode_; }
  bool crops() const noexcept { return coordinates_ == Coordinates::kCrop; }

  /// The input index of each output index; -1 outside the input of an axis that is cropped.
  std::vector<int64_t> nearest_indices(const Axis& axis) const;

  /// Output index o is the sum over k < taps of weights[o * taps + k] times the input at indices[o * taps + k], but
  /// where outside[o]: that is beyond the input of an axis that is cropped.
  template <class T>
  struct Weights {
    int64_t taps = 0;
    std::vector<int64_t> indices;
    std::vector<T> weights;
    std::vector<char> outside;  ///< Empty where no axis is cropped.
  };
  template <class T>
  Weights<T> weights(const Axis& axis) const;

 private:
  enum class Coordinates {
    kHalfPixel,
    kHalfPixelSymmetric,
    kPytorchHalfPixel,
    kAlignCorners,
    kAsymmetric,
    kHalfPixelForNearest,
    kCrop,
  };
  enum class Rounding { kPreferFloor, kPreferCeil, kFloor, kCeil, kByScale };

  float position(const Axis& axis, int64_t i) const;
  double weight(double distance) const;
  bool is_outside(const Axis& axis, float position) const {
    return crops() && (position < 0 || position > static_cast<float>(axis.in - 1));
  }

  Mode mode_;
  Coordinates coordinates_;
  Rounding rounding_;
  double cubic_coefficient_;
  bool antialias_;
  bool exclude_outside_;
};

}  // namespace onnx_light_ort::kernels
