#include "max_pool_with_indices.h"

#include <limits>

#include "registration.h"
#include "window.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
class MaxPoolWithIndicesKernel final : public Kernel {
 public:
  explicit MaxPoolWithIndicesKernel(const Node& node)
      : window_(node), column_major_(node.attribute_or<int64_t>("storage_order", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const PlacedWindow w = window_.place(x, nullptr);
    Dims dims(x);
    for (size_t d = 2; d < x.rank; ++d) dims[d] = w.out[d + 3 - x.rank];
    const TensorView& y = context.output(0, dims.data(), dims.size());
    const TensorView& indices = context.output(1, dims.data(), dims.size());
    if (y.element_count == 0) return;
    context.parallel_for(x.dims[0] * x.dims[1], std::max<int64_t>(1, 16384 / w.out_count() / w.taps()),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t plane = begin; plane < end; ++plane) {
                             pool(x.as<T>() + plane * w.in_count(), plane * w.in_count(), w,
                                  y.as<T>() + plane * w.out_count(), indices.as<int64_t>() + plane * w.out_count());
                           }
                         });
  }

 private:
  void pool(const T* x, int64_t offset, const PlacedWindow& w, T* y, int64_t* indices) const {
    const auto taps = [&w](size_t d, int64_t o) {
      return valid_taps(o, w.stride[d], w.pad_begin[d], w.dilation[d], w.kernel[d], 0, w.in[d]);
    };
    const auto position = [&w](size_t d, int64_t o, int64_t tap) {
      return o * w.stride[d] - w.pad_begin[d] + tap * w.dilation[d];
    };
    for (int64_t od = 0; od < w.out[0]; ++od) {
      const ValidRange depths = taps(0, od);
      for (int64_t oh = 0; oh < w.out[1]; ++oh) {
        const ValidRange heights = taps(1, oh);
        for (int64_t ow = 0; ow < w.out[2]; ++ow) {
          const ValidRange widths = taps(2, ow);
          T largest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();
          int64_t found = -1;
          for (int64_t kd = depths.first; kd < depths.last; ++kd) {
            for (int64_t kh = heights.first; kh < heights.last; ++kh) {
              const int64_t row = (position(0, od, kd) * w.in[1] + position(1, oh, kh)) * w.in[2];
              for (int64_t kw = widths.first; kw < widths.last; ++kw) {
                const int64_t at = row + position(2, ow, kw);
                if (found >= 0 && !(x[at] > largest)) continue;
                if (x[at] > largest) largest = x[at];
                found = at;
              }
            }
          }
          *y++ = largest;
          *indices++ = found < 0 ? -1 : offset + (column_major_ ? column_major(found, w) : found);
        }
      }
    }
  }

  static int64_t column_major(int64_t at, const PlacedWindow& w) {
    const int64_t width = at % w.in[2];
    const int64_t height = at / w.in[2] % w.in[1];
    const int64_t depth = at / w.in[2] / w.in[1];
    return depth + (height + width * w.in[1]) * w.in[0];
  }

  Window window_;
  bool column_major_;
};

}  // namespace

std::unique_ptr<Kernel> make_max_pool_with_indices(const Node& node) {
  return dispatch<float, double, int8_t, uint8_t>(input_type(node, 0), [&](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<MaxPoolWithIndicesKernel<typename decltype(tag)::type>>(node));
  });
}

}  // namespace onnx_light_ort::kernels
