// The activation functions that LSTM, GRU and RNN name in their attributes.
#pragma once

#include <vector>

#include "elementwise.h"
#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// A function with its parameters, for elements of one type.
struct RecurrentActivation {
  UnaryLoop loop = nullptr;
  UnaryParameters parameters;

  /// y[i] = f(x[i]); y may be x.
  template <class T>
  void operator()(const T* x, T* y, int64_t n) const {
    loop(x, y, n, parameters);
  }
};

/// Whether the node names no other functions than `defaults`, one direction after the other, and no parameters.
bool has_default_activations(const Node& node, const std::vector<const char*>& defaults);

/// The functions of all directions, as many for each as `defaults` has. Names go by any case; a function takes the next
/// of activation_alpha, and of activation_beta, if it has such a parameter. Throws Error(kInvalidArgument) where a name
/// is unknown or their number is wrong.
std::vector<RecurrentActivation> recurrent_activations(const Node& node, const std::vector<const char*>& defaults,
                                                       size_t directions);

}  // namespace onnx_light_ort::kernels
