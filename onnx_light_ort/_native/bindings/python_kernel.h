// A kernel written in Python, as a step's kernel.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "opaque_step.h"

namespace onnx_light_ort::bindings {

/// Calls f(*inputs), numpy arrays or None for what is absent, and takes an output or a tuple of outputs.
class PythonKernel final : public engine::OpaqueKernel {
 public:
  PythonKernel(nanobind::object function, std::string node_name, std::string kind)
      : function_(std::move(function)), node_name_(std::move(node_name)), kind_(std::move(kind)) {}
  ~PythonKernel() override;
  void compute(const engine::Value* const* inputs, size_t input_count, engine::Value* const* outputs,
               size_t output_count) override;

 private:
  nanobind::object function_;
  std::string node_name_;
  std::string kind_;
};

}  // namespace onnx_light_ort::bindings
