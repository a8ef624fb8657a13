// Shape inference by asking the kernels: a kernel that is run on tensors of made-up content says which dimensions its
// outputs have before it computes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node_description.h"
#include "onnx_light_ort/kernels/kernel_registry.h"

namespace onnx_light_ort::reverse {

/// A dimension: a number, or a symbol where it is not known before the model runs. Unknown dimensions without a symbol
/// have one of their own, which begins with kNameless.
struct Dimension {
  int64_t extent = -1;
  std::string symbol;
};

inline constexpr char kNameless = '?';

using SymbolicShape = std::vector<Dimension>;

/// A node whose inputs have symbolic shapes; constants are not known.
struct SymbolicNode : DescribedNode {
  std::vector<SymbolicShape> input_shapes;
};

SymbolicNode describe(const Api& api, const OrtShapeInferContext* context, const OperatorSchema& schema,
                      const std::vector<int64_t>& input_positions);

/// An attribute that is an integer or a list of integers; empty where it is absent.
std::vector<int64_t> read_integers(const Api& api, const OrtShapeInferContext* context, const char* name);

/// Types of the outputs whose type parameter an input has too, up to the first of which that does not hold.
std::vector<kernels::DataType> types_by_parameters(const OperatorSchema& schema, const kernels::Node& node);

/// Shapes of the outputs, of numbers and of the inputs' symbols; nothing where that does not describe them, where they
/// depend on the content of inputs, or where the kernel refuses the node.
///
/// Two runs give unknown dimensions different extents and inputs different contents: an extent of an output that stays
/// the same is known, and one that follows a symbol's is that symbol.
std::optional<std::vector<SymbolicShape>> probe_shapes(const kernels::KernelEntry& entry,
                                                       const SymbolicNode& described);

/// Tells the runtime types and shapes of the outputs.
void set_shapes(const Api& api, OrtShapeInferContext* context, const std::vector<kernels::DataType>& types,
                const std::vector<SymbolicShape>& shapes);

}  // namespace onnx_light_ort::reverse
