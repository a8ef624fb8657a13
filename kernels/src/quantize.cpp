// QuantizeLinear and DequantizeLinear (a tensor, an axis or a block at a time), DynamicQuantizeLinear.
//
// Types that share a byte and types of 16 bits or less without arithmetic go through what carries them, as whole
// tensors: see carried_element.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "converted_tensor.h"
#include "cpu_level.h"
#include "dims.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrain = 16384;

// Which scale and zero point an element takes: runs of elements share one, or take neighbouring ones.
class ParameterLayout {
 public:
  ParameterLayout(const char* op, const TensorView& x, const TensorView& scale, const TensorView* zero, int64_t axis,
                  int64_t block) {
    if (zero != nullptr && zero->element_count != scale.element_count) {
      invalid_argument(std::string(op) + ": scale of shape " + to_string(scale) + " and zero point of shape " +
                       to_string(*zero) + " differ");
    }
    if (block < 0) invalid_argument(std::string(op) + ": block_size is " + std::to_string(block));
    if (scale.element_count == 1 && scale.rank <= 1) {
      run_ = std::max<int64_t>(1, x.element_count);
      return;
    }
    const size_t at = normalized_axis(op, axis, x.rank);
    extent_ = x.dims[at];
    inner_ = product(x.dims, at + 1, x.rank);
    bool fits = true;
    if (block == 0) {
      fits = scale.rank == 1 && scale.dims[0] == extent_;
    } else {
      fits = scale.rank == x.rank;
      blocks_ = (extent_ + block - 1) / block;
      for (size_t d = 0; fits && d < x.rank; ++d) fits = scale.dims[d] == (d == at ? blocks_ : x.dims[d]);
    }
    if (!fits) {
      invalid_argument(std::string(op) + ": scale of shape " + to_string(scale) + " does not fit axis " +
                       std::to_string(at) + " of shape " + to_string(x) +
                       (block > 0 ? " in blocks of " + std::to_string(block) : ""));
    }
    block_ = block;
    // Neighbouring parameters: along the last axis, or across it in blocks of another one.
    neighbours_ = block == 0 ? inner_ == 1 : inner_ > 1;
    run_ = inner_ > 1 ? inner_ : std::max<int64_t>(1, extent_);
  }

  /// run(begin, n, parameter, neighbours) for all of `count` elements.
  template <class Run>
  void for_each_run(RunContext& context, int64_t count, Run&& run) const {
    if (count == 0) return;
    if (extent_ == 0) {  // one parameter
      context.parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { run(begin, end - begin, 0, false); });
      return;
    }
    context.parallel_for(count / run_, std::max<int64_t>(1, kGrain / run_), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = row * run_;
        if (block_ == 0) {
          run(first, run_, neighbours_ ? 0 : row % extent_, neighbours_);
        } else if (neighbours_) {
          run(first, run_, (row / extent_ * blocks_ + row % extent_ / block_) * inner_, true);
        } else {
          for (int64_t i = 0; i < extent_; i += block_) {
            run(first + i, std::min(block_, extent_ - i), row * blocks_ + i / block_, false);
          }
        }
      }
    });
  }

 private:
  int64_t extent_ = 0;
  int64_t inner_ = 1;
  int64_t block_ = 0;
  int64_t blocks_ = 0;
  int64_t run_ = 1;
  bool neighbours_ = false;
};

// Range of the integers of a type.
struct IntegerRange {
  int32_t low = 0;
  int32_t high = 0;
};

IntegerRange integer_range(DataType type) {
  const int bits = bit_size(type);
  const bool is_signed =
      type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt4 || type == DataType::kInt2;
  return is_signed ? IntegerRange{-(1 << (bits - 1)), (1 << (bits - 1)) - 1} : IntegerRange{0, (1 << bits) - 1};
}

// round(x / scale) + zero, saturated; halves go to the even neighbour, NaN to the lowest number. As floating point the
// quotient is left to whoever rounds it.
template <class T, bool kNeighbours>
[[gnu::always_inline]] inline void quantize_run(const float* x, T* y, int64_t n, const float* scale, const float* zero,
                                                IntegerRange range) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float s = scale[kNeighbours ? i : 0];
    const float z = zero[kNeighbours ? i : 0];
    if constexpr (std::is_floating_point_v<T>) {
      y[i] = x[i] / s + z;
    } else {
      const float q = std::nearbyint(x[i] / s);
      const float low = static_cast<float>(range.low) - z;
      const float high = static_cast<float>(range.high) - z;
      const float raised = q > low ? q : low;
      const float clamped = raised < high ? raised : high;
      y[i] = static_cast<T>(static_cast<int32_t>(clamped) + static_cast<int32_t>(z));
    }
  }
}

