// How a family of operators puts its kernels into the registry, and what its factories ask of a node.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element_type.h"
#include "onnx_light_ort/kernels/error.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "onnx_light_ort/kernels/kernel_registry.h"

namespace onnx_light_ort::kernels {

/// One entry of domain ai.onnx: versions are since_versions of the operator's schema, first and last that the kernel
/// implements. A type that a version's schema does not have never reaches it, so one entry may list the union.
inline void add_kernel(KernelRegistry& registry, const char* op_type, int first_version, int last_version,
                       std::vector<TypeConstraint> types, KernelFactory factory, bool forwards_first_input = false) {
  registry.add(KernelEntry{"", op_type, first_version, last_version, std::move(types), factory, forwards_first_input});
}

/// Declines a node: the planner takes another kernel and keeps the reason.
[[noreturn]] inline void decline(const Node& node, const std::string& reason) {
  fail(ErrorKind::kNotImplemented, node.op_type + ": " + reason);
}

inline const TensorView* constant_input(const Node& node, size_t i) {
  return i < node.constant_inputs.size() ? node.constant_inputs[i] : nullptr;
}

inline bool has_input(const Node& node, size_t i) {
  return i < node.input_types.size() && node.input_types[i] != DataType::kUndefined;
}

inline bool has_output(const Node& node, size_t i) {
  return i < node.output_types.size() && node.output_types[i] != DataType::kUndefined;
}

inline DataType input_type(const Node& node, size_t i) {
  return i < node.input_types.size() ? node.input_types[i] : DataType::kUndefined;
}

/// Elements of an integer tensor (int32 or int64).
inline std::vector<int64_t> integers(const TensorView& view) {
  if (view.dtype == DataType::kInt64) return {view.as<int64_t>(), view.as<int64_t>() + view.element_count};
  if (view.dtype == DataType::kInt32) return {view.as<int32_t>(), view.as<int32_t>() + view.element_count};
  invalid_argument(std::string("expected a tensor of int32 or int64, got ") + data_type_name(view.dtype));
}

}  // namespace onnx_light_ort::kernels
