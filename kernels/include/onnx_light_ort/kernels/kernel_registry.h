// Which kernel computes a node: by domain, operator, version range and the types of the operator's type parameters.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::kernels {

/// Allowed types of one type parameter of the operator's schema ("T", "T1", ...; for an input or output whose schema
/// names no parameter, the input's or output's own name).
using TypeConstraint = std::pair<std::string, std::vector<DataType>>;

using KernelFactory = std::unique_ptr<Kernel> (*)(const Node& node);

inline constexpr int kOpenEnd = std::numeric_limits<int>::max();

struct KernelEntry {
  std::string domain;
  std::string op_type;
  int since_version;  ///< First since_version of the operator's schema that this kernel implements.
  int end_version;    ///< Last one; kOpenEnd when nothing newer is known to differ.
  std::vector<TypeConstraint> type_constraints;
  KernelFactory factory;
  /// Output 0 is always the content of input 0 under other dimensions: who plans buffers may make them one.
  bool forwards_first_input = false;
};

/// A list of entries with unique (domain, op_type, version range, types). Matching against a node's resolved type
/// parameters is the planner's, which knows the schemas.
class KernelRegistry {
 public:
  /// Throws Error when the range is inverted or the entry overlaps another one.
  void add(KernelEntry entry);
  const std::vector<KernelEntry>& entries() const noexcept { return entries_; }

 private:
  std::vector<KernelEntry> entries_;
};

/// Every kernel of this library, in a stable order. Built on first use; thread-safe.
const KernelRegistry& native_kernels();

}  // namespace onnx_light_ort::kernels
