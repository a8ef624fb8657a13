// A kernel, and what it may know of its node when it is created.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "onnx_light_ort/kernels/run_context.h"
#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

/// Attribute of a node. Graph attributes never reach a kernel: control flow is the executor's. A tensor attribute is
/// borrowed for the kernel's creation only.
using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, TensorView>;

/// A resolved node. Attribute defaults of the operator's schema are filled in before a kernel sees it.
struct Node {
  std::string name;
  std::string domain;  ///< "" is ai.onnx.
  std::string op_type;
  int since_version = 0;               ///< Version of the operator's schema that the model's opset selects.
  std::vector<DataType> input_types;   ///< kUndefined where an optional input is absent or is no tensor.
  std::vector<DataType> output_types;  ///< kUndefined where an output is left out.
  std::map<std::string, Attribute, std::less<>> attributes;
  /// Per input: its value where that is constant, else null. Alive as long as the kernel.
  std::vector<const TensorView*> constant_inputs;

  const Attribute* attribute(std::string_view name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }

  /// The attribute, or `fallback` where the node has none. Throws Error when it is of another type.
  template <class T>
  T attribute_or(std::string_view name, T fallback) const;
};

/// Created once for each resolved node, then computes any number of times, perhaps from several threads at once:
/// compute() must not change the kernel without synchronisation of its own.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void compute(RunContext& context) = 0;

  /// Whether input i may be a view with strides of rank kMaxStridedRank or less. Where not, the caller makes it dense.
  virtual bool reads_strides(size_t /*input*/) const noexcept { return false; }
};

[[noreturn]] void fail_attribute_type(const Node& node, std::string_view name);

template <class T>
T Node::attribute_or(std::string_view name, T fallback) const {
  const Attribute* found = attribute(name);
  if (found == nullptr) return fallback;
  if (const T* value = std::get_if<T>(found)) return *value;
  fail_attribute_type(*this, name);
}

}  // namespace onnx_light_ort::kernels
