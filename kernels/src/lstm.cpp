// LSTM:  i, o, f = f(X W' + H R' + b + p C), c = g(...);  C = f C + i c;  H = o h(C).
#include "cpu_level.h"
#include "native_kernels.h"
#include "recurrent.h"
#include "vector_math.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// One row of a batch with the default activations: gates holds i, o, f, c of n elements each.
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

const std::vector<const char*> kDefaults = {"Sigmoid", "Tanh", "Tanh"};

template <class T>
class LstmKernel final : public RecurrentKernel<T> {
 public:
  explicit LstmKernel(const Node& node)
      : RecurrentKernel<T>(node, {4}, true),
        couples_forget_(node.attribute_or<int64_t>("input_forget", 0) != 0),
        is_plain_(has_default_activations(node, kDefaults) && !couples_forget_ && !this->clips() &&
                  !has_input(node, 7)),
        activations_(is_plain_ ? std::vector<RecurrentActivation>()
                               : recurrent_activations(node, kDefaults, this->directions())) {}

 private:
  void run(RunContext& context, const TensorView& r, const RecurrentStep<T>& step) const override {
    const int64_t n = step.hidden_size;
    this->multiply(context, r, step, 0, step.hidden, step.gates, step.gate_stride, true);
    this->for_each_running(context, step, [&](int64_t b) {
      T* gates = step.gates + b * step.gate_stride;
      if (is_plain_) {
        cell_(gates, step.memory + b * n, step.hidden + b * n, n);
      } else {
        general_cell(gates, &activations_[3 * step.direction], step.peepholes, step.memory + b * n, step.hidden + b * n,
                     n);
      }
    });
  }

  // Peepholes are those of i, o and f.
  void general_cell(T* gates, const RecurrentActivation* functions, const T* peepholes, T* memory, T* hidden,
                    int64_t n) const {
    T* i = gates;
    T* o = gates + n;
    T* f = gates + 2 * n;
    T* c = gates + 3 * n;
    if (peepholes != nullptr) look(peepholes, memory, i, n);
    if (peepholes != nullptr) look(peepholes + 2 * n, memory, f, n);
    this->clip(i, n);
    this->clip(f, 2 * n);
    functions[0](i, i, n);
    if (couples_forget_) {
      for (int64_t j = 0; j < n; ++j) f[j] = T(1) - i[j];
    } else {
      functions[0](f, f, n);
    }
    functions[1](c, c, n);
    for (int64_t j = 0; j < n; ++j) memory[j] = f[j] * memory[j] + i[j] * c[j];
    if (peepholes != nullptr) look(peepholes + n, memory, o, n);
    this->clip(o, n);
    functions[0](o, o, n);
    functions[2](memory, hidden, n);
    for (int64_t j = 0; j < n; ++j) hidden[j] *= o[j];
  }

  static void look(const T* peepholes, const T* memory, T* gate, int64_t n) {
    for (int64_t j = 0; j < n; ++j) gate[j] += peepholes[j] * memory[j];
  }

  bool couples_forget_;
  bool is_plain_;  ///< What the one loop `cell` computes.
  std::vector<RecurrentActivation> activations_;
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
