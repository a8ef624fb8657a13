// ConvInteger and QLinearConv: convolutions of 8-bit integers with zero points.
//
// They are convolutions of floating point numbers that hold the differences from the zero points, in a type wide enough
// for every sum to be exact: float where the weights are constant and small enough, as they are in nearly every model,
// else double. Padding stands for the zero point, and is zero after the subtraction.
#include <algorithm>
#include <cmath>

#include "conv.h"
#include "converted_tensor.h"
#include "inner_call.h"
#include "native_kernels.h"
#include "registration.h"
#include "requantize.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrain = 16384;

// Constant weights less their zero points.
struct ShiftedWeights {
  std::vector<double> doubles;
  std::vector<float> floats;  ///< In place of doubles, where these suffice.
  std::vector<int64_t> dims;
  TensorView view;
};

// Elements of x less a zero point for each of the runs that x is divided into, or one for all.
template <class T>
void subtract_zero(const std::vector<int32_t>& zeros, int64_t run, int64_t begin, int64_t end, T* x) {
  for (int64_t i = begin; i < end; ++i)
    x[i] -= static_cast<T>(zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(i / run)]);
}

class IntegerConvKernel final : public Kernel {
 public:
  explicit IntegerConvKernel(const Node& node) : op_(node.op_type), quantizes_(op_ == "QLinearConv") {
    Node conv = node;
    conv.op_type = "Conv";
    conv.since_version = 11;
    const TensorView* w = constant_input(node, weights_input());
    const bool has_zero = has_input(node, weights_zero_input());
    const bool is_constant = w != nullptr && (!has_zero || constant_input(node, weights_zero_input()) != nullptr);
    if (is_constant) {
      const TensorView* zero = constant_input(node, weights_zero_input());
      shift_constant(*w, zero);
    }
    type_ = is_constant && fits_float() ? DataType::kFloat : DataType::kDouble;
    if (type_ == DataType::kFloat) {
      weights_.floats.assign(weights_.doubles.begin(), weights_.doubles.end());
      weights_.doubles = {};
      weights_.view.data = weights_.floats.data();
      weights_.view.dtype = type_;
    }
    conv.input_types = {type_, type_};
    conv.output_types = {type_};
    conv.constant_inputs = {nullptr, is_constant ? &weights_.view : nullptr};
    conv_ = make_conv(conv);
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& w = context.required_input(weights_input());
    if (type_ == DataType::kFloat) {
      compute<float>(context, x, w);
    } else {
      compute<double>(context, x, w);
    }
  }

 private:
  size_t weights_input() const { return quantizes_ ? 3 : 1; }
  size_t weights_zero_input() const { return quantizes_ ? 5 : 3; }

  std::vector<int32_t> zeros_of(const TensorView* zero, int64_t lines, const char* name) const {
    if (zero == nullptr) return {0};
    if (zero->element_count != 1 && zero->element_count != lines) {
      invalid_argument(op_ + ": " + name + " has shape " + to_string(*zero) + ", expected one element or " +
                       std::to_string(lines));
    }
    return elements_as<int32_t>(*zero);
  }

  void shift_constant(const TensorView& w, const TensorView* zero) {
    weights_.doubles = elements_as<double>(w);
    weights_.dims.assign(w.dims, w.dims + w.rank);
    const int64_t filters = w.rank > 0 ? w.dims[0] : 1;
    const std::vector<int32_t> zeros = zeros_of(zero, filters, "w_zero_point");
    subtract_zero(zeros, std::max<int64_t>(1, w.element_count / std::max<int64_t>(1, filters)), 0, w.element_count,
                  weights_.doubles.data());
    weights_.view = TensorView{weights_.doubles.data(), weights_.dims.data(), weights_.dims.size(), w.element_count,
                               DataType::kDouble};
  }

  // Differences from a zero point lie in [-255, 255]: whatever the order, no partial sum exceeds 255 times the sum of a
  // filter's absolute weights, and whole numbers below 2^24 are exact.
  bool fits_float() const {
    const int64_t filters = weights_.dims.empty() ? 0 : weights_.dims[0];
    if (filters == 0) return true;
    const int64_t each = weights_.view.element_count / filters;
    for (int64_t f = 0; f < filters; ++f) {
      double sum = 0;
      for (int64_t i = 0; i < each; ++i) sum += std::abs(weights_.doubles[static_cast<size_t>(f * each + i)]);
      if (sum * 255 >= 0x1p24) return false;
    }
    return true;
  }

