// QuantizeLinear, DequantizeLinear (a tensor or an axis at a time), DynamicQuantizeLinear, MatMulInteger.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu_level.h"
#include "dims.h"
#include "gemm.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrain = 16384;

// round(x / scale) + zero, saturated; halves go to the even neighbour, NaN to the lowest number.
template <class T>
[[gnu::always_inline]] inline void quantize_run(const float* x, T* y, int64_t n, float scale, int32_t zero) {
  const auto low = static_cast<float>(std::numeric_limits<T>::lowest()) - static_cast<float>(zero);
  const auto high = static_cast<float>(std::numeric_limits<T>::max()) - static_cast<float>(zero);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float q = std::nearbyint(x[i] / scale);
    const float raised = q > low ? q : low;
    const float clamped = raised < high ? raised : high;
    y[i] = static_cast<T>(static_cast<int32_t>(clamped) + zero);
  }
}

template <class T>
[[gnu::always_inline]] inline void dequantize_run(const T* x, float* y, int64_t n, float scale, int32_t zero) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 4) {
      y[i] = static_cast<float>(static_cast<int64_t>(x[i]) - zero) * scale;
    } else {
      y[i] = static_cast<float>(static_cast<int32_t>(x[i]) - zero) * scale;
    }
  }
}

// Calls run(begin, n, parameter) for stretches of x that share a parameter; parameter counts along the axis.
template <class Run>
void for_each_stretch(RunContext& context, const char* op, const TensorView& x, const TensorView& scale,
                      const TensorView* zero, int64_t axis_attribute, Run&& run) {
  if (zero != nullptr && zero->element_count != scale.element_count) {
    invalid_argument(std::string(op) + ": scale of shape " + to_string(scale) + " and zero point of shape " +
                     to_string(*zero) + " differ");
  }
  if (scale.element_count == 1 && scale.rank <= 1) {
    context.parallel_for(x.element_count, kGrain, [&](int64_t begin, int64_t end) { run(begin, end - begin, 0); });
    return;
  }
  const size_t axis = normalized_axis(op, axis_attribute, x.rank);
  if (scale.rank != 1 || scale.dims[0] != x.dims[axis]) {
    invalid_argument(std::string(op) + ": scale of shape " + to_string(scale) + " does not fit axis " +
                     std::to_string(axis) + " of shape " + to_string(x));
  }
  const int64_t inner = product(x.dims, axis + 1, x.rank);
  if (x.element_count == 0) return;
  context.parallel_for(x.element_count / inner, std::max<int64_t>(1, kGrain / inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run(i * inner, inner, i % x.dims[axis]);
  });
}

template <class T>
class QuantizeKernel final : public Kernel {
 public:
  explicit QuantizeKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", 1)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const TensorView* zero = context.input(2);
    const TensorView& y = context.output(0, x.dims, x.rank);
    for_each_stretch(context, "QuantizeLinear", x, scale, zero, axis_,
                     [&](int64_t begin, int64_t n, int64_t parameter) {
                       loop_(x.as<float>() + begin, y.as<T>() + begin, n, scale.as<float>()[parameter],
                             zero != nullptr ? zero->as<T>()[parameter] : 0);
                     });
  }

 private:
  int64_t axis_;
  void (*loop_)(const float*, T*, int64_t, float, int32_t) = Versions<&quantize_run<T>>::best();
};

template <class T>
class DequantizeKernel final : public Kernel {
 public:
  explicit DequantizeKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", 1)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const TensorView* zero = context.input(2);
    const TensorView& y = context.output(0, x.dims, x.rank);
    for_each_stretch(context, "DequantizeLinear", x, scale, zero, axis_,
                     [&](int64_t begin, int64_t n, int64_t parameter) {
                       loop_(x.as<T>() + begin, y.as<float>() + begin, n, scale.as<float>()[parameter],
                             zero != nullptr ? static_cast<int32_t>(zero->as<T>()[parameter]) : 0);
                     });
  }

 private:
  int64_t axis_;
  void (*loop_)(const T*, float*, int64_t, float, int32_t) = Versions<&dequantize_run<T>>::best();
};

