// A step that calls a kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "onnx_light_ort/kernels/kernel.h"
#include "step.h"

namespace onnx_light_ort::engine {

class KernelStep final : public Step {
 public:
  /// `origin` says whose kernel it is, for errors; `dispensable`, if not empty, which outputs it may leave unmade
  /// although they are read.
  KernelStep(std::string name, std::string kind, std::shared_ptr<kernels::Kernel> kernel, std::string origin,
             std::vector<int32_t> inputs, std::vector<int32_t> outputs, std::vector<DataType> output_types,
             std::vector<bool> dispensable = {});
  void run(Frame& frame) const override;
  bool reads_strides(size_t input) const noexcept override { return kernel_->reads_strides(input); }

  DataType output_type(size_t i) const noexcept { return output_types_[i]; }
  bool last_use(size_t i) const noexcept { return last_use_[i]; }

 private:
  std::shared_ptr<kernels::Kernel> kernel_;
  std::string origin_;
  std::vector<DataType> output_types_;
  std::vector<bool> dispensable_;
};

}  // namespace onnx_light_ort::engine
