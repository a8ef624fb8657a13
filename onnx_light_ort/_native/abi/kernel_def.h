// What a kernel of an execution provider serves, as the provider describes it.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <climits>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx_light_ort/kernels/data_type.h"

/// The type of dense tensors of one element type. There is one object for each, which lives as long as the process.
struct OrtDataType {
  onnx_light_ort::kernels::DataType element_type;
};

/// Taken as the provider gave it, as in ORT; what is wrong with it is found where a registry of them is read.
///
/// It does not change once it is built, and registries share it: a provider has hundreds, in each session.
struct OrtKernelDef : std::enable_shared_from_this<OrtKernelDef> {
 public:
  /// Input, then output. Of any sign and size.
  using Alias = std::pair<int, int>;
  using MemoryTypes = std::map<size_t, OrtMemType>;

  std::string op_type;
  std::string domain;
  std::string provider;
  int start_version = 1;
  /// INT_MAX: the provider knew of no later version of the operator, so that only the first one is served.
  int end_version = INT_MAX;
  /// By type parameter of the operator's schema; null in a list is a type that the provider left out.
  std::map<std::string, std::vector<const OrtDataType*>> type_constraints;
  MemoryTypes input_memory_types;
  MemoryTypes output_memory_types;
  std::vector<Alias> aliases;          ///< The output begins with the input's content.
  std::vector<Alias> mutable_aliases;  ///< The output may take the input's buffer.

  int last_version() const noexcept { return end_version == INT_MAX ? start_version : end_version; }

  /// Whether a registry may hold only one of the two: they serve a version and types in common, and nothing else tells
  /// them apart.
  bool conflicts_with(const OrtKernelDef& other) const;

  /// The provider's share, until it releases the definition.
  std::shared_ptr<const OrtKernelDef> claim;
};

/// Builds one definition; it is empty after that.
struct OrtKernelDefBuilder {
  std::shared_ptr<OrtKernelDef> definition = std::make_shared<OrtKernelDef>();
};
