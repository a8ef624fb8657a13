// What a plugin may ask of the node that it makes a kernel for.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>
#include <vector>

#include "onnx_light_ort/kernels/kernel.h"
#include "ort_value.h"
#include "session_services.h"
#include "type_info.h"

namespace onnx_light_ort::abi {

struct ArgumentInfo {
  std::string name;                         ///< "" for an argument that the node leaves out.
  std::shared_ptr<const OrtTypeInfo> type;  ///< Null where it is not known or the argument is left out.
};

/// Frozen; shared by the info that CreateKernel gets, by its copies, and by the kernel.
struct NodeInfo {
 public:
  /// `node` keeps alive what its attributes and constant inputs borrow. `ep` is null for a node of a custom op.
  NodeInfo(std::shared_ptr<const kernels::Node> node, std::vector<ArgumentInfo> inputs,
           std::vector<ArgumentInfo> outputs, std::shared_ptr<const SessionServices> session,
           const OrtEp* ep = nullptr);
  NodeInfo(const NodeInfo&) = delete;
  NodeInfo& operator=(const NodeInfo&) = delete;

  const std::shared_ptr<const kernels::Node> node;
  const std::vector<ArgumentInfo> inputs;
  const std::vector<ArgumentInfo> outputs;
  const std::shared_ptr<const SessionServices> session;
  /// One for each input; holds nothing where the input is not constant.
  const std::vector<OrtValue> constants;
  /// The provider that runs the node. Not kept alive by this: a provider may keep copies of what it gets here.
  const OrtEp* const ep;
};

}  // namespace onnx_light_ort::abi

struct OrtKernelInfo {
  std::shared_ptr<const onnx_light_ort::abi::NodeInfo> node;
};
