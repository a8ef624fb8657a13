// The sliding window of convolutions and pooling: kernel extents, strides, dilations and padding over one to three
// spatial dimensions, embedded in three (depth, height, width) by leading extents of one.
#pragma once

#include <array>
#include <string>

#include "dims.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "registration.h"

namespace onnx_light_ort::kernels {

using Extents = std::array<int64_t, 3>;

/// The window as it lies over an input of known size.
struct PlacedWindow {
  Extents in;
  Extents kernel;
  Extents stride;
  Extents dilation;
  Extents pad_begin;
  Extents pad_end;
  Extents out;

  int64_t in_count() const { return in[0] * in[1] * in[2]; }
  int64_t out_count() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }

  /// The same window with dimensions of one element at the end moved to the front, so that rows are as long as they
  /// can be. The memory layout does not change.
  PlacedWindow with_long_rows() const;
};

/// Throws Error(kInvalidArgument) naming the attribute and its value where one is not in [lowest, 2^31). Extents,
/// strides, dilations and padding below 2^31 keep the arithmetic of a window within 64 bits.
void check_window_attribute(const std::string& op, const char* name, const std::vector<int64_t>& values,
                            int64_t lowest);

/// The number of elements of a kernel with these spatial dimensions. Throws Error(kInvalidArgument) where one is not in
/// [1, 2^31) or 64 bits do not hold their product.
int64_t checked_taps(const std::string& op, const int64_t* kernel_dims, size_t spatial);

class Window {
 public:
  /// Reads strides, pads, dilations, auto_pad, ceil_mode and kernel_shape. Throws Error(kNotImplemented) beyond three
  /// spatial dimensions and Error(kInvalidArgument) where a value is out of range.
  explicit Window(const Node& node);

  /// For x of (batch, channels, spatial...); kernel_dims are the kernel's spatial dimensions where the operator has a
  /// weight tensor, else null for the attribute kernel_shape. Throws Error where they do not fit.
  PlacedWindow place(const TensorView& x, const int64_t* kernel_dims) const;

  bool has_auto_pad() const noexcept { return auto_pad_ != "NOTSET" && auto_pad_ != "VALID"; }
  const std::string& auto_pad() const noexcept { return auto_pad_; }
  const std::vector<int64_t>& kernel_shape() const noexcept { return kernel_shape_; }
  const std::vector<int64_t>& strides() const noexcept { return strides_; }
  const std::vector<int64_t>& dilations() const noexcept { return dilations_; }
  const std::vector<int64_t>& pads() const noexcept { return pads_; }

 private:
  std::string op_;
  std::string auto_pad_;
  bool ceil_mode_;
  std::vector<int64_t> kernel_shape_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> dilations_;
  std::vector<int64_t> pads_;
};

/// Output or kernel indices in [first, last) that lie inside something.
struct ValidRange {
  int64_t first;
  int64_t last;
};

/// Output indices o in [first, last) for which o * stride - pad + offset lies in [0, extent).
inline ValidRange valid_range(int64_t out, int64_t stride, int64_t pad, int64_t offset, int64_t extent) noexcept {
  const int64_t shift = pad - offset;
  const int64_t first = shift > 0 ? (shift + stride - 1) / stride : 0;
  const int64_t end = extent + shift;  // o * stride < end
  const int64_t last = end > 0 ? (end + stride - 1) / stride : 0;
  return {std::min(first, out), std::max(std::min(first, out), std::min(last, out))};
}

/// Taps of a window at output index o whose positions lie in [low, high).
inline ValidRange valid_taps(int64_t o, int64_t stride, int64_t pad, int64_t dilation, int64_t kernel, int64_t low,
                             int64_t high) noexcept {
  const int64_t start = o * stride - pad;
  const int64_t first = start < low ? (low - start + dilation - 1) / dilation : 0;
  const int64_t room = high - start;
  const int64_t last = room > 0 ? (room + dilation - 1) / dilation : 0;
  return {std::min(first, kernel), std::max(std::min(first, kernel), std::min(last, kernel))};
}

}  // namespace onnx_light_ort::kernels
