// A custom op's kernel of one node, and its shape inference.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "custom_op.h"
#include "kernel_context.h"
#include "kernel_info.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "shape_inference.h"

namespace onnx_light_ort::abi {

/// The state that a plugin made for one node: created here, destroyed exactly once, when this goes. Keeps the node, the
/// session's services and the library alive.
class CustomOpKernel final : public kernels::Kernel {
 public:
  /// Throws Error when the plugin reports a failure or throws; then there is nothing to destroy.
  CustomOpKernel(std::shared_ptr<const CustomOp> op, std::shared_ptr<const NodeInfo> node);
  ~CustomOpKernel() override;
  CustomOpKernel(const CustomOpKernel&) = delete;
  CustomOpKernel& operator=(const CustomOpKernel&) = delete;

  /// Throws kernels::Error when the plugin reports a failure or throws.
  void compute(kernels::RunContext& run) override;

 private:
  const std::shared_ptr<const CustomOp> op_;
  const std::shared_ptr<const NodeInfo> node_;
  const OrtKernelInfo info_;  ///< A legacy kernel may keep the pointer for its life.
  std::vector<OutputReuse> reuse_;
  void* state_ = nullptr;
};

/// What an op's shape inference said of a node. Empty where the op has none.
struct InferredOutputs {
  std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> outputs;  ///< Null: nothing was said.
  std::string failure;  ///< The callback's status; what it had said before is kept, as ORT keeps it.
};

/// Throws Error when the plugin throws.
InferredOutputs infer_outputs(const CustomOp& op, const kernels::Node& node,
                              std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> inputs, size_t output_count);

}  // namespace onnx_light_ort::abi
