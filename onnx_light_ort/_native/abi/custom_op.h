// A custom op as its library describes it, read once and checked.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onnx_light_ort/kernels/data_type.h"

namespace onnx_light_ort::abi {

/// What a plugin's OrtCustomOp says, read through the version gates and validated; and its callbacks. Frozen. Keeps the
/// library loaded, so that the descriptor and the callbacks stay valid.
struct CustomOp {
 public:
  struct Argument {
    kernels::DataType type;  ///< kUndefined: any type.
    OrtCustomOpInputOutputCharacteristic characteristic;
    OrtMemType memory_type;
  };
  /// Of a variadic argument, which is the last one.
  struct Variadic {
    int min_arity = 1;
    bool homogeneous = true;
  };
  /// An output over the buffer of an input.
  struct SharedBuffer {
    size_t input;
    size_t output;
  };

  /// Reads and checks a descriptor. What the library lent for it is released, whatever the outcome. `provider` names
  /// the execution provider that brings the op; "" for a library of custom ops. Throws Error with the op's name and
  /// what its author has to change.
  static std::shared_ptr<const CustomOp> read(const std::string& domain, const OrtCustomOp* descriptor,
                                              const std::string& provider, std::shared_ptr<const void> library);

  std::string domain;
  std::string name;
  /// The execution provider that brings it; "" for a library of custom ops.
  std::string provider;
  /// It runs on the provider that brings it, not on the CPU.
  bool only_for_provider = false;
  /// The execution provider that it is for, where that is neither the CPU's nor the one that brings it: no node here
  /// can be of it.
  std::optional<std::string> other_provider;
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  Variadic variadic_input;
  Variadic variadic_output;
  int start_version = 1;
  int end_version;                       ///< INT_MAX: open.
  std::vector<SharedBuffer> may_share;   ///< The output may take the input's buffer.
  std::vector<SharedBuffer> must_share;  ///< The output must begin with the input's content.

  const OrtCustomOp* descriptor;
  std::shared_ptr<const void> library;

  /// One of the two of each pair is set, and the status-returning one is preferred.
  decltype(::OrtCustomOp::CreateKernel) create_kernel;
  decltype(::OrtCustomOp::CreateKernelV2) create_kernel_v2;
  decltype(::OrtCustomOp::KernelCompute) compute;
  decltype(::OrtCustomOp::KernelComputeV2) compute_v2;
  decltype(::OrtCustomOp::KernelDestroy) destroy;
  /// Null where the op leaves shapes to the run.
  decltype(::OrtCustomOp::InferOutputShapeFn) infer_shapes;

  std::string signature;  ///< "domain:Name(float, int64?) of version 1 to 3", for messages.
};

/// Whether a node could be of both ops, since their types and versions leave no way to choose.
bool are_ambiguous(const CustomOp& a, const CustomOp& b);

}  // namespace onnx_light_ort::abi
