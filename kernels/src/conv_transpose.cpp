// ConvTranspose: every input element spreads its kernel over the output. The products of weights and inputs are one
// matrix product; each output plane then gathers its share of them.
#include "gemm.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"
#include "window.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
class ConvTransposeKernel final : public Kernel {
 public:
  explicit ConvTransposeKernel(const Node& node)
      : window_(node),
        groups_(node.attribute_or<int64_t>("group", 1)),
        output_padding_(node.attribute_or<std::vector<int64_t>>("output_padding", {})),
        output_shape_(node.attribute_or<std::vector<int64_t>>("output_shape", {})) {
    check_window_attribute(node.op_type, "output_padding", output_padding_, 0);
    check_window_attribute(node.op_type, "output_shape", output_shape_, 0);
    const TensorView* w = constant_input(node, 1);
    if (w != nullptr && w->rank > 5) decline(node, "more than three spatial dimensions");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& w = context.required_input(1);
    const TensorView* bias = context.input(2);
    if (x.rank > 5) fail(ErrorKind::kNotImplemented, "ConvTranspose: more than three spatial dimensions");
    if (w.rank != x.rank || x.rank < 3 || groups_ < 1 || x.dims[1] != w.dims[0] || x.dims[1] % groups_ != 0) {
      invalid_argument("ConvTranspose: input of shape " + to_string(x) + " does not fit weights of shape " +
                       to_string(w) + " in " + std::to_string(groups_) + " groups");
    }
    const int64_t filters = w.dims[1];  // of one group
    const int64_t output_channels = checked_product("ConvTranspose", filters, groups_);
    if (bias != nullptr && (bias->rank != 1 || bias->dims[0] != output_channels)) {
      invalid_argument("ConvTranspose: bias of shape " + to_string(*bias) + " does not fit weights of shape " +
                       to_string(w));
    }
    const PlacedWindow window = place(x, w);
    Dims dims(x);
    dims[1] = output_channels;
    for (size_t d = 2; d < x.rank; ++d) dims[d] = window.out[d + 3 - x.rank];
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;

    const int64_t channels = x.dims[1] / groups_;
    const int64_t taps = window.taps();
    const int64_t positions = window.in_count();
    // products[filter, tap, position] = sum over channels of w[channel, filter, tap] x[channel, position]
    GemmProblem<T> problem;
    problem.m = checked_product("ConvTranspose", filters, taps);
    problem.n = positions;
    problem.k = channels;
    problem.ldc = positions;
    const int64_t scratch = checked_product("ConvTranspose", checked_product("ConvTranspose", problem.m, positions),
                                            static_cast<int64_t>(sizeof(T)));
    auto* products = static_cast<T*>(context.scratch(static_cast<size_t>(scratch)));
    problem.c = products;
    for (int64_t index = 0; index < x.dims[0] * groups_; ++index) {
      const int64_t group = index % groups_;
      problem.a = {w.as<T>() + group * channels * problem.m, 1, problem.m};
      problem.b = {x.as<T>() + index * channels * positions, positions, 1};
      gemm(context, problem);
      context.parallel_for(filters, std::max<int64_t>(1, 16384 / taps / std::max<int64_t>(1, positions)),
                           [&](int64_t begin, int64_t end) {
                             for (int64_t f = begin; f < end; ++f) {
                               T* plane = y.as<T>() + (index * filters + f) * window.out_count();
                               std::fill_n(plane, window.out_count(),
                                           bias != nullptr ? bias->as<T>()[group * filters + f] : T(0));
                               scatter(products + f * taps * positions, window, plane);
                             }
                           });
    }
  }

