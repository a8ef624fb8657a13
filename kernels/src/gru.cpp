// GRU with the default activations, forward, reverse or bidirectional:
//   z, r = sigmoid(X W' + H R' + b);  H = (1 - z) h + z H, with
//   h = tanh(X Wh' + (r H) Rh' + b), or tanh(X Wh' + bw + r (H Rh' + br)) where the reset comes after the product.
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

// z and r of one row of a batch, in place.
template <class T>
[[gnu::always_inline]] inline void open_gates(T* gates, int64_t n) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) gates[j] = vector_math::sigmoid(gates[j]);
}

// The new state of one row: `candidate` before the tanh.
template <class T>
[[gnu::always_inline]] inline void next_state(const T* z, const T* candidate, T* hidden, int64_t n) {
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    hidden[j] = (T(1) - z[j]) * vector_math::tanh(candidate[j]) + z[j] * hidden[j];
  }
}

template <class T>
class GruKernel final : public Kernel {
 public:
  explicit GruKernel(const Node& node)
      : direction_(node.attribute_or<std::string>("direction", "forward")),
        reset_after_(node.attribute_or<int64_t>("linear_before_reset", 0) != 0) {
    const auto activations = node.attribute_or<std::vector<std::string>>("activations", {});
    static const char* const kDefault[] = {"sigmoid", "tanh"};
    for (size_t i = 0; i < activations.size(); ++i) {
      std::string name = activations[i];
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (name != kDefault[i % 2]) decline(node, "activations other than Sigmoid, Tanh");
    }
    if (node.attribute("clip") != nullptr && node.attribute_or("clip", 0.0f) != 0.0f) decline(node, "clip");
    if (node.attribute_or<int64_t>("layout", 0) != 0) decline(node, "layout 1");
    if (has_input(node, 4)) decline(node, "sequence_lens");
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& w = context.required_input(1);
    const TensorView& r = context.required_input(2);
    const int64_t directions = direction_ == "bidirectional" ? 2 : 1;
    if (x.rank != 3 || w.rank != 3 || r.rank != 3 || w.dims[0] != directions || r.dims[0] != directions ||
        w.dims[1] != 3 * r.dims[2] || r.dims[1] != 3 * r.dims[2] || w.dims[2] != x.dims[2]) {
      invalid_argument("GRU: X, W and R of shapes " + to_string(x) + ", " + to_string(w) + ", " + to_string(r) +
                       " do not fit together");
    }
    const int64_t steps = x.dims[0];
    const int64_t batch = x.dims[1];
    const int64_t n = r.dims[2];
    const int64_t row = 3 * n;
    const auto check = [&](const TensorView* view, int64_t count, const char* name) {
      if (view != nullptr && view->element_count != count) {
        invalid_argument(std::string("GRU: ") + name + " has shape " + to_string(*view));
      }
    };
    const TensorView* bias = context.input(3);
    const TensorView* first_hidden = context.input(5);
    check(bias, 2 * directions * row, "B");
    check(first_hidden, directions * batch * n, "initial_h");
    const int64_t all_dims[] = {steps, directions, batch, n};
    const int64_t last_dims[] = {directions, batch, n};
    T* all = wanted(context, 0) ? context.output(0, all_dims, 4).template as<T>() : nullptr;
    T* last = wanted(context, 1) ? context.output(1, last_dims, 3).template as<T>() : nullptr;
    const auto allocate = [&](int64_t count) {
      return static_cast<T*>(context.scratch(static_cast<size_t>(count) * sizeof(T)));
    };
    T* gates = allocate(steps * batch * row);
    T* sums = allocate(row);
    T* hidden = allocate(batch * n);
    T* products = allocate(batch * n);  // with the part of R that makes the candidate
    T* reset = allocate(batch * n);

    for (int64_t d = 0; d < directions; ++d) {
      const int64_t offset = d * batch * n;
      if (first_hidden != nullptr) {
        std::copy_n(first_hidden->as<T>() + offset, batch * n, hidden);
      } else {
        std::fill_n(hidden, batch * n, T(0));
      }
      const T* b = bias != nullptr ? bias->as<T>() + d * 2 * row : nullptr;
      GemmProblem<T> inputs;
      inputs.m = steps * batch;
      inputs.n = row;
      inputs.k = x.dims[2];
      inputs.a = {x.as<T>(), inputs.k, 1};
      inputs.b = {w.as<T>() + d * row * inputs.k, 1, inputs.k};
      inputs.c = gates;
      inputs.ldc = row;
      if (b != nullptr) {
        for (int64_t i = 0; i < row; ++i) sums[i] = b[i] + (i < 2 * n || !reset_after_ ? b[row + i] : T(0));
        inputs.column_bias = sums;
      }
      gemm(context, inputs);

      GemmProblem<T> gate_product;
      gate_product.m = batch;
      gate_product.n = 2 * n;
      gate_product.k = n;
      gate_product.a = {hidden, n, 1};
      gate_product.b = {r.as<T>() + d * row * n, 1, n};
      gate_product.ldc = row;
      gate_product.accumulate = true;
      GemmProblem<T> candidate_product;
      candidate_product.m = batch;
      candidate_product.n = n;
      candidate_product.k = n;
      candidate_product.a = {reset_after_ ? hidden : reset, n, 1};
      candidate_product.b = {r.as<T>() + (d * row + 2 * n) * n, 1, n};
      candidate_product.c = products;
      candidate_product.ldc = n;
      if (reset_after_ && b != nullptr) candidate_product.column_bias = b + row + 2 * n;

      const bool backward = direction_ == "reverse" || d == 1;
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t t = backward ? steps - 1 - step : step;
        T* own = gates + t * batch * row;
        gate_product.c = own;
        gemm(context, gate_product);
        for (int64_t i = 0; i < batch; ++i) {
          gates_loop_(own + i * row, 2 * n);
          const T* opened = own + i * row + n;
          for (int64_t j = 0; !reset_after_ && j < n; ++j) reset[i * n + j] = opened[j] * hidden[i * n + j];
        }
        gemm(context, candidate_product);
        for (int64_t i = 0; i < batch; ++i) {
          const T* opened = own + i * row + n;
          T* candidate = own + i * row + 2 * n;
          for (int64_t j = 0; j < n; ++j) candidate[j] += products[i * n + j] * (reset_after_ ? opened[j] : T(1));
          state_loop_(own + i * row, candidate, hidden + i * n, n);
        }
        if (all != nullptr) std::copy_n(hidden, batch * n, all + (t * directions + d) * batch * n);
      }
      if (last != nullptr) std::copy_n(hidden, batch * n, last + offset);
    }
  }

 private:
  static bool wanted(const RunContext& context, size_t i) {
    return i < context.output_count() && context.output_wanted(i);
  }

  std::string direction_;
  bool reset_after_;
  void (*gates_loop_)(T*, int64_t) = Versions<&open_gates<T>>::best();
  void (*state_loop_)(const T*, const T*, T*, int64_t) = Versions<&next_state<T>>::best();
};

std::unique_ptr<Kernel> make_gru(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<GruKernel<double>>(node);
  return std::make_unique<GruKernel<float>>(node);
}

}  // namespace

void register_gru(KernelRegistry& registry) {
  add_kernel(registry, "GRU", 7, 22, {{"T", kFloatTypes}}, &with_half<&make_gru>);
}

}  // namespace onnx_light_ort::kernels
