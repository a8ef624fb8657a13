#include "recurrent_activation.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "activation_functions.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

struct AffineOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return static_cast<T>(parameters.alpha) * x + static_cast<T>(parameters.beta);
  }
};

struct ScaledTanhOp : Costly {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters& parameters) {
    return static_cast<T>(parameters.alpha) * vector_math::tanh(static_cast<T>(parameters.beta) * x);
  }
};

template <class Op>
UnaryLoop loop_for(DataType type) {
  return dispatch<float, double>(type, [](auto tag) { return unary_loop<Op, typename decltype(tag)::type>(); });
}

struct Function {
  const char* name;
  UnaryLoop (*loop)(DataType);
  int parameters;  ///< 1: alpha, 2: alpha and beta.
  UnaryParameters defaults;
};

const Function kFunctions[] = {
    {"affine", &loop_for<AffineOp>, 2, {1.0f, 0.0f}},
    {"elu", &loop_for<EluOp>, 1, {1.0f, 0.0f}},
    {"hardsigmoid", &loop_for<HardSigmoidOp>, 2, {0.2f, 0.5f}},
    {"leakyrelu", &loop_for<LeakyReluOp>, 1, {0.01f, 0.0f}},
    {"relu", &loop_for<ReluOp>, 0, {}},
    {"scaledtanh", &loop_for<ScaledTanhOp>, 2, {1.0f, 1.0f}},
    {"sigmoid", &loop_for<SigmoidOp>, 0, {}},
    {"softplus", &loop_for<SoftplusOp>, 0, {}},
    {"softsign", &loop_for<SoftsignOp>, 0, {}},
    {"tanh", &loop_for<TanhOp>, 0, {}},
    {"thresholdedrelu", &loop_for<ThresholdedReluOp>, 1, {1.0f, 0.0f}},
};

std::string lower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

const Function& function_named(const Node& node, const std::string& name) {
  for (const Function& function : kFunctions) {
    if (lower(name) == function.name) return function;
  }
  invalid_argument(node.op_type + ": there is no activation function '" + name + "'");
}

}  // namespace

bool has_default_activations(const Node& node, const std::vector<const char*>& defaults) {
  const auto names = node.attribute_or<std::vector<std::string>>("activations", {});
  for (size_t i = 0; i < names.size(); ++i) {
    if (lower(names[i]) != lower(defaults[i % defaults.size()])) return false;
  }
  return true;
}

std::vector<RecurrentActivation> recurrent_activations(const Node& node, const std::vector<const char*>& defaults,
                                                       size_t directions) {
  auto names = node.attribute_or<std::vector<std::string>>("activations", {});
  if (names.empty()) {
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() < defaults.size() * directions) {
    invalid_argument(node.op_type + ": " + std::to_string(names.size()) + " activations are named, expected " +
                     std::to_string(defaults.size()) + " for each of " + std::to_string(directions) + " directions");
  }
  names.resize(defaults.size() * directions);  // RNN names two by default, also for one direction
  const auto alphas = node.attribute_or<std::vector<float>>("activation_alpha", {});
  const auto betas = node.attribute_or<std::vector<float>>("activation_beta", {});
  auto alpha = alphas.begin();
  auto beta = betas.begin();
  std::vector<RecurrentActivation> found;
  for (const std::string& name : names) {
    const Function& function = function_named(node, name);
    UnaryParameters parameters = function.defaults;
    if (function.parameters >= 1 && alpha != alphas.end()) parameters.alpha = *alpha++;
    if (function.parameters >= 2 && beta != betas.end()) parameters.beta = *beta++;
    found.push_back({function.loop(input_type(node, 0)), parameters});
  }
  return found;
}

}  // namespace onnx_light_ort::kernels