template <class T, bool kNeighbours>
[[gnu::always_inline]] inline void dequantize_run(const T* x, float* y, int64_t n, const float* scale,
                                                  const int32_t* zero) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float s = scale[kNeighbours ? i : 0];
    const int32_t z = zero[kNeighbours ? i : 0];
    if constexpr (std::is_floating_point_v<T>) {
      y[i] = (x[i] - static_cast<float>(z)) * s;
    } else if constexpr (sizeof(T) == 4) {
      y[i] = static_cast<float>(static_cast<int64_t>(x[i]) - z) * s;
    } else {
      y[i] = static_cast<float>(static_cast<int32_t>(x[i]) - z) * s;
    }
  }
}

template <class T>
std::vector<T> zero_points(const TensorView* zero, int64_t count) {
  return zero != nullptr ? elements_as<T>(*zero) : std::vector<T>(static_cast<size_t>(count), T(0));
}

template <class T>
class QuantizeKernel final : public Kernel {
 public:
  QuantizeKernel(const Node& node, DataType to)
      : axis_(node.attribute_or<int64_t>("axis", 1)), block_(node.attribute_or<int64_t>("block_size", 0)) {
    narrowing_.saturate = node.attribute_or<int64_t>("saturate", 1) != 0;
    if (std::is_integral_v<T>) range_ = integer_range(to);
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const TensorView* zero = context.input(2);
    const ParameterLayout layout("QuantizeLinear", x, scale, zero, axis_, block_);
    const std::vector<float> scales = elements_as<float>(scale);
    const std::vector<float> zeros = zero_points<float>(zero, scale.element_count);
    const TensorView& y = context.output(0, x.dims, x.rank);
    const TensorView floats = converted(context, x, DataType::kFloat);
    const TensorView carried = y.dtype == kDataTypeOf<T> ? y : scratch_like(context, y, kDataTypeOf<T>);
    layout.for_each_run(context, x.element_count, [&](int64_t begin, int64_t n, int64_t parameter, bool neighbours) {
      (neighbours ? neighbour_loop_ : loop_)(floats.as<float>() + begin, carried.as<T>() + begin, n,
                                             scales.data() + parameter, zeros.data() + parameter, range_);
    });
    if (carried.data != y.data) convert_tensor(context, carried, y, narrowing_);
  }

 private:
  using Loop = void (*)(const float*, T*, int64_t, const float*, const float*, IntegerRange);

  int64_t axis_;
  int64_t block_;
  Narrowing narrowing_;
  IntegerRange range_;
  Loop loop_ = Versions<&quantize_run<T, false>>::best();
  Loop neighbour_loop_ = Versions<&quantize_run<T, true>>::best();
};

template <class T>
class DequantizeKernel final : public Kernel {
 public:
  explicit DequantizeKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", 1)), block_(node.attribute_or<int64_t>("block_size", 0)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& scale = context.required_input(1);
    const TensorView* zero = context.input(2);
    const ParameterLayout layout("DequantizeLinear", x, scale, zero, axis_, block_);
    const std::vector<float> scales = elements_as<float>(scale);
    const std::vector<int32_t> zeros = zero_points<int32_t>(zero, scale.element_count);
    const TensorView& y = context.output(0, x.dims, x.rank);
    const TensorView carried = converted(context, x, kDataTypeOf<T>);
    const TensorView floats = y.dtype == DataType::kFloat ? y : scratch_like(context, y, DataType::kFloat);
    layout.for_each_run(context, x.element_count, [&](int64_t begin, int64_t n, int64_t parameter, bool neighbours) {
      (neighbours ? neighbour_loop_ : loop_)(carried.as<T>() + begin, floats.as<float>() + begin, n,
                                             scales.data() + parameter, zeros.data() + parameter);
    });
    if (floats.data != y.data) convert_tensor(context, floats, y);
  }

 private:
  using Loop = void (*)(const T*, float*, int64_t, const float*, const int32_t*);

  int64_t axis_;
  int64_t block_;
  Loop loop_ = Versions<&dequantize_run<T, false>>::best();
  Loop neighbour_loop_ = Versions<&dequantize_run<T, true>>::best();
};

std::unique_ptr<Kernel> make_quantize(const Node& node) {
  const auto precision = static_cast<DataType>(node.attribute_or<int64_t>("precision", 0));
  if (precision != DataType::kUndefined && precision != DataType::kFloat) decline(node, "precision other than float");
  const DataType to = node.output_types.at(0);
  return dispatch<float, int8_t, uint8_t, int16_t, uint16_t>(carrier_of(to), [&](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<QuantizeKernel<typename decltype(tag)::type>>(node, to));
  });
}

