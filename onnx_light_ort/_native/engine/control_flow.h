// If, Loop and Scan: steps that run plans of their own in child frames.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan.h"
#include "step.h"

namespace onnx_light_ort::engine {

/// inputs: the condition. The branches take nothing but captures.
class IfStep final : public Step {
 public:
  IfStep(std::string name, int32_t condition, std::shared_ptr<const Plan> then_branch,
         std::shared_ptr<const Plan> else_branch, std::vector<int32_t> outputs);
  void run(Frame& frame) const override;

 private:
  std::shared_ptr<const Plan> branches_[2];  // else, then
};

/// inputs: trip count, condition (either may be absent), initial values of what the loop carries.
/// Body: (iteration, condition, carried...) -> (condition, carried..., scan outputs...).
class LoopStep final : public Step {
 public:
  /// scan_output_dims: per scan output the dimensions of one iteration's element, kFreeDim where unknown; they give
  /// the shape of the result of a loop that never ran.
  LoopStep(std::string name, std::vector<int32_t> inputs, std::shared_ptr<const Plan> body,
           std::vector<int32_t> outputs, std::vector<DataType> output_types,
           std::vector<std::vector<int64_t>> scan_output_dims);
  void run(Frame& frame) const override;

 private:
  std::shared_ptr<const Plan> body_;
  std::vector<DataType> output_types_;
  std::vector<std::vector<int64_t>> scan_output_dims_;
};

struct ScanAxes {
  std::vector<int64_t> input_axes;
  std::vector<int64_t> output_axes;
  std::vector<bool> input_reversed;
  std::vector<bool> output_reversed;
};

/// inputs: initial states, then scan inputs. Body: (states..., elements...) -> (states..., elements...).
class ScanStep final : public Step {
 public:
  ScanStep(std::string name, std::vector<int32_t> inputs, size_t scan_input_count, std::shared_ptr<const Plan> body,
           std::vector<int32_t> outputs, std::vector<DataType> output_types, ScanAxes axes,
           std::vector<std::vector<int64_t>> scan_output_dims);
  void run(Frame& frame) const override;

 private:
  size_t scan_input_count_;
  std::shared_ptr<const Plan> body_;
  std::vector<DataType> output_types_;
  ScanAxes axes_;
  std::vector<std::vector<int64_t>> scan_output_dims_;
};

/// Whether a value may enter a plan here. Throws kernels::Error naming the input, what came and what is expected.
void check_input(const InputSpec& spec, const Value& value);

}  // namespace onnx_light_ort::engine
