// A node as Python describes it, turned into what a kernel factory takes.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "onnx_light_ort/kernels/kernel.h"
#include "value.h"

namespace onnx_light_ort::bindings {

/// The node, and the values that its attributes and constant inputs borrow from. Kept as long as its kernel.
struct NodeDescription {
  kernels::Node node;
  std::vector<std::unique_ptr<engine::Value>> values;
};

/// attributes: name -> int, float, str, bytes, array, list of int, float or str; or (AttributeProto.type, value), which
/// says what an empty list is a list of. constant_inputs: array, engine.Value or None for each input.
std::shared_ptr<NodeDescription> describe_node(const std::string& name, const std::string& domain,
                                               const std::string& op_type, int since_version,
                                               std::vector<kernels::DataType> input_types,
                                               std::vector<kernels::DataType> output_types,
                                               const nanobind::dict& attributes,
                                               const nanobind::sequence& constant_inputs);

/// From ONNX's numbers of element types.
std::vector<kernels::DataType> data_types(const std::vector<int>& numbers);

}  // namespace onnx_light_ort::bindings
