// A step whose kernel runs under the outer lock and takes whole values, dense or not: a kernel written in Python.
#pragma once

#include <memory>
#include <vector>

#include "step.h"

namespace onnx_light_ort::engine {

class OpaqueKernel {
 public:
  virtual ~OpaqueKernel() = default;
  /// inputs[i] is null where absent; outputs[i] is null where nobody asked for it, else an empty value to fill.
  virtual void compute(const Value* const* inputs, size_t input_count, Value* const* outputs, size_t output_count) = 0;
};

class OpaqueStep final : public Step {
 public:
  OpaqueStep(std::string name, std::string kind, std::unique_ptr<OpaqueKernel> kernel, std::vector<int32_t> inputs,
             std::vector<int32_t> outputs, std::vector<DataType> output_types);
  void run(Frame& frame) const override;

 private:
  std::unique_ptr<OpaqueKernel> kernel_;
  std::vector<DataType> output_types_;
};

}  // namespace onnx_light_ort::engine