 private:
  // `in` and `out` are this operator's; valid ranges of input indices follow from swapping their roles.
  PlacedWindow place(const TensorView& x, const TensorView& w) const {
    PlacedWindow window{};
    const size_t spatial = x.rank - 2;
    for (size_t d = 0; d < 3; ++d) {
      window.in[d] = window.kernel[d] = window.stride[d] = window.dilation[d] = window.out[d] = 1;
    }
    const auto value = [&](const std::vector<int64_t>& values, size_t i, size_t length, int64_t absent) {
      if (values.empty()) return absent;
      if (values.size() != length) invalid_argument("ConvTranspose: an attribute does not fit the input's rank");
      return values[i];
    };
    checked_taps("ConvTranspose", w.dims + 2, spatial);
    // The batch and the channels may stand before the extents of output_shape.
    const bool of_all = output_shape_.size() == x.rank;
    if (!output_shape_.empty() && !of_all && output_shape_.size() != spatial) {
      invalid_argument("ConvTranspose: output_shape has " + std::to_string(output_shape_.size()) +
                       " values for an input of shape " + to_string(x));
    }
    for (size_t i = 0; i < spatial; ++i) {
      const size_t d = 3 - spatial + i;
      window.in[d] = x.dims[2 + i];
      window.kernel[d] = w.dims[2 + i];
      window.stride[d] = value(window_.strides(), i, spatial, 1);
      window.dilation[d] = value(window_.dilations(), i, spatial, 1);
      const bool padded = window_.auto_pad() != "VALID";
      window.pad_begin[d] = padded ? value(window_.pads(), i, 2 * spatial, 0) : 0;
      window.pad_end[d] = padded ? value(window_.pads(), i + spatial, 2 * spatial, 0) : 0;
      const int64_t reach = window.dilation[d] * (window.kernel[d] - 1) + 1;
      // Attributes are below 2^31 and reach is below 2^62: only the input's extent can overflow the sum.
      const int64_t spread = checked_product("ConvTranspose", window.stride[d], window.in[d] - 1);
      const int64_t added = value(output_padding_, i, spatial, 0) + reach;
      if (!output_shape_.empty() || window_.has_auto_pad()) {
        // Of what is cut off, the odd element goes to the end for SAME_UPPER, else to the front.
        const int64_t out = window.out[d] = output_shape_.empty()
                                                ? checked_product("ConvTranspose", window.in[d], window.stride[d])
                                                : output_shape_[i + (of_all ? 2 : 0)];
        const int64_t cut = checked_sum("ConvTranspose", spread, added) - out;
        const int64_t smaller = cut >> 1;  // toward minus infinity: an output beyond all copies is cut negatively
        window.pad_begin[d] = window_.auto_pad() == "SAME_UPPER" ? smaller : cut - smaller;
        window.pad_end[d] = cut - window.pad_begin[d];
        continue;
      }
      const int64_t around = added - window.pad_begin[d] - window.pad_end[d];
      window.out[d] = std::max<int64_t>(0, checked_sum("ConvTranspose", spread, around));
    }
    return window;
  }

  static void scatter(const T* products, const PlacedWindow& w, T* plane) {
    for (int64_t kd = 0; kd < w.kernel[0]; ++kd) {
      for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
        for (int64_t kw = 0; kw < w.kernel[2]; ++kw, products += w.in_count()) {
          const ValidRange depth = valid_range(w.in[0], w.stride[0], w.pad_begin[0], kd * w.dilation[0], w.out[0]);
          const ValidRange height = valid_range(w.in[1], w.stride[1], w.pad_begin[1], kh * w.dilation[1], w.out[1]);
          const ValidRange width = valid_range(w.in[2], w.stride[2], w.pad_begin[2], kw * w.dilation[2], w.out[2]);
          for (int64_t id = depth.first; id < depth.last; ++id) {
            for (int64_t ih = height.first; ih < height.last; ++ih) {
              const int64_t od = id * w.stride[0] - w.pad_begin[0] + kd * w.dilation[0];
              const int64_t oh = ih * w.stride[1] - w.pad_begin[1] + kh * w.dilation[1];
              const T* from = products + (id * w.in[1] + ih) * w.in[2];
              T* to = plane + (od * w.out[1] + oh) * w.out[2] - w.pad_begin[2] + kw * w.dilation[2];
              for (int64_t iw = width.first; iw < width.last; ++iw) to[iw * w.stride[2]] += from[iw];
            }
          }
        }
      }
    }
  }

  Window window_;
  int64_t groups_;
  std::vector<int64_t> output_padding_;
  std::vector<int64_t> output_shape_;
};

std::unique_ptr<Kernel> make_conv_transpose(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<ConvTransposeKernel<double>>(node);
  return std::make_unique<ConvTransposeKernel<float>>(node);
}

}  // namespace

void register_conv_transpose(KernelRegistry& registry) {
  add_kernel(registry, "ConvTranspose", 1, 22, {{"T", kFloatTypes}}, &with_half<&make_conv_transpose>);
}

}  // namespace onnx_light_ort::kernels