  template <class T>
  void compute(RunContext& context, const TensorView& x, const TensorView& w) const {
    const TensorView shifted_x =
        shifted<T>(context, x, zeros_of(context.input(2), 1, "x_zero_point"), std::max<int64_t>(1, x.element_count));
    TensorView shifted_w = weights_.view;
    if (shifted_w.data == nullptr) {
      const int64_t filters = w.rank > 0 ? w.dims[0] : 1;
      shifted_w = shifted<T>(context, w, zeros_of(context.input(weights_zero_input()), filters, "w_zero_point"),
                             std::max<int64_t>(1, w.element_count / std::max<int64_t>(1, filters)));
    }
    InnerCall call(context, {&shifted_x, &shifted_w}, type_);
    conv_->compute(call);
    const TensorView& sums = call.result();
    const TensorView& y = context.output(0, sums.dims, sums.rank);
    if (y.element_count == 0) return;
    if (!quantizes_) {
      context.parallel_for(y.element_count, kGrain, [&](int64_t begin, int64_t end) {
        whole(sums.as<T>() + begin, end - begin, 0, y.as<int32_t>() + begin);
      });
      return;
    }
    quantize(context, sums, y);
  }

  template <class T>
  static TensorView shifted(RunContext& context, const TensorView& x, const std::vector<int32_t>& zeros, int64_t run) {
    const TensorView copy = converted(context, x, kDataTypeOf<T>);
    context.parallel_for(x.element_count, kGrain,
                         [&](int64_t begin, int64_t end) { subtract_zero(zeros, run, begin, end, copy.as<T>()); });
    return copy;
  }

  // Sums and a bias as int32, which wraps around.
  template <class T>
  static void whole(const T* sums, int64_t n, int32_t bias, int32_t* y) {
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sums[i])) + static_cast<uint32_t>(bias));
    }
  }

  void quantize(RunContext& context, const TensorView& sums, const TensorView& y) const {
    const int64_t filters = y.dims[1];
    const auto scales_of = [&](size_t i, int64_t lines, const char* name) {
      const TensorView& scale = context.required_input(i);
      if (scale.element_count != 1 && scale.element_count != lines) {
        invalid_argument(op_ + ": " + name + " has shape " + to_string(scale) + ", expected one element or " +
                         std::to_string(lines));
      }
      return elements_as<float>(scale);
    };
    std::vector<float> scales = scales_of(4, filters, "w_scale");
    const float x_scale = scales_of(1, 1, "x_scale")[0];
    const float y_scale = scales_of(6, 1, "y_scale")[0];
    for (float& scale : scales) scale = x_scale * scale / y_scale;
    const int32_t zero = zeros_of(context.input(7), 1, "y_zero_point")[0];
    const TensorView* bias = context.input(8);
    if (bias != nullptr && bias->element_count != filters) {
      invalid_argument(op_ + ": B has shape " + to_string(*bias) + " for " + std::to_string(filters) + " filters");
    }
    const int64_t plane = product(y.dims, 2, y.rank);
    auto* accumulated = static_cast<int32_t*>(context.scratch(static_cast<size_t>(y.element_count) * sizeof(int32_t)));
    context.parallel_for(y.element_count / plane, std::max<int64_t>(1, kGrain / plane),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                             const int64_t filter = i % filters;
                             const int32_t added = bias != nullptr ? bias->as<int32_t>()[filter] : 0;
                             int32_t* line = accumulated + i * plane;
                             if (type_ == DataType::kFloat) {
                               whole(sums.as<float>() + i * plane, plane, added, line);
                             } else {
                               whole(sums.as<double>() + i * plane, plane, added, line);
                             }
                             requantize<false>(line, y, i * plane, plane,
                                               &scales[scales.size() == 1 ? 0 : static_cast<size_t>(filter)], zero);
                           }
                         });
  }

  std::string op_;
  bool quantizes_;
  DataType type_;           ///< What the sums are computed in.
  ShiftedWeights weights_;  ///< Empty where the weights are not constant.
  std::unique_ptr<Kernel> conv_;
};

std::unique_ptr<Kernel> make_integer_conv(const Node& node) { return std::make_unique<IntegerConvKernel>(node); }

}  // namespace

void register_integer_conv(KernelRegistry& registry) {
  const TypeList bytes = {DataType::kInt8, DataType::kUInt8};
  const TypeList int32 = {DataType::kInt32};
  add_kernel(registry, "ConvInteger", 10, 10, {{"T1", bytes}, {"T2", bytes}, {"T3", int32}}, &make_integer_conv);
  add_kernel(registry, "QLinearConv", 10, 10, {{"T1", bytes}, {"T2", bytes}, {"T3", bytes}, {"T4", int32}},
             &make_integer_conv);
}

}  // namespace onnx_light_ort::kernels
