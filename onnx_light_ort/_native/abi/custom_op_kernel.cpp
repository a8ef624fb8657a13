#include "custom_op_kernel.h"

#include <utility>

#include "error.h"
#include "error_kind.h"
#include "logger.h"
#include "onnx_light_ort/kernels/error.h"
#include "plugin_call.h"

namespace onnx_light_ort::abi {
namespace {

std::vector<OutputReuse> reuse_of(const CustomOp& op, size_t input_count, size_t output_count) {
  std::vector<OutputReuse> reuse;
  add_reuse(reuse, op.may_share, false, input_count, output_count);
  add_reuse(reuse, op.must_share, true, input_count, output_count);
  return reuse;
}

}  // namespace

CustomOpKernel::CustomOpKernel(std::shared_ptr<const CustomOp> op, std::shared_ptr<const NodeInfo> node)
    : op_(std::move(op)),
      node_(std::move(node)),
      info_{node_},
      reuse_(reuse_of(*op_, node_->inputs.size(), node_->outputs.size())) {
  const OrtApi* api = node_->session->api;
  if (op_->create_kernel_v2 != nullptr) {
    call_plugin("OrtCustomOp::CreateKernelV2",
                [&] { return op_->create_kernel_v2(op_->descriptor, api, &info_, &state_); });
  } else {
    state_ = call_plugin("OrtCustomOp::CreateKernel", [&] { return op_->create_kernel(op_->descriptor, api, &info_); });
  }
}

CustomOpKernel::~CustomOpKernel() {
  try {
    // Also for null, which a kernel without state may be.
    call_plugin("OrtCustomOp::KernelDestroy", [&] { op_->destroy(state_); });
  } catch (const Error& error) {
    log(node_->session->logger, ORT_LOGGING_LEVEL_ERROR, "custom op " + op_->signature + ": " + error.what());
  }
}

void CustomOpKernel::compute(kernels::RunContext& run) {
  OrtKernelContext context(run, *node_->session, reuse_.empty() ? nullptr : reuse_.data());
  try {
    if (op_->compute_v2 != nullptr) {
      call_plugin("OrtCustomOp::KernelComputeV2", [&] { return op_->compute_v2(state_, &context); });
    } else {
      // It has no status to fail with: an exception is a failure, and so, for the executor, is an output not made.
      call_plugin("OrtCustomOp::KernelCompute", [&] { op_->compute(state_, &context); });
    }
  } catch (const Error& error) {
    throw to_engine(error);
  }
}

InferredOutputs infer_outputs(const CustomOp& op, const kernels::Node& node,
                              std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> inputs, size_t output_count) {
  InferredOutputs inferred;
  inferred.outputs.resize(output_count);
  if (op.infer_shapes == nullptr) return inferred;
  OrtShapeInferContext context(std::move(inputs), node, output_count);
  const ReleasedStatuses released;
  OrtStatus* status = nullptr;
  call_plugin("OrtCustomOp::InferOutputShapeFn", [&] { status = op.infer_shapes(op.descriptor, &context); });
  if (status != nullptr) {
    inferred.failure = status->message.empty() ? "a status without a message" : status->message;
    if (!released.holds(status)) release_status(status);
  }
  for (size_t i = 0; i < output_count; ++i) {
    if (context.outputs()[i] == nullptr) continue;
    inferred.outputs[i] = std::make_unique<OrtTensorTypeAndShapeInfo>(*context.outputs()[i]);
  }
  return inferred;
}

}  // namespace onnx_light_ort::abi