void decline_blocks(const Node& node) {
  if (node.attribute_or<int64_t>("block_size", 0) != 0) decline(node, "blocked quantization");
}

std::unique_ptr<Kernel> make_quantize(const Node& node) {
  decline_blocks(node);
  if (node.attribute_or<int64_t>("precision", 0) > 1) decline(node, "precision other than float");
  if (input_type(node, 0) != DataType::kFloat || input_type(node, 1) != DataType::kFloat) {
    decline(node, "an input that is not floating point");
  }
  return dispatch<int8_t, uint8_t, int16_t, uint16_t>(node.output_types.at(0), [&](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<QuantizeKernel<typename decltype(tag)::type>>(node));
  });
}

std::unique_ptr<Kernel> make_dequantize(const Node& node) {
  decline_blocks(node);
  if (input_type(node, 1) != DataType::kFloat) decline(node, "this type of scale");
  return dispatch<int8_t, uint8_t, int16_t, uint16_t, int32_t>(input_type(node, 0), [&](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<DequantizeKernel<typename decltype(tag)::type>>(node));
  });
}

// y = round(x / scale) + zero with scale and zero chosen so that 0 and the range of x fit into uint8.
class DynamicQuantizeKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& y = context.output(0, x.dims, x.rank);
    const TensorView& scale_out = context.output(1, nullptr, 0);
    const TensorView& zero_out = context.output(2, nullptr, 0);
    float low = 0;
    float high = 0;
    for (int64_t i = 0; i < x.element_count; ++i) {
      low = std::min(low, x.as<float>()[i]);
      high = std::max(high, x.as<float>()[i]);
    }
    const float scale = high == low ? 1.0f : (high - low) / 255.0f;
    const auto zero = static_cast<uint8_t>(std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f)));
    *scale_out.as<float>() = scale;
    *zero_out.as<uint8_t>() = zero;
    context.parallel_for(x.element_count, kGrain, [&](int64_t begin, int64_t end) {
      loop_(x.as<float>() + begin, y.as<uint8_t>() + begin, end - begin, scale, zero);
    });
  }

 private:
  void (*loop_)(const float*, uint8_t*, int64_t, float, int32_t) = Versions<&quantize_run<uint8_t>>::best();
};

std::unique_ptr<Kernel> make_dynamic_quantize(const Node&) { return std::make_unique<DynamicQuantizeKernel>(); }

