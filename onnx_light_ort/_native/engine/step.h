// One entry of a plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "value.h"

namespace onnx_light_ort::engine {

class Frame;

/// Reads and writes value slots of the frame that it is run in. Immutable: one step serves all frames of its plan.
class Step {
 public:
  Step(std::string name, std::string kind, std::vector<int32_t> inputs, std::vector<int32_t> outputs)
      : name_(std::move(name)), kind_(std::move(kind)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  virtual ~Step() = default;

  /// Called when the plan is built, with the readers' liveness: bit i of `last_use` says that nothing but this one
  /// input of this step still reads the value, bit i of `output_read` that somebody reads output i.
  void set_liveness(std::vector<bool> last_use, std::vector<bool> output_read) {
    last_use_ = std::move(last_use);
    output_read_ = std::move(output_read);
  }
  virtual void run(Frame& frame) const = 0;
  /// Whether input i may be a tensor with strides.
  virtual bool reads_strides(size_t /*input*/) const noexcept { return false; }

  const std::string& name() const noexcept { return name_; }
  /// What runs it, for a profile: the operator, or the control-flow operator.
  const std::string& kind() const noexcept { return kind_; }
  const std::vector<int32_t>& inputs() const noexcept { return inputs_; }
  const std::vector<int32_t>& outputs() const noexcept { return outputs_; }
  /// Values of this frame that subgraphs of the step read besides its inputs.
  const std::vector<int32_t>& captured() const noexcept { return captured_; }

 protected:
  std::string name_;
  std::string kind_;
  std::vector<int32_t> inputs_;
  std::vector<int32_t> outputs_;
  std::vector<int32_t> captured_;
  std::vector<bool> last_use_;
  std::vector<bool> output_read_;
};

/// For messages: "node 'conv1' (Conv)", or by the value that it makes where it has no name.
/// `name_of` gives the name of a value by its index.
template <class NameOf>
std::string node_label(const std::string& name, const std::string& kind, const std::vector<int32_t>& outputs,
                       const NameOf& name_of) {
  std::string label = "node '" + name + "'";
  if (name.empty()) {
    const auto made = std::find_if(outputs.begin(), outputs.end(), [](int32_t value) { return value >= 0; });
    label = "node that makes '" + (made == outputs.end() ? std::string("?") : name_of(*made)) + "'";
  }
  return label + " (" + kind + ")";
}

}  // namespace onnx_light_ort::engine
