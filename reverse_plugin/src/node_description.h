// A node of the runtime, put into words that kernels understand.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "api.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "operator_schema.h"

namespace onnx_light_ort::reverse {

/// A node with all that its views borrow. Values of constant inputs stay the runtime's, which keeps them as long as
/// the session that has the node.
struct DescribedNode {
  kernels::Node node;
  /// Why the ABI does not show everything that a kernel needs of the node; empty where it does.
  std::string obstacle;
  /// Which input of the operator each input of the runtime's node is; empty where they are the same.
  std::vector<size_t> input_positions;

  // Behind pointers that node has: places in a deque do not move.
  std::deque<kernels::TensorView> views;
  std::deque<std::vector<int64_t>> shapes;
  std::vector<Owned<OrtValue>> attribute_tensors;
};

/// Makes room in the node for the inputs of the runtime's node, `count` in number. Throws kernels::Error when
/// `positions` are not as many, or are out of order.
void place_inputs(DescribedNode& described, size_t count, const std::vector<int64_t>& positions);

/// Reads an attribute into the node; an obstacle where it can be read now and not when the kernel is created.
void read_attribute(const Api& api, const OrtOpAttr* attribute, const FormalAttribute& formal,
                    DescribedNode& described);

/// A node of the graph that an EP is offered. Attributes have the values of the schema where the model leaves them out.
/// `schema` is that of the node's operator and version.
DescribedNode describe(const Api& api, const OrtNode* node, const OperatorSchema& schema);

/// A node whose kernel is being created. A list of strings may also be one string of lines, as reverse.rewrite writes
/// it for custom ops; as a list it is read since 25 only. `positions_attribute`, if any, names a list of integers that
/// says which of the operator's inputs the node's are.
DescribedNode describe(const Api& api, const OrtKernelInfo* info, const OperatorSchema& schema,
                       const char* positions_attribute = nullptr);

}  // namespace onnx_light_ort::reverse
