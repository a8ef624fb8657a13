// MaxRoiPool: the maximum of each cell of a grid over each region, as in R. Girshick, "Fast R-CNN", ICCV 2015. A region
// is (batch index, x1, y1, x2, y2); an empty cell is zero.
#include <algorithm>
#include <cmath>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
class MaxRoiPoolKernel final : public Kernel {
 public:
  explicit MaxRoiPoolKernel(const Node& node)
      : cells_(node.attribute_or<std::vector<int64_t>>("pooled_shape", {})),
        scale_(static_cast<T>(node.attribute_or("spatial_scale", 1.0f))) {
    if (cells_.size() != 2 || cells_[0] < 1 || cells_[1] < 1) {
      invalid_argument("MaxRoiPool: pooled_shape is " + to_string(cells_.data(), cells_.size()) +
                       ", expected a height and a width");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& regions = context.required_input(1);
    if (x.rank != 4 || regions.rank != 2 || regions.dims[1] != 5) {
      invalid_argument("MaxRoiPool: input of shape " + to_string(x) + " and regions of shape " + to_string(regions));
    }
    const int64_t channels = x.dims[1];
    const int64_t dims[] = {regions.dims[0], channels, cells_[0], cells_[1]};
    const TensorView& y = context.output(0, dims, 4);
    const int64_t area = cells_[0] * cells_[1];
    context.parallel_for(regions.dims[0] * channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* region = regions.as<T>() + i / channels * 5;
        if (!(region[0] >= 0 && region[0] < static_cast<T>(x.dims[0]))) {
          invalid_argument("MaxRoiPool: a region is of image " + std::to_string(region[0]) + " of " +
                           std::to_string(x.dims[0]));
        }
        const int64_t image = static_cast<int64_t>(region[0]) * channels + i % channels;
        pool(x.as<T>() + image * x.dims[2] * x.dims[3], x.dims[2], x.dims[3], region, y.as<T>() + i * area);
      }
    });
  }

 private:
  struct Span {
    int64_t first;
    int64_t last;
  };

  // What the i-th of `count` cells covers of an axis, for a region from one coordinate to another.
  Span cell(T from, T to, int64_t i, int64_t count, int64_t extent) const {
    constexpr T kFar = static_cast<T>(1 << 30);
    const auto whole = [&](T v) { return std::floor(std::min(kFar, std::max(-kFar, v * scale_)) + T(0.5)); };
    const T start = whole(from);
    const T length = std::max(whole(to) - start + T(1), T(1)) / static_cast<T>(count);
    const auto first = static_cast<int64_t>(std::floor(static_cast<T>(i) * length) + start);
    const auto last = static_cast<int64_t>(std::ceil(static_cast<T>(i + 1) * length) + start);
    return {std::clamp<int64_t>(first, 0, extent), std::clamp<int64_t>(last, 0, extent)};
  }

  void pool(const T* plane, int64_t height, int64_t width, const T* region, T* y) const {
    for (int64_t i = 0; i < cells_[0]; ++i) {
      const Span rows = cell(region[2], region[4], i, cells_[0], height);
      for (int64_t j = 0; j < cells_[1]; ++j) {
        const Span columns = cell(region[1], region[3], j, cells_[1], width);
        const bool is_empty = rows.first >= rows.last || columns.first >= columns.last;
        T largest = is_empty ? T(0) : plane[rows.first * width + columns.first];
        for (int64_t row = rows.first; row < rows.last; ++row) {
          for (int64_t column = columns.first; column < columns.last; ++column) {
            largest = std::max(largest, plane[row * width + column]);
          }
        }
        *y++ = largest;
      }
    }
  }

  std::vector<int64_t> cells_;
  T scale_;
};

std::unique_ptr<Kernel> make_max_roi_pool(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<MaxRoiPoolKernel<double>>(node);
  return std::make_unique<MaxRoiPoolKernel<float>>(node);
}

}  // namespace

void register_max_roi_pool(KernelRegistry& registry) {
  add_kernel(registry, "MaxRoiPool", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_max_roi_pool>);
}

}  // namespace onnx_light_ort::kernels