std::unique_ptr<Kernel> make_dequantize(const Node& node) {
  return dispatch<float, int8_t, uint8_t, int16_t, uint16_t, int32_t>(carrier_of(input_type(node, 0)), [&](auto tag) {
    return std::unique_ptr<Kernel>(std::make_unique<DequantizeKernel<typename decltype(tag)::type>>(node));
  });
}

struct Extrema {
  float low = 0;
  float high = 0;
};

[[gnu::always_inline]] inline void extrema_run(const float* x, int64_t n, Extrema* found) {
  const auto smaller = [](float a, float b) __attribute__((always_inline)) { return b < a ? b : a; };
  const auto larger = [](float a, float b) __attribute__((always_inline)) { return b > a ? b : a; };
  found->low = fold_lanes(x, n, 0.0f, smaller, smaller);
  found->high = fold_lanes(x, n, 0.0f, larger, larger);
}

// y = round(x / scale) + zero with scale and zero chosen so that 0 and the range of x fit into uint8.
class DynamicQuantizeKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& y = context.output(0, x.dims, x.rank);
    const TensorView& scale_out = context.output(1, nullptr, 0);
    const TensorView& zero_out = context.output(2, nullptr, 0);
    const int64_t chunks = (x.element_count + kGrain - 1) / kGrain;
    auto* parts = static_cast<Extrema*>(context.scratch(static_cast<size_t>(chunks) * sizeof(Extrema)));
    context.parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        extrema_(x.as<float>() + i * kGrain, std::min(kGrain, x.element_count - i * kGrain), &parts[i]);
      }
    });
    Extrema all;
    for (int64_t i = 0; i < chunks; ++i) {
      all.low = std::min(all.low, parts[i].low);
      all.high = std::max(all.high, parts[i].high);
    }
    const float scale = all.high == all.low ? 1.0f : (all.high - all.low) / 255.0f;
    const auto zero = static_cast<uint8_t>(std::nearbyint(std::clamp(-all.low / scale, 0.0f, 255.0f)));
    *scale_out.as<float>() = scale;
    *zero_out.as<uint8_t>() = zero;
    const auto shift = static_cast<float>(zero);
    context.parallel_for(x.element_count, kGrain, [&](int64_t begin, int64_t end) {
      loop_(x.as<float>() + begin, y.as<uint8_t>() + begin, end - begin, &scale, &shift, {0, 255});
    });
  }

 private:
  void (*extrema_)(const float*, int64_t, Extrema*) = Versions<&extrema_run>::best();
  void (*loop_)(const float*, uint8_t*, int64_t, const float*, const float*,
                IntegerRange) = Versions<&quantize_run<uint8_t, false>>::best();
};

std::unique_ptr<Kernel> make_dynamic_quantize(const Node&) { return std::make_unique<DynamicQuantizeKernel>(); }

}  // namespace

void register_quantize(KernelRegistry& registry) {
  const TypeList floats = {DataType::kFloat, DataType::kFloat16, DataType::kBFloat16};
  const TypeList numbers = floats + TypeList{DataType::kInt32};
  const TypeList quantized =
      TypeList{DataType::kInt8,         DataType::kUInt8,          DataType::kInt16,      DataType::kUInt16,
               DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ} +
      kSubByteTypes;
  const TypeList dequantized = quantized + TypeList{DataType::kInt32};
  const TypeList scales = floats + TypeList{DataType::kFloat8E8M0};
  add_kernel(registry, "QuantizeLinear", 10, 21, {{"T1", numbers}, {"T2", quantized}}, &make_quantize);
  add_kernel(registry, "QuantizeLinear", 23, 28,
             {{"T1", numbers}, {"T2", scales + TypeList{DataType::kInt32}}, {"T3", quantized}}, &make_quantize);
  add_kernel(registry, "DequantizeLinear", 10, 13, {{"T", dequantized}}, &make_dequantize);
  add_kernel(registry, "DequantizeLinear", 19, 21, {{"T1", dequantized}, {"T2", scales}}, &make_dequantize);
  add_kernel(registry, "DequantizeLinear", 23, 28, {{"T1", dequantized}, {"T2", scales}, {"T3", floats}},
             &make_dequantize);
  add_kernel(registry, "DynamicQuantizeLinear", 11, 11, {{"T1", kFloatType}}, &make_dynamic_quantize);
}

}  // namespace onnx_light_ort::kernels
