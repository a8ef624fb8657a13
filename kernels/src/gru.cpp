// GRU:  z, r = f(X W' + H R' + b);  H = (1 - z) h + z H, with
//   h = g(X Wh' + (r H) Rh' + b), or g(X Wh' + bw + r (H Rh' + br)) where the reset comes after the product.
#include "native_kernels.h"
#include "recurrent.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

const std::vector<const char*> kDefaults = {"Sigmoid", "Tanh"};

template <class T>
class GruKernel final : public RecurrentKernel<T> {
 public:
  explicit GruKernel(const Node& node)
      : RecurrentKernel<T>(node, {2, 1}, false),
        reset_after_(node.attribute_or<int64_t>("linear_before_reset", 0) != 0),
        activations_(recurrent_activations(node, kDefaults, this->directions())) {}

 private:
  void add_up_bias(const T* bias, int64_t n, T* sums) const override {
    for (int64_t i = 0; i < 3 * n; ++i) sums[i] = bias[i] + (i < 2 * n || !reset_after_ ? bias[3 * n + i] : T(0));
  }

  // The state after the reset, and its product with the weights of the candidate.
  int64_t scratch_elements(int64_t n) const override { return 2 * n; }

  void run(RunContext& context, const TensorView& r, const RecurrentStep<T>& step) const override {
    const int64_t n = step.hidden_size;
    const RecurrentActivation* functions = &activations_[2 * step.direction];
    T* reset = step.scratch;
    T* products = step.scratch + step.batch * n;
    this->multiply(context, r, step, 0, step.hidden, step.gates, step.gate_stride, true);
    this->for_each_running(context, step, [&](int64_t b) {
      T* opened = step.gates + b * step.gate_stride;
      this->clip(opened, 2 * n);
      functions[0](opened, opened, 2 * n);
      for (int64_t j = 0; !reset_after_ && j < n; ++j) reset[b * n + j] = opened[n + j] * step.hidden[b * n + j];
    });
    const T* bias = reset_after_ && step.bias != nullptr ? step.bias + 5 * n : nullptr;
    this->multiply(context, r, step, 1, reset_after_ ? step.hidden : reset, products, n, false, bias);
    this->for_each_running(context, step, [&](int64_t b) {
      const T* z = step.gates + b * step.gate_stride;
      const T* opened = z + n;
      T* candidate = step.gates + b * step.gate_stride + 2 * n;
      T* hidden = step.hidden + b * n;
      for (int64_t j = 0; j < n; ++j) candidate[j] += products[b * n + j] * (reset_after_ ? opened[j] : T(1));
      this->clip(candidate, n);
      functions[1](candidate, candidate, n);
      for (int64_t j = 0; j < n; ++j) hidden[j] = (T(1) - z[j]) * candidate[j] + z[j] * hidden[j];
    });
  }

  bool reset_after_;
  std::vector<RecurrentActivation> activations_;
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
