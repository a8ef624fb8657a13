// Attention: softmax(scale Q K' with cap, mask and bias) V for each head. Keys and values may be shared by groups of
// heads and continue a past. Which keys a query sees by position alone (causal, window, padding) is one interval.
#include <cmath>
#include <limits>

#include "converted_tensor.h"
#include "cpu_level.h"
#include "dims.h"
#include "gemm.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "vector_math.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kScoreBytes = int64_t{32} << 20;  // scores of several heads that are computed at once

// A tensor as heads of rows, wherever these lie.
template <class T>
struct Heads {
  T* data = nullptr;
  int64_t batches = 0;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t width = 0;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t row_stride = 0;

  T* at(int64_t batch, int64_t head) const { return data + batch * batch_stride + head * head_stride; }
};

// [batch, heads, rows, width], or [batch, rows, heads * width].
template <class T>
Heads<T> heads_of(const TensorView& x, int64_t heads, const char* name) {
  if (x.rank == 4) {
    const int64_t* d = x.dims;
    return {x.as<T>(), d[0], d[1], d[2], d[3], d[1] * d[2] * d[3], d[2] * d[3], d[3]};
  }
  if (x.rank != 3 || heads <= 0 || x.dims[2] % heads != 0) {
    invalid_argument(std::string("Attention: ") + name + " of shape " + to_string(x) + " is not cut into " +
                     std::to_string(heads) + " heads; give q_num_heads and kv_num_heads");
  }
  const int64_t width = x.dims[2] / heads;
  return {x.as<T>(), x.dims[0], heads, x.dims[1], width, x.dims[1] * x.dims[2], width, x.dims[2]};
}

// x = cap tanh(x / cap).
template <class T>
[[gnu::always_inline]] inline void cap_row(T* x, int64_t n, T cap) {
  for (int64_t i = 0; i < n; ++i) x[i] = cap * vector_math::tanh(x[i] / cap);
}

template <class T>
[[gnu::always_inline]] inline void softmax_row(T* x, int64_t n) {
  const auto larger = [](T a, T b) __attribute__((always_inline)) { return a > b ? a : b; };
  const auto plus = [](T a, T b) __attribute__((always_inline)) { return a + b; };
  const T max = fold_lanes(x, n, -std::numeric_limits<T>::infinity(), larger, larger);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) x[i] = vector_math::exp(x[i] - max);
  const T factor = T(1) / fold_lanes(x, n, T(0), plus, plus);
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

// The mask, which broadcasts from the right to [batch, heads, rows, keys]; keys beyond its last dimension are masked.
template <class T>
class Mask {
 public:
  Mask(RunContext& context, const TensorView* mask, int64_t batches, int64_t heads, int64_t rows, int64_t keys) {
    if (mask == nullptr) return;
    is_bool_ = mask->dtype == DataType::kBool;
    values_ = is_bool_ ? *mask : converted(context, *mask, kDataTypeOf<T>);
    given_ = true;
    const int64_t wanted[] = {batches, heads, rows};
    bool fits = mask->rank >= 1 && mask->rank <= 4 && mask->dims[mask->rank - 1] <= keys;
    length_ = fits ? mask->dims[mask->rank - 1] : 0;
    int64_t stride = length_;
    for (size_t from_back = 1; fits && from_back < mask->rank; ++from_back) {
      const int64_t extent = mask->dims[mask->rank - 1 - from_back];
      fits = extent == 1 || extent == wanted[3 - from_back];
      strides_[3 - from_back] = extent == 1 ? 0 : stride;
      stride *= extent;
    }
    if (!fits) {
      invalid_argument("Attention: attn_mask of shape " + to_string(*mask) + " does not broadcast to " +
                       to_string(std::array<int64_t, 4>{batches, heads, rows, keys}.data(), 4));
    }
  }

  /// Adds the mask to scores [low, high) of a row; the rest is hidden. False where no key is left.
  bool apply(int64_t batch, int64_t head, int64_t row, int64_t low, int64_t high, int64_t keys, T* scores) const {
    constexpr T kHidden = -std::numeric_limits<T>::infinity();
    const int64_t offset = batch * strides_[0] + head * strides_[1] + row * strides_[2];
    if (given_) high = std::min(high, length_);
    high = std::max(low, high);
    std::fill(scores, scores + low, kHidden);
    std::fill(scores + high, scores + keys, kHidden);
    if (!given_) return high > low;
    bool any = false;
    if (is_bool_) {
      const uint8_t* truth = values_.as<uint8_t>() + offset;
      for (int64_t j = low; j < high; ++j) {
        any = any || truth[j] != 0;
        if (truth[j] == 0) scores[j] = kHidden;
      }
    } else {
      const T* bias = values_.as<T>() + offset;
      for (int64_t j = low; j < high; ++j) {
        any = any || bias[j] != kHidden;
        scores[j] += bias[j];
      }
    }
    return any;
  }

 private:
  TensorView values_;
  bool given_ = false;
  bool is_bool_ = false;
  int64_t length_ = 0;
  int64_t strides_[3] = {};  ///< Of batch, head and row.
};

