// Conv in one to three spatial dimensions, with groups, strides, dilations and padding.
//
// Three ways: one input channel a group (depthwise) is a weighted sum of shifted rows; a kernel of one element without
// stride or padding is a matrix product with the image as it lies; anything else is a matrix product with columns that
// are cut out of the image while they are packed.
#include "conv.h"

#include <cstring>

#include "gemm.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"
#include "window.h"

namespace onnx_light_ort::kernels {
namespace {

// n elements: rows are short, and a call for each would cost more than the copy.
template <class T>
void copy_elements(const T* from, int64_t n, T* to) {
  auto* target = reinterpret_cast<char*>(to);
  const auto* source = reinterpret_cast<const char*>(from);
  auto bytes = n * static_cast<int64_t>(sizeof(T));
  for (; bytes >= 32; bytes -= 32, target += 32, source += 32) std::memcpy(target, source, 32);
  if ((bytes & 16) != 0) {
    std::memcpy(target, source, 16);
    target += 16;
    source += 16;
  }
  if ((bytes & 8) != 0) {
    std::memcpy(target, source, 8);
    target += 8;
    source += 8;
  }
  if ((bytes & 4) != 0) std::memcpy(target, source, 4);
}

// Every stride-th of n elements; the stride of most networks is a constant to the compiler.
template <class T>
void copy_strided(const T* from, int64_t stride, int64_t n, T* to) {
  if (stride == 1) return copy_elements(from, n, to);
  if (stride == 2) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

// Column (od, oh, ow) has the elements (channel, kd, kh, kw) that the window covers there.
template <class T>
class ImageColumns final : public ColumnSource<T> {
 public:
  ImageColumns(const T* image, const PlacedWindow& window) : image_(image), window_(window) {}

  void pack(int64_t k_begin, int64_t k_count, int64_t column, int64_t count, int64_t width, T* panel) const override {
    const int64_t taps = window_.taps();
    const int64_t first_tap = k_begin % taps;
    const bool all_taps = k_count >= taps;
    // What the panel reads of a channel is the same for every channel: stretches of rows, listed by tap.
    std::vector<Stretch> stretches;
    std::vector<size_t> ends(static_cast<size_t>(taps), 0);
    for (int64_t tap = 0; tap < taps; ++tap) {
      if (all_taps || (tap - first_tap + taps) % taps < k_count) list_stretches(tap, column, count, stretches);
      ends[static_cast<size_t>(tap)] = stretches.size();
    }
    const T* channel = image_ + k_begin / taps * window_.in_count();
    int64_t tap = first_tap;
    for (int64_t k = 0; k < k_count; ++k, panel += width) {
      int64_t filled = 0;
      for (size_t i = tap == 0 ? 0 : ends[static_cast<size_t>(tap) - 1]; i < ends[static_cast<size_t>(tap)]; ++i) {
        const Stretch& stretch = stretches[i];
        for (; filled < stretch.at; ++filled) panel[filled] = T(0);
        copy_strided(channel + stretch.from, window_.stride[2], stretch.count, panel + stretch.at);
        filled = stretch.at + stretch.count;
      }
      for (; filled < width; ++filled) panel[filled] = T(0);
      if (++tap == taps) {
        tap = 0;
        channel += window_.in_count();
      }
    }
  }

 private:
  // Elements [at, at + count) of a panel's line come from the channel's element `from` on, a stride apart.
  struct Stretch {
    int64_t at;
    int64_t count;
    int64_t from;
  };

  void list_stretches(int64_t tap, int64_t column, int64_t count, std::vector<Stretch>& stretches) const {
    const PlacedWindow& w = window_;
    const int64_t kd = tap / (w.kernel[1] * w.kernel[2]) * w.dilation[0] - w.pad_begin[0];
    const int64_t kh = tap / w.kernel[2] % w.kernel[1] * w.dilation[1] - w.pad_begin[1];
    const int64_t kw = tap % w.kernel[2] * w.dilation[2] - w.pad_begin[2];
    int64_t first = column % w.out[2];
    int64_t row = column / w.out[2];
    for (int64_t at = 0; at < count; first = 0, ++row) {
      const int64_t n = std::min(w.out[2] - first, count - at);
      const int64_t depth = row / w.out[1] * w.stride[0] + kd;
      const int64_t height = row % w.out[1] * w.stride[1] + kh;
      if (depth >= 0 && depth < w.in[0] && height >= 0 && height < w.in[1]) {
        const int64_t start = first * w.stride[2] + kw;
        const ValidRange valid = valid_range(n, w.stride[2], -start, 0, w.in[2]);
        if (valid.last > valid.first) {
          const int64_t from = (depth * w.in[1] + height) * w.in[2] + start + valid.first * w.stride[2];
          stretches.push_back({at + valid.first, valid.last - valid.first, from});
        }
      }
      at += n;
    }
  }

  const T* image_;
  const PlacedWindow& window_;
};

template <class T>
class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(const Node& node) : window_(node), groups_(node.attribute_or<int64_t>("group", 1)) {
    const TensorView* w = constant_input(node, 1);
    if (w != nullptr && w->rank > 5) decline(node, "more than three spatial dimensions");
    if (w == nullptr || w->rank < 3 || groups_ < 1 || w->dims[0] % groups_ != 0) return;
    if (is_depthwise(*w)) return;
    if (w->element_count == 0 || w->element_count * static_cast<int64_t>(sizeof(T)) > kMaxPackedBytes) return;
    const int64_t rows = w->dims[0] / groups_;
    const int64_t k = w->element_count / w->dims[0];
    for (int64_t g = 0; g < groups_; ++g) {
      packed_.push_back(PackedOperand<T>::left({w->as<T>() + g * rows * k, k, 1}, rows, k));
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& w = context.required_input(1);
    const TensorView* bias = context.input(2);
    if (w.rank != x.rank || x.rank < 3 || groups_ < 1 || x.dims[1] != checked_product("Conv", w.dims[1], groups_) ||
        w.dims[0] % groups_ != 0) {
      invalid_argument("Conv: input of shape " + to_string(x) + " does not fit weights of shape " + to_string(w) +
                       " in " + std::to_string(groups_) + " groups");
    }
    if (bias != nullptr && (bias->rank != 1 || bias->dims[0] != w.dims[0])) {
      invalid_argument("Conv: bias of shape " + to_string(*bias) + " does not fit weights of shape " + to_string(w));
    }
    const PlacedWindow window = window_.place(x, w.dims + 2);
    Dims dims(x);
    dims[1] = w.dims[0];
    for (size_t d = 2; d < x.rank; ++d) dims[d] = window.out[d + 3 - x.rank];
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const T* bias_data = bias != nullptr ? bias->as<T>() : nullptr;
    const PlacedWindow long_rows = window.with_long_rows();
    if (is_depthwise(w) && padded_plane_is_small(long_rows)) {
      depthwise(context, x, w, bias_data, y, long_rows);
    } else {
      product_of_columns(context, x, w, bias_data, y, long_rows);
    }
  }

 private:
  // One input channel a group, in a plane.
  bool is_depthwise(const TensorView& w) const { return w.dims[1] == 1 && groups_ > 1 && w.rank <= 4; }

  // Of the copies that depthwise() makes. Large strides, dilations and pads can make them far larger than the image.
  static int64_t padded_height(const PlacedWindow& window) {
    return (window.out[1] - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilation[1] + 1;
  }
  static int64_t padded_width(const PlacedWindow& window) {  // in strides
    return window.out[2] + (window.kernel[2] - 1) * window.dilation[2] / window.stride[2] + 1;
  }
  static bool padded_plane_is_small(const PlacedWindow& window) {
    constexpr int64_t kMostElements = int64_t{1} << 26;
    int64_t elements = 0;
    return !__builtin_mul_overflow(padded_width(window), window.stride[2], &elements) &&
           !__builtin_mul_overflow(elements, padded_height(window), &elements) && elements <= kMostElements;
  }

  void product_of_columns(RunContext& context, const TensorView& x, const TensorView& w, const T* bias,
                          const TensorView& y, const PlacedWindow& window) const {
    const int64_t rows = w.dims[0] / groups_;
    const int64_t channels = w.dims[1];
    const int64_t columns = window.out_count();
    GemmProblem<T> problem;
    problem.m = rows;
    problem.n = columns;
    problem.k = channels * window.taps();
    problem.ldc = columns;
    const bool is_plain = window.taps() == 1 && window.out == window.in && window.stride == Extents{1, 1, 1};
    const ImageColumns<T> shape_only(nullptr, window);
    if (!is_plain) problem.columns = &shape_only;
    if (!packed_.empty()) problem.packed_a = packed_[0].data();
    const GemmPlan plan = gemm_plan(problem, x.dims[0] * groups_);
    char* scratch = static_cast<char*>(context.scratch(plan.scratch_bytes * static_cast<size_t>(plan.slots)));
    context.parallel_for(plan.units * x.dims[0] * groups_, plan.grain, [&](int64_t begin, int64_t end) {
      char* own = scratch + static_cast<size_t>(begin / plan.grain) * plan.scratch_bytes;
      while (begin < end) {
        const int64_t index = begin / plan.units;  // (batch, group)
        const int64_t group = index % groups_;
        const int64_t first = begin % plan.units;
        const int64_t count = std::min(plan.units - first, end - begin);
        const T* image = x.as<T>() + index * channels * window.in_count();
        const ImageColumns<T> image_columns(image, window);
        GemmProblem<T> one = problem;
        if (is_plain) {
          one.b = {image, columns, 1};
        } else {
          one.columns = &image_columns;
        }
        one.a = {w.as<T>() + group * rows * problem.k, problem.k, 1};
        if (!packed_.empty()) one.packed_a = packed_[static_cast<size_t>(group)].data();
        one.row_bias = bias != nullptr ? bias + group * rows : nullptr;
        one.c = y.as<T>() + index * rows * columns;
        gemm_units(one, plan, first, first + count, own);
        begin += count;
      }
    });
  }

  // Each output plane from one input plane. The plane is copied with its padding, and with one row for each residue of
  // the column modulo the stride, so that every tap reads contiguous elements.
  void depthwise(RunContext& context, const TensorView& x, const TensorView& w, const T* bias, const TensorView& y,
                 const PlacedWindow& window) const {
    const int64_t planes = y.dims[0] * y.dims[1];
    const int64_t multiplier = w.dims[0] / groups_;
    const int64_t taps = window.taps();
    const int64_t stride = window.stride[2];
    const int64_t height = padded_height(window);
    const int64_t width = padded_width(window);
    const int64_t row_elements = width * stride;
    const int64_t work = taps * window.out_count();
    const int64_t grain = std::max<int64_t>({1, (planes + 15) / 16, 65536 / work});
    // The last row of a plane is read in whole vectors.
    const size_t slot_elements = static_cast<size_t>(height * row_elements + micro_kernels<T>().vector);
    const auto slots = static_cast<size_t>((planes + grain - 1) / grain);
    T* scratch = static_cast<T*>(context.scratch(slot_elements * slots * sizeof(T)));
    const auto convolve_row = micro_kernels<T>().convolve_row;
    std::vector<int64_t> offsets;  // of each tap's row, from the first row of the window
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t shift = tap % window.kernel[2] * window.dilation[2];
      offsets.push_back(tap / window.kernel[2] * window.dilation[1] * row_elements + shift % stride * width +
                        shift / stride);
    }
    context.parallel_for(planes, grain, [&](int64_t begin, int64_t end) {
      T* padded = scratch + static_cast<size_t>(begin / grain) * slot_elements;
      int64_t copied = -1;
      for (int64_t plane = begin; plane < end; ++plane) {
        const int64_t channel = plane % y.dims[1];
        const int64_t source = plane / y.dims[1] * x.dims[1] + channel / multiplier;
        if (source != copied) copy_padded(x.as<T>() + source * window.in_count(), window, height, width, padded);
        copied = source;
        const T* weights = w.as<T>() + channel * taps;
        for (int64_t oh = 0; oh < window.out[1]; ++oh) {
          convolve_row(padded + oh * window.stride[1] * row_elements, offsets.data(), weights, taps,
                       bias != nullptr ? bias[channel] : T(0), window.out[2],
                       y.as<T>() + (plane * window.out[1] + oh) * window.out[2]);
        }
      }
    });
  }

  static void copy_padded(const T* plane, const PlacedWindow& window, int64_t height, int64_t width, T* padded) {
    const int64_t stride = window.stride[2];
    for (int64_t row = 0; row < height; ++row) {
      const int64_t from_row = row - window.pad_begin[1];
      const bool inside = from_row >= 0 && from_row < window.in[1];
      for (int64_t phase = 0; phase < stride; ++phase, padded += width) {
        if (!inside) {
          std::fill_n(padded, width, T(0));
          continue;
        }
        const T* from = plane + from_row * window.in[2];
        const int64_t shift = phase - window.pad_begin[2];
        const ValidRange valid = valid_range(width, stride, window.pad_begin[2], phase, window.in[2]);
        std::fill_n(padded, valid.first, T(0));
        copy_strided(from + valid.first * stride + shift, stride, valid.last - valid.first, padded + valid.first);
        std::fill(padded + valid.last, padded + width, T(0));
      }
    }
  }

  Window window_;
  int64_t groups_;
  std::vector<PackedOperand<T>> packed_;
};

}  // namespace

std::unique_ptr<Kernel> make_conv(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<ConvKernel<double>>(node);
  return std::make_unique<ConvKernel<float>>(node);
}

void register_conv(KernelRegistry& registry) {
  add_kernel(registry, "Conv", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_conv>);
}

}  // namespace onnx_light_ort::kernels
