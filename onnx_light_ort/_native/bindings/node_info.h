// A node as Python describes it, turned into what plugins are told of it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "kernel_info.h"

namespace onnx_light_ort::bindings {

/// A type and shape as Python gives it: the ONNX element type and, where the rank is known, an int for a known extent,
/// a str for a symbol and None for neither, in a list.
std::unique_ptr<OrtTensorTypeAndShapeInfo> type_and_shape(int data_type, nanobind::handle dims);

/// What a node reads or makes, as Python lists it: (name, element type, dims), or None for an argument that it leaves
/// out.
struct Arguments {
  explicit Arguments(const nanobind::list& given);

  std::vector<abi::ArgumentInfo> infos;
  std::vector<kernels::DataType> types;
};

/// inputs and outputs: as for Arguments; attributes and constant_inputs: as for describe_node. `ep` is null for a node
/// of a custom op.
std::shared_ptr<const abi::NodeInfo> node_info(const std::string& name, const std::string& domain,
                                               const std::string& op_type, int since_version,
                                               const nanobind::list& inputs, const nanobind::list& outputs,
                                               const nanobind::dict& attributes,
                                               const nanobind::sequence& constant_inputs,
                                               std::shared_ptr<const abi::SessionServices> services,
                                               const OrtEp* ep = nullptr);

}  // namespace onnx_light_ort::bindings
