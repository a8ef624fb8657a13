#include "batch_normalization_in_training.h"

#include <algorithm>
#include <cmath>

#include "dims.h"
#include "element_type.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
class BatchNormalizationInTrainingKernel final : public Kernel {
 public:
  explicit BatchNormalizationInTrainingKernel(const Node& node)
      : epsilon_(static_cast<T>(node.attribute_or("epsilon", 1e-5f))),
        momentum_(static_cast<T>(node.attribute_or("momentum", 0.9f))) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (x.rank < 2) invalid_argument("BatchNormalization: the input has shape " + to_string(x));
    const int64_t channels = x.dims[1];
    const T* parameters[4];  // scale, shift, running mean and variance
    for (size_t i = 0; i < 4; ++i) {
      const TensorView& parameter = context.required_input(i + 1);
      if (parameter.element_count != channels) {
        invalid_argument("BatchNormalization: input " + std::to_string(i + 1) + " has shape " + to_string(parameter) +
                         " for " + std::to_string(channels) + " channels");
      }
      parameters[i] = parameter.as<T>();
    }
    const TensorView& y = context.output(0, x.dims, x.rank);
    T* means = statistic(context, 1, channels);
    T* variances = statistic(context, 2, channels);
    const int64_t plane = product(x.dims, 2, x.rank);
    const int64_t batch = x.dims[0];
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, batch * plane));
    context.parallel_for(channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const auto for_each_plane = [&](auto&& body) {
          for (int64_t b = 0; b < batch; ++b) body((b * channels + c) * plane);
        };
        // In two passes, in double: a channel may have millions of elements.
        double sum = 0;
        for_each_plane([&](int64_t at) {
          for (int64_t i = 0; i < plane; ++i) sum += static_cast<double>(x.as<T>()[at + i]);
        });
        const auto count = static_cast<double>(batch * plane);
        const double mean = sum / count;
        double squares = 0;
        for_each_plane([&](int64_t at) {
          for (int64_t i = 0; i < plane; ++i) {
            const double distance = static_cast<double>(x.as<T>()[at + i]) - mean;
            squares += distance * distance;
          }
        });
        const auto variance = static_cast<T>(squares / count);
        const T factor = parameters[0][c] / std::sqrt(variance + epsilon_);
        const T shift = parameters[1][c] - static_cast<T>(mean) * factor;
        for_each_plane([&](int64_t at) {
          for (int64_t i = 0; i < plane; ++i) y.as<T>()[at + i] = x.as<T>()[at + i] * factor + shift;
        });
        if (means != nullptr) means[c] = updated(parameters[2][c], static_cast<T>(mean));
        if (variances != nullptr) variances[c] = updated(parameters[3][c], variance);
      }
    });
  }

 private:
  T updated(T running, T current) const { return running * momentum_ + current * (T(1) - momentum_); }

  static T* statistic(RunContext& context, size_t i, int64_t channels) {
    if (i >= context.output_count() || !context.output_wanted(i)) return nullptr;
    return context.output(i, &channels, 1).template as<T>();
  }

  T epsilon_;
  T momentum_;
};

}  // namespace

std::unique_ptr<Kernel> make_batch_normalization_in_training(const Node& node) {
  return dispatch<float, double>(input_type(node, 0), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<BatchNormalizationInTrainingKernel<T>>(node));
  });
}

}  // namespace onnx_light_ort::kernels
