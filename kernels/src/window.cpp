#include "window.h"

#include <optional>

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kLargest = (int64_t{1} << 31) - 1;

}  // namespace

PlacedWindow PlacedWindow::with_long_rows() const {
  PlacedWindow w = *this;
  const auto is_one = [&w](size_t d) {
    return w.in[d] == 1 && w.kernel[d] == 1 && w.out[d] == 1 && w.pad_begin[d] == 0 && w.pad_end[d] == 0;
  };
  for (int moved = 0; moved < 2 && is_one(2); ++moved) {
    for (Extents* extents : {&w.in, &w.kernel, &w.stride, &w.dilation, &w.pad_begin, &w.pad_end, &w.out}) {
      *extents = {(*extents)[2], (*extents)[0], (*extents)[1]};
    }
  }
  return w;
}

void check_window_attribute(const std::string& op, const char* name, const std::vector<int64_t>& values,
                            int64_t lowest) {
  for (const int64_t value : values) {
    if (value < lowest || value > kLargest) {
      invalid_argument(op + ": " + name + " has the value " + std::to_string(value) + ", expected one from " +
                       std::to_string(lowest) + " to " + std::to_string(kLargest));
    }
  }
}

int64_t checked_taps(const std::string& op, const int64_t* kernel_dims, size_t spatial) {
  check_window_attribute(op, "kernel_shape", {kernel_dims, kernel_dims + spatial}, 1);
  const std::optional<int64_t> taps = checked_element_count(kernel_dims, spatial);
  if (!taps.has_value()) {
    invalid_argument(op + ": a kernel of shape " + to_string(kernel_dims, spatial) + " has too many elements");
  }
  return *taps;
}

Window::Window(const Node& node)
    : op_(node.op_type),
      auto_pad_(node.attribute_or<std::string>("auto_pad", "NOTSET")),
      ceil_mode_(node.attribute_or<int64_t>("ceil_mode", 0) != 0),
      kernel_shape_(node.attribute_or<std::vector<int64_t>>("kernel_shape", {})),
      strides_(node.attribute_or<std::vector<int64_t>>("strides", {})),
      dilations_(node.attribute_or<std::vector<int64_t>>("dilations", {})),
      pads_(node.attribute_or<std::vector<int64_t>>("pads", {})) {
  if (std::max({kernel_shape_.size(), strides_.size(), dilations_.size(), pads_.size() / 2}) > 3) {
    decline(node, "more than three spatial dimensions");
  }
  if (auto_pad_ != "NOTSET" && auto_pad_ != "VALID" && auto_pad_ != "SAME_UPPER" && auto_pad_ != "SAME_LOWER") {
    invalid_argument(op_ + ": auto_pad is '" + auto_pad_ + "'");
  }
  check_window_attribute(op_, "kernel_shape", kernel_shape_, 1);
  check_window_attribute(op_, "strides", strides_, 1);
  check_window_attribute(op_, "dilations", dilations_, 1);
  check_window_attribute(op_, "pads", pads_, -kLargest);
}

PlacedWindow Window::place(const TensorView& x, const int64_t* kernel_dims) const {
  if (x.rank < 3) invalid_argument(op_ + ": the input has shape " + to_string(x) + ", expected at least 3 dimensions");
  const size_t spatial = x.rank - 2;
  if (spatial > 3) fail(ErrorKind::kNotImplemented, op_ + ": more than three spatial dimensions");
  const auto check_length = [&](const std::vector<int64_t>& values, size_t length, const char* name) {
    if (!values.empty() && values.size() != length) {
      invalid_argument(op_ + ": " + name + " has " + std::to_string(values.size()) + " values for an input of shape " +
                       to_string(x));
    }
  };
  check_length(strides_, spatial, "strides");
  check_length(dilations_, spatial, "dilations");
  check_length(pads_, 2 * spatial, "pads");
  check_length(kernel_shape_, spatial, "kernel_shape");
  if (kernel_dims == nullptr && kernel_shape_.empty()) invalid_argument(op_ + ": kernel_shape is missing");
  checked_taps(op_, kernel_dims != nullptr ? kernel_dims : kernel_shape_.data(), spatial);

  PlacedWindow placed{};
  for (size_t d = 0; d < 3; ++d) {
    placed.in[d] = placed.kernel[d] = placed.stride[d] = placed.dilation[d] = placed.out[d] = 1;
  }
  for (size_t i = 0; i < spatial; ++i) {
    const size_t d = 3 - spatial + i;
    const int64_t in = placed.in[d] = x.dims[2 + i];
    const int64_t kernel = placed.kernel[d] = kernel_dims != nullptr ? kernel_dims[i] : kernel_shape_[i];
    const int64_t stride = placed.stride[d] = strides_.empty() ? 1 : strides_[i];
    const int64_t dilation = placed.dilation[d] = dilations_.empty() ? 1 : dilations_[i];
    // Only a tensor without elements is that long; below, everything stays within 64 bits.
    if (in >= int64_t{1} << 60) invalid_argument(op_ + ": the input of shape " + to_string(x) + " is too large");
    const int64_t reach = dilation * (kernel - 1) + 1;
    if (has_auto_pad()) {
      const int64_t out = placed.out[d] = (in + stride - 1) / stride;
      const int64_t padding = std::max<int64_t>(0, (out - 1) * stride + reach - in);
      placed.pad_begin[d] = auto_pad_ == "SAME_LOWER" ? (padding + 1) / 2 : padding / 2;
      placed.pad_end[d] = padding - placed.pad_begin[d];
      continue;
    }
    if (auto_pad_ == "NOTSET" && !pads_.empty()) {
      placed.pad_begin[d] = pads_[i];
      placed.pad_end[d] = pads_[i + spatial];
      if (std::min(placed.pad_begin[d], placed.pad_end[d]) < -in) {
        invalid_argument(op_ + ": pads " + to_string(pads_.data(), pads_.size()) +
                         " crop more than there is of the input of shape " + to_string(x));
      }
    }
    const int64_t room = in + placed.pad_begin[d] + placed.pad_end[d] - reach;
    if (room < 0) {
      invalid_argument(op_ + ": a window of " + std::to_string(reach) + " does not fit the input of shape " +
                       to_string(x));
    }
    placed.out[d] = room / stride + 1;
    if (ceil_mode_ && room % stride != 0) {
      // A window that would start in the padding behind the input is left out.
      if (placed.out[d] * stride < in + placed.pad_begin[d]) ++placed.out[d];
    }
  }
  return placed;
}

}  // namespace onnx_light_ort::kernels