// Y = (A - a_zero)(B - b_zero) in int32. Differences lie in [-255, 255], so that sums of up to 256 products stay below
// 2^24 and are exact in float: the products are float's, and only the blocks of k are added as integers.
class MatMulIntegerKernel final : public Kernel {
 public:
  explicit MatMulIntegerKernel(const Node& node)
      : a_signed_(input_type(node, 0) == DataType::kInt8), b_signed_(input_type(node, 1) == DataType::kInt8) {}

  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    if (a.rank < 1 || b.rank < 1 || (b.rank > 2 && a.rank != b.rank)) {
      fail(ErrorKind::kNotImplemented, "MatMulInteger: shapes " + to_string(a) + " and " + to_string(b));
    }
    const int64_t k = a.dims[a.rank - 1];
    const int64_t n = b.rank > 1 ? b.dims[b.rank - 1] : 1;
    const int64_t batch = b.rank > 2 ? product(b.dims, 0, b.rank - 2) : 1;
    bool fits = k == b.dims[b.rank > 1 ? b.rank - 2 : 0];
    for (size_t d = 0; fits && b.rank > 2 && d + 2 < b.rank; ++d) fits = a.dims[d] == b.dims[d];
    if (!fits) invalid_argument("MatMulInteger: shapes " + to_string(a) + " and " + to_string(b) + " do not agree");
    Dims dims(a.dims, a.rank - 1);
    if (b.rank > 1) dims.push_back(n);
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t m = y.element_count / n / batch;
    const auto allocate = [&](int64_t count) {
      return static_cast<float*>(context.scratch(static_cast<size_t>(count) * sizeof(float)));
    };
    float* left = allocate(a.element_count);
    float* right = allocate(b.element_count);
    float* sums = allocate(m * n);
    // The zero point of A is one, or one a row; that of B one, or one a column.
    shift(context, a, context.input(2), a_signed_, m * batch, k, left);
    shift(context, b, context.input(3), b_signed_, n, 1, right);
    for (int64_t i = 0; i < batch; ++i) {
      int32_t* out = y.as<int32_t>() + i * m * n;
      std::fill_n(out, m * n, 0);
      for (int64_t begin = 0; begin < k; begin += kExact) {
        GemmProblem<float> problem;
        problem.m = m;
        problem.n = n;
        problem.k = std::min(kExact, k - begin);
        problem.a = {left + i * m * k + begin, k, 1};
        problem.b = {right + (i * k + begin) * n, n, 1};
        problem.c = sums;
        problem.ldc = n;
        gemm(context, problem);
        context.parallel_for(m * n, kGrain, [&](int64_t first, int64_t last) {
          for (int64_t j = first; j < last; ++j) {
            out[j] = static_cast<int32_t>(static_cast<uint32_t>(out[j]) +
                                          static_cast<uint32_t>(static_cast<int32_t>(sums[j])));
          }
        });
      }
    }
  }

 private:
  static constexpr int64_t kExact = 256;

  // x - zero as float; element i takes zero point i / run % lines of `lines`.
  static void shift(RunContext& context, const TensorView& x, const TensorView* zero, bool is_signed, int64_t lines,
                    int64_t run, float* to) {
    if (zero != nullptr && zero->element_count != 1 && zero->element_count != lines) {
      fail(ErrorKind::kNotImplemented, "MatMulInteger: a zero point of shape " + to_string(*zero));
    }
    const auto value = [is_signed](const TensorView& view, int64_t i) {
      return static_cast<float>(is_signed ? static_cast<int32_t>(view.as<int8_t>()[i])
                                          : static_cast<int32_t>(view.as<uint8_t>()[i]));
    };
    const bool single = zero == nullptr || zero->element_count == 1;
    const float only = zero == nullptr ? 0.0f : value(*zero, 0);
    context.parallel_for(x.element_count, kGrain, [&](int64_t begin, int64_t end) {
      if (single && is_signed) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(x.as<int8_t>()[i]) - only;
      } else if (single) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(x.as<uint8_t>()[i]) - only;
      } else {
        for (int64_t i = begin; i < end; ++i) to[i] = value(x, i) - value(*zero, i / run % lines);
      }
    });
  }

  bool a_signed_;
  bool b_signed_;
};

std::unique_ptr<Kernel> make_matmul_integer(const Node& node) { return std::make_unique<MatMulIntegerKernel>(node); }

}  // namespace

void register_quantize(KernelRegistry& registry) {
  const TypeList bytes = {DataType::kInt8, DataType::kUInt8};
  const TypeList integers = bytes + TypeList{DataType::kInt16, DataType::kUInt16};
  const TypeList scales = {DataType::kFloat, DataType::kFloat16, DataType::kBFloat16};
  const TypeList dequantized = integers + TypeList{DataType::kInt32};
  add_kernel(registry, "QuantizeLinear", 10, 21, {{"T1", scales}, {"T2", integers}}, &with_half<&make_quantize>);
  add_kernel(registry, "QuantizeLinear", 23, 28, {{"T1", scales}, {"T2", scales}, {"T3", integers}},
             &with_half<&make_quantize>);
  add_kernel(registry, "DequantizeLinear", 10, 13, {{"T", dequantized}}, &make_dequantize);
  add_kernel(registry, "DequantizeLinear", 19, 21, {{"T1", dequantized}, {"T2", scales}}, &with_half<&make_dequantize>);
  add_kernel(registry, "DequantizeLinear", 23, 28, {{"T1", dequantized}, {"T2", scales}, {"T3", scales}},
             &with_half<&make_dequantize>);
  add_kernel(registry, "DynamicQuantizeLinear", 11, 11, {{"T1", kFloatType}}, &make_dynamic_quantize);
  add_kernel(registry, "MatMulInteger", 10, 10, {{"T1", bytes}, {"T2", bytes}}, &make_matmul_integer);
}

}  // namespace onnx_light_ort::kernels