enum class ScoresShown { kScaled = 0, kCapped = 1, kBiased = 2, kSoftmax = 3 };

template <class T>
class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(const Node& node)
      : q_heads_(node.attribute_or<int64_t>("q_num_heads", 0)),
        kv_heads_(node.attribute_or<int64_t>("kv_num_heads", 0)),
        causal_(node.attribute_or<int64_t>("is_causal", 0) != 0),
        scale_(node.attribute_or("scale", 0.0f)),
        has_scale_(node.attribute("scale") != nullptr),
        cap_(static_cast<T>(node.attribute_or("softcap", 0.0f))),
        left_(node.attribute_or<int64_t>("left_window_size", -1)),
        right_(node.attribute_or<int64_t>("right_window_size", -1)) {
    const auto shown = node.attribute_or<int64_t>("qk_matmul_output_mode", 0);
    if (shown < 0 || shown > 3) invalid_argument("Attention: qk_matmul_output_mode is " + std::to_string(shown));
    shown_ = static_cast<ScoresShown>(shown);
    if (left_ < -1 || right_ < -1) invalid_argument("Attention: a window size is below -1");
  }

  void compute(RunContext& context) override {
    const TensorView& q_input = context.required_input(0);
    const TensorView* past_key = context.input(4);
    const TensorView* past_value = context.input(5);
    const TensorView* lengths = context.input(6);
    const Heads<T> q = heads_of<T>(q_input, q_heads_, "Q");
    if ((past_key != nullptr) != (past_value != nullptr)) {
      invalid_argument("Attention: past_key and past_value come together");
    }
    const Heads<T> k = with_past(context, heads_of<T>(context.required_input(1), kv_heads_, "K"), past_key, 1);
    const Heads<T> v = with_past(context, heads_of<T>(context.required_input(2), kv_heads_, "V"), past_value, 2);
    if (k.batches != q.batches || v.batches != q.batches || k.heads != v.heads || k.heads == 0 ||
        q.heads % k.heads != 0 || k.width != q.width || k.rows != v.rows ||
        (lengths != nullptr && lengths->element_count != q.batches)) {
      invalid_argument("Attention: Q, K and V of shapes " + to_string(q_input) + ", " +
                       to_string(context.required_input(1)) + ", " + to_string(context.required_input(2)) +
                       " do not fit together");
    }
    const int64_t past = past_key != nullptr ? past_key->dims[2] : 0;
    const Mask<T> mask(context, context.input(3), q.batches, q.heads, q.rows, k.rows);
    const Heads<T> y = output(context, q, v.width, q_input.rank);
    T* shown = nullptr;
    if (wanted(context, 3)) {
      const int64_t dims[] = {q.batches, q.heads, q.rows, k.rows};
      shown = context.output(3, dims, 4).template as<T>();
    }
    if (q.batches * q.heads * q.rows == 0) return;

    const int64_t per_head = q.rows * k.rows;
    const int64_t all_heads = q.batches * q.heads;
    const int64_t at_once = std::clamp<int64_t>(
        kScoreBytes / std::max<int64_t>(1, per_head * static_cast<int64_t>(sizeof(T))), 1, all_heads);
    auto* scores = static_cast<T*>(context.scratch(static_cast<size_t>(at_once * per_head) * sizeof(T)));
    const int64_t group = q.heads / k.heads;
    for (int64_t first = 0; first < all_heads; first += at_once) {
      const int64_t count = std::min(at_once, all_heads - first);
      GemmProblem<T> products;
      products.m = q.rows;
      products.n = k.rows;
      products.k = q.width;
      products.a = {q.data, q.row_stride, 1};
      products.b = {k.data, 1, k.row_stride};
      products.ldc = k.rows;
      gemm_batch(context, products, count, [&](int64_t i) {
        GemmProblem<T> one = products;
        const int64_t batch = (first + i) / q.heads;
        const int64_t head = (first + i) % q.heads;
        one.a.data = q.at(batch, head);
        one.b.data = k.at(batch, head / group);
        one.c = scores + i * per_head;
        return one;
      });
      context.parallel_for(
          count * q.rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, k.rows)), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const int64_t head = first + i / q.rows;
              T* row = scores + i * k.rows;
              T* copy = shown != nullptr ? shown + (first * q.rows + i) * k.rows : nullptr;
              const int64_t batch = head / q.heads;
              weigh(mask, batch, head % q.heads, i % q.rows, lengths != nullptr ? lengths->as<int64_t>()[batch] : -1,
                    q.rows, past, q.width, k.rows, row, copy);
            }
          });
      GemmProblem<T> sums;
      sums.m = q.rows;
      sums.n = v.width;
      sums.k = v.rows;
      sums.a = {scores, v.rows, 1};
      sums.b = {v.data, v.row_stride, 1};
      sums.ldc = y.row_stride;
      gemm_batch(context, sums, count, [&](int64_t i) {
        GemmProblem<T> one = sums;
        const int64_t batch = (first + i) / q.heads;
        const int64_t head = (first + i) % q.heads;
        one.a.data = scores + i * per_head;
        one.b.data = v.at(batch, head / group);
        one.c = y.at(batch, head);
        return one;
      });
    }
  }

 private:
  static bool wanted(const RunContext& context, size_t i) {
    return i < context.output_count() && context.output_wanted(i);
  }

  // Products of one query with all keys become the weights of the values.
  void weigh(const Mask<T>& mask, int64_t batch, int64_t head, int64_t row, int64_t length, int64_t rows, int64_t past,
             int64_t width, int64_t keys, T* scores, T* shown) const {
    const auto show = [&](ScoresShown stage) {
      if (shown != nullptr && stage == shown_) std::copy_n(scores, keys, shown);
    };
    const T scale = has_scale_ ? static_cast<T>(scale_) : T(1) / std::sqrt(static_cast<T>(width));
    for (int64_t j = 0; j < keys; ++j) scores[j] *= scale;
    show(ScoresShown::kScaled);
    if (cap_ > T(0)) cap_loop_(scores, keys, cap_);
    show(ScoresShown::kCapped);
    // Where the query stands among the keys.
    const int64_t position = row + (length >= 0 && past == 0 ? length - rows : past);
    const int64_t low = left_ >= 0 ? std::clamp<int64_t>(position - left_, 0, keys) : 0;
    int64_t high = keys;
    if (causal_) high = std::min(high, position + 1);
    if (right_ >= 0) high = std::min(high, position + right_ + 1);
    if (length >= 0) high = std::min(high, length);
    const bool any = mask.apply(batch, head, row, low, std::max<int64_t>(high, 0), keys, scores);
    show(ScoresShown::kBiased);
    if (any) {
      softmax_loop_(scores, keys);
    } else {
      std::fill_n(scores, keys, T(0));
    }
    show(ScoresShown::kSoftmax);
  }

  // Output 0, in the layout of the query.
  static Heads<T> output(RunContext& context, const Heads<T>& q, int64_t width, size_t rank) {
    const int64_t flat[] = {q.batches, q.rows, q.heads * width};
    const int64_t by_head[] = {q.batches, q.heads, q.rows, width};
    const TensorView& y = rank == 3 ? context.output(0, flat, 3) : context.output(0, by_head, 4);
    return heads_of<T>(y, q.heads, "Y");
  }

  // The past rows and then x's, in output i; x itself where there is no past and nobody wants the output.
  static Heads<T> with_past(RunContext& context, const Heads<T>& x, const TensorView* past, size_t i) {
    if (past == nullptr && !wanted(context, i)) return x;
    int64_t before = 0;
    if (past != nullptr) {
      if (past->rank != 4 || past->dims[0] != x.batches || past->dims[1] != x.heads || past->dims[3] != x.width) {
        invalid_argument("Attention: a past of shape " + to_string(*past) + " does not fit " + std::to_string(x.heads) +
                         " heads of width " + std::to_string(x.width));
      }
      before = past->dims[2];
    }
    const int64_t dims[] = {x.batches, x.heads, before + x.rows, x.width};
    TensorView all{nullptr, dims, 4, product(dims, 0, 4), kDataTypeOf<T>};
    if (wanted(context, i)) {
      all.data = context.output(i, dims, 4).data;
    } else {
      all.data = context.scratch(static_cast<size_t>(all.element_count) * sizeof(T));
    }
    const Heads<T> present = heads_of<T>(all, x.heads, "present");
    for (int64_t batch = 0; batch < x.batches; ++batch) {
      for (int64_t head = 0; head < x.heads; ++head) {
        T* to = present.at(batch, head);
        if (past != nullptr) {
          std::copy_n(past->as<T>() + (batch * x.heads + head) * before * x.width, before * x.width, to);
        }
        for (int64_t row = 0; row < x.rows; ++row) {
          std::copy_n(x.at(batch, head) + row * x.row_stride, x.width, to + (before + row) * x.width);
        }
      }
    }
    return present;
  }

  int64_t q_heads_;
  int64_t kv_heads_;
  bool causal_;
  float scale_;
  bool has_scale_;
  T cap_;
  int64_t left_;
  int64_t right_;
  ScoresShown shown_ = ScoresShown::kScaled;
  void (*cap_loop_)(T*, int64_t, T) = Versions<&cap_row<T>>::best();
  void (*softmax_loop_)(T*, int64_t) = Versions<&softmax_row<T>>::best();
};

std::unique_ptr<Kernel> make_attention(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<AttentionKernel<double>>(node);
  const auto precision = static_cast<DataType>(node.attribute_or<int64_t>("softmax_precision", 0));
  if (precision == DataType::kDouble) return make_widened_kernel(node, &make_attention, &as_double);
  return std::make_unique<AttentionKernel<float>>(node);
}

}  // namespace

void register_attention(KernelRegistry& registry) {
  const TypeList masks = kNumericTypes + kBoolType;
  add_kernel(registry, "Attention", 23, 25, {{"T1", kFloatTypes}, {"T2", kFloatTypes}, {"U", masks}},
             &with_one_float<&make_attention>);
}

}  // namespace onnx_light_ort::kernels
