// A kernel written in Python, as a step's kernel.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "opaque_step.h"

namespace onnx_light_ort::bindings {

/// Calls f(*inputs), numpy arrays or None for what is absent, and takes an output or a tuple of outputs.
class PythonKernel final : public engine::OpaqueKernel {
 public:
  /// `label` names the node in errors.
  PythonKernel(nanobind::object function, std::string label)
      : function_(std::move(function)), label_(std::move(label)) {}
  ~PythonKernel() override;
  void compute(const engine::Value* const* inputs, size_t input_count, engine::Value* const* outputs,
               size_t output_count) override;

 private:
  nanobind::object function_;
  std::string label_;
};

}  // namespace onnx_light_ort::bindings
