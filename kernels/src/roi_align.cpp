// RoiAlign: each region is cut into bins, and each bin is the mean or the largest of bilinear samples (He et al.,
// "Mask R-CNN", ICCV 2017).
#include <cmath>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// Four neighbours of a sample and their weights, shared by all channels. All zero outside the image.
template <class T>
struct Sample {
  int64_t at[4] = {};
  T weight[4] = {};
};

// Neighbours along one side: the lower one, the upper one, and how far the sample lies from the lower one.
template <class T>
struct Neighbours {
  int64_t low;
  int64_t high;
  T fraction;

  Neighbours(T position, int64_t extent) {
    const T clamped = position > T(0) ? position : T(0);
    low = static_cast<int64_t>(clamped);
    high = low + 1;
    fraction = clamped - static_cast<T>(low);
    if (low >= extent - 1) {
      low = high = extent - 1;
      fraction = T(0);
    }
  }
};

template <class T>
class RoiAlignKernel final : public Kernel {
 public:
  explicit RoiAlignKernel(const Node& node)
      : height_(node.attribute_or<int64_t>("output_height", 1)),
        width_(node.attribute_or<int64_t>("output_width", 1)),
        ratio_(node.attribute_or<int64_t>("sampling_ratio", 0)),
        scale_(static_cast<T>(node.attribute_or("spatial_scale", 1.0f))) {
    const auto mode = node.attribute_or<std::string>("mode", "avg");
    largest_ = mode == "max";
    if (!largest_ && mode != "avg") invalid_argument("RoiAlign: mode is '" + mode + "', expected 'avg' or 'max'");
    // Before version 16 pixels were not taken at their centres.
    const auto coordinates = node.attribute_or<std::string>(
        "coordinate_transformation_mode", node.since_version >= 16 ? "half_pixel" : "output_half_pixel");
    half_pixel_ = coordinates == "half_pixel";
    if (!half_pixel_ && coordinates != "output_half_pixel") {
      invalid_argument("RoiAlign: coordinate_transformation_mode is '" + coordinates + "'");
    }
    if (height_ <= 0 || width_ <= 0) invalid_argument("RoiAlign: the output has no pixels");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& regions = context.required_input(1);
    const TensorView& batches = context.required_input(2);
    if (x.rank != 4 || regions.rank != 2 || regions.dims[1] != 4 || batches.element_count != regions.dims[0]) {
      invalid_argument("RoiAlign: X, rois and batch_indices of shapes " + to_string(x) + ", " + to_string(regions) +
                       ", " + to_string(batches) + " do not fit together");
    }
    const int64_t dims[] = {regions.dims[0], x.dims[1], height_, width_};
    const TensorView& y = context.output(0, dims, 4);
    if (y.element_count == 0) return;
    if (x.dims[2] == 0 || x.dims[3] == 0) invalid_argument("RoiAlign: X of shape " + to_string(x) + " is empty");
    context.parallel_for(regions.dims[0], 1, [&](int64_t begin, int64_t end) {
      std::vector<Sample<T>> samples;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = batches.as<int64_t>()[i];
        if (batch < 0 || batch >= x.dims[0]) {
          invalid_argument("RoiAlign: batch index " + std::to_string(batch) + " is outside [0, " +
                           std::to_string(x.dims[0]) + ")");
        }
        const int64_t per_bin = sample(regions.as<T>() + i * 4, x.dims[2], x.dims[3], samples);
        const int64_t bins = height_ * width_;
        for (int64_t channel = 0; channel < x.dims[1]; ++channel) {
          const T* plane = x.as<T>() + (batch * x.dims[1] + channel) * x.dims[2] * x.dims[3];
          T* to = y.as<T>() + (i * x.dims[1] + channel) * bins;
          for (int64_t bin = 0; bin < bins; ++bin) to[bin] = pool(plane, samples.data() + bin * per_bin, per_bin);
        }
      }
    });
  }

 private:
  // Fills `samples`, bin by bin; returns how many a bin has.
  int64_t sample(const T* region, int64_t rows, int64_t columns, std::vector<Sample<T>>& samples) const {
    const T offset = half_pixel_ ? T(0.5) : T(0);
    const T left = region[0] * scale_ - offset;
    const T top = region[1] * scale_ - offset;
    T width = region[2] * scale_ - offset - left;
    T height = region[3] * scale_ - offset - top;
    if (!half_pixel_) {  // a malformed region counts as one pixel
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    const T bin_height = height / static_cast<T>(height_);
    const T bin_width = width / static_cast<T>(width_);
    const int64_t grid_rows = ratio_ > 0 ? ratio_ : steps(bin_height);
    const int64_t grid_columns = ratio_ > 0 ? ratio_ : steps(bin_width);
    samples.clear();
    for (int64_t bin = 0; bin < height_ * width_; ++bin) {
      for (int64_t i = 0; i < grid_rows * grid_columns; ++i) {
        const T y = top + static_cast<T>(bin / width_) * bin_height +
                    (static_cast<T>(i / grid_columns) + T(0.5)) * bin_height / static_cast<T>(grid_rows);
        const T x = left + static_cast<T>(bin % width_) * bin_width +
                    (static_cast<T>(i % grid_columns) + T(0.5)) * bin_width / static_cast<T>(grid_columns);
        Sample<T> found;
        if (y >= T(-1) && y <= static_cast<T>(rows) && x >= T(-1) && x <= static_cast<T>(columns)) {
          const Neighbours<T> v(y, rows);
          const Neighbours<T> h(x, columns);
          found = {
              {v.low * columns + h.low, v.low * columns + h.high, v.high * columns + h.low, v.high * columns + h.high},
              {(T(1) - v.fraction) * (T(1) - h.fraction), (T(1) - v.fraction) * h.fraction,
               v.fraction * (T(1) - h.fraction), v.fraction * h.fraction}};
        }
        samples.push_back(found);
      }
    }
    return grid_rows * grid_columns;
  }

  static int64_t steps(T extent) {
    const T count = std::ceil(extent);
    if (!(count < T(1e6))) invalid_argument("RoiAlign: a region has bins of more than a million samples a side");
    return count > T(0) ? static_cast<int64_t>(count) : 0;
  }

  T pool(const T* plane, const Sample<T>* samples, int64_t count) const {
    T result = T(0);
    for (int64_t i = 0; i < count; ++i) {
      const Sample<T>& s = samples[i];
      T parts[4];
      for (int j = 0; j < 4; ++j) parts[j] = s.weight[j] * plane[s.at[j]];
      if (!largest_) {
        result += parts[0] + parts[1] + parts[2] + parts[3];
        continue;
      }
      // The largest of the weighted neighbours, not of the interpolated samples: what ORT computes.
      const T largest = std::max(std::max(parts[0], parts[1]), std::max(parts[2], parts[3]));
      result = i == 0 ? largest : std::max(result, largest);
    }
    return largest_ || count == 0 ? result : result / static_cast<T>(count);
  }

  int64_t height_;
  int64_t width_;
  int64_t ratio_;
  T scale_;
  bool largest_ = false;
  bool half_pixel_ = true;
};

std::unique_ptr<Kernel> make_roi_align(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<RoiAlignKernel<double>>(node);
  return std::make_unique<RoiAlignKernel<float>>(node);
}

}  // namespace

void register_roi_align(KernelRegistry& registry) {
  add_kernel(registry, "RoiAlign", 10, 22, {{"T1", kFloatTypes}, {"T2", kInt64Type}}, &with_half<&make_roi_align>);
}

}  // namespace onnx_light_ort::kernels
