// LSTM with the default activations, forward, reverse or bidirectional:
//   i, o, f = sigmoid(X W' + H R' + b), c = tanh(...);  C = f C + i c;  H = o tanh(C).
// The products with X are one matrix product for all steps; those with H follow step by step.
#include <algorithm>
#include <cctype>

#include "cpu_level.h"
#include "dims.h"
#include "gemm.h"
#include "native_kernels.h"
#include "registration.h"
#include "vector_math.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// One row of a batch: gates holds i, o, f, c of n elements each.
template <class T>
[[gnu::always_inline]] inline void cell(const T* gates, T* memory, T* hidden, int64_t n) {
  const T* i = gates;
  const T* o = gates + n;
  const T* f = gates + 2 * n;
  const T* c = gates + 3 * n;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const T next = vector_math::sigmoid(f[j]) * memory[j] + vector_math::sigmoid(i[j]) * vector_math::tanh(c[j]);
    memory[j] = next;
    hidden[j] = vector_math::sigmoid(o[j]) * vector_math::tanh(next);
  }
}

template <class T>
class LstmKernel final : public Kernel {
 public:
  explicit LstmKernel(const Node& node)
      : direction_(node.attribute_or<std::string>("direction", "forward")),
        hidden_size_(node.attribute_or<int64_t>("hidden_size", 0)) {
    const size_t directions = direction_ == "bidirectional" ? 2 : 1;
    const auto activations = node.attribute_or<std::vector<std::string>>("activations", {});
    static const char* const kDefault[] = {"sigmoid", "tanh", "tanh"};
    for (size_t i = 0; i < activations.size(); ++i) {
      std::string name = activations[i];
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (name != kDefault[i % 3]) decline(node, "activations other than Sigmoid, Tanh, Tanh");
    }
    if (node.attribute("clip") != nullptr && node.attribute_or("clip", 0.0f) != 0.0f) decline(node, "clip");
    if (node.attribute_or<int64_t>("input_forget", 0) != 0) decline(node, "input_forget");
    if (node.attribute_or<int64_t>("layout", 0) != 0) decline(node, "layout 1");
    if (has_input(node, 4)) decline(node, "sequence_lens");
    if (has_input(node, 7)) decline(node, "peepholes");
    for (const size_t input : {size_t{1}, size_t{2}}) {
      const TensorView* weights = constant_input(node, input);
      if (weights == nullptr || weights->rank != 3 || weights->element_count == 0) continue;
      if (weights->element_count * static_cast<int64_t>(sizeof(T)) > kMaxPackedBytes) continue;
      for (size_t d = 0; d < directions && static_cast<int64_t>(d) < weights->dims[0]; ++d) {
        packed_[input - 1].push_back(
            PackedOperand<T>::right(transposed(*weights, d), weights->dims[2], weights->dims[1]));
      }
    }
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& w = context.required_input(1);
    const TensorView& r = context.required_input(2);
    const size_t directions = direction_ == "bidirectional" ? 2 : 1;
    const auto d64 = static_cast<int64_t>(directions);
    if (x.rank != 3 || w.rank != 3 || r.rank != 3 || w.dims[0] != d64 || r.dims[0] != d64 ||
        w.dims[1] != 4 * r.dims[2] || r.dims[1] != 4 * r.dims[2] || w.dims[2] != x.dims[2]) {
      invalid_argument("LSTM: X, W and R of shapes " + to_string(x) + ", " + to_string(w) + ", " + to_string(r) +
                       " do not fit together");
    }
    const int64_t steps = x.dims[0];
    const int64_t batch = x.dims[1];
    const int64_t n = r.dims[2];
    if (hidden_size_ != 0 && n != hidden_size_) {
      invalid_argument("LSTM: R of shape " + to_string(r) + " does not fit to hidden_size " +
                       std::to_string(hidden_size_));
    }
    const int64_t row = 4 * n;
    const auto check = [&](const TensorView* view, int64_t count, const char* name) {
      if (view != nullptr && view->element_count != count) {
        invalid_argument(std::string("LSTM: ") + name + " has shape " + to_string(*view));
      }
    };
    const TensorView* bias = context.input(3);
    const TensorView* first_hidden = context.input(5);
    const TensorView* first_memory = context.input(6);
    check(bias, 2 * d64 * row, "B");
    check(first_hidden, d64 * batch * n, "initial_h");
    check(first_memory, d64 * batch * n, "initial_c");

    const int64_t all_dims[] = {steps, d64, batch, n};
    const int64_t last_dims[] = {d64, batch, n};
    T* all = wanted(context, 0) ? context.output(0, all_dims, 4).template as<T>() : nullptr;
    T* last_hidden = wanted(context, 1) ? context.output(1, last_dims, 3).template as<T>() : nullptr;
    T* last_memory = wanted(context, 2) ? context.output(2, last_dims, 3).template as<T>() : nullptr;
    const auto allocate = [&](int64_t count) {
      return static_cast<T*>(context.scratch(static_cast<size_t>(count) * sizeof(T)));
    };
    T* gates = allocate(steps * batch * row);
    T* sums = allocate(row);
    T* hidden = allocate(batch * n);
    T* memory = allocate(batch * n);

    for (size_t d = 0; d < directions; ++d) {
      const auto offset = static_cast<int64_t>(d) * batch * n;
      start(first_hidden, offset, batch * n, hidden);
      start(first_memory, offset, batch * n, memory);
      GemmProblem<T> inputs;
      inputs.m = steps * batch;
      inputs.n = row;
      inputs.k = x.dims[2];
      inputs.a = {x.as<T>(), inputs.k, 1};
      inputs.b = transposed(w, d);
      inputs.packed_b = d < packed_[0].size() ? packed_[0][d].data() : nullptr;
      inputs.c = gates;
      inputs.ldc = row;
      if (bias != nullptr) {
        const T* b = bias->as<T>() + static_cast<int64_t>(d) * 2 * row;
        for (int64_t i = 0; i < row; ++i) sums[i] = b[i] + b[row + i];
        inputs.column_bias = sums;
      }
      gemm(context, inputs);

      GemmProblem<T> recurrent;
      recurrent.m = batch;
      recurrent.n = row;
      recurrent.k = n;
      recurrent.b = transposed(r, d);
      recurrent.packed_b = d < packed_[1].size() ? packed_[1][d].data() : nullptr;
      recurrent.ldc = row;
      recurrent.accumulate = true;
      const bool backward = direction_ == "reverse" || d == 1;
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t t = backward ? steps - 1 - step : step;
        recurrent.a = {hidden, n, 1};
        recurrent.c = gates + t * batch * row;
        gemm(context, recurrent);
        context.parallel_for(batch, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) cell_(recurrent.c + b * row, memory + b * n, hidden + b * n, n);
        });
        if (all != nullptr) {
          std::copy_n(hidden, batch * n, all + (t * d64 + static_cast<int64_t>(d)) * batch * n);
        }
      }
      if (last_hidden != nullptr) std::copy_n(hidden, batch * n, last_hidden + offset);
      if (last_memory != nullptr) std::copy_n(memory, batch * n, last_memory + offset);
    }
  }

 private:
  static bool wanted(const RunContext& context, size_t i) {
    return i < context.output_count() && context.output_wanted(i);
  }

  static void start(const TensorView* given, int64_t offset, int64_t count, T* state) {
    if (given != nullptr) {
      std::copy_n(given->as<T>() + offset, count, state);
    } else {
      std::fill_n(state, count, T(0));
    }
  }

  // Weights of direction d, (4 hidden, k), as the right-hand side k x (4 hidden).
  static Matrix<T> transposed(const TensorView& weights, size_t d) {
    return {weights.as<T>() + static_cast<int64_t>(d) * weights.dims[1] * weights.dims[2], 1, weights.dims[2]};
  }

  std::string direction_;
  const int64_t hidden_size_;                ///< 0: what the weights say.
  std::vector<PackedOperand<T>> packed_[2];  ///< W and R, a direction each, where they are constant.
  void (*cell_)(const T*, T*, T*, int64_t) = Versions<&cell<T>>::best();
};

std::unique_ptr<Kernel> make_lstm(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<LstmKernel<double>>(node);
  return std::make_unique<LstmKernel<float>>(node);
}

}  // namespace

void register_lstm(KernelRegistry& registry) {
  add_kernel(registry, "LSTM", 7, 22, {{"T", kFloatTypes}}, &with_half<&make_lstm>);
}

}  // namespace onnx_light_ort::kernels
