// RNN:  H = f(X W' + H R' + b).
#include "native_kernels.h"
#include "recurrent.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
class RnnKernel final : public RecurrentKernel<T> {
 public:
  explicit RnnKernel(const Node& node)
      : RecurrentKernel<T>(node, {1}, false), activations_(recurrent_activations(node, {"Tanh"}, this->directions())) {}

 private:
  void run(RunContext& context, const TensorView& r, const RecurrentStep<T>& step) const override {
    this->multiply(context, r, step, 0, step.hidden, step.gates, step.gate_stride, true);
    this->for_each_running(context, step, [&](int64_t b) {
      T* gate = step.gates + b * step.gate_stride;
      this->clip(gate, step.hidden_size);
      activations_[step.direction](gate, step.hidden + b * step.hidden_size, step.hidden_size);
    });
  }

  std::vector<RecurrentActivation> activations_;
};

std::unique_ptr<Kernel> make_rnn(const Node& node) {
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<RnnKernel<double>>(node);
  return std::make_unique<RnnKernel<float>>(node);
}

}  // namespace

void register_rnn(KernelRegistry& registry) {
  add_kernel(registry, "RNN", 7, 22, {{"T", kFloatTypes}}, &with_half<&make_rnn>);
}

}  // namespace onnx_light_ort::kernels
