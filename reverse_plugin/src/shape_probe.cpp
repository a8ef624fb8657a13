#include "shape_probe.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "element_type.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {
namespace {

using kernels::DataType;
using kernels::TensorView;

// No more is made up for one node; larger ones stay without inferred shapes.
constexpr size_t kMostBytes = size_t{1} << 28;
// So much of an input differs between the two runs: enough for whatever shapes are read from.
constexpr size_t kDifferingBytes = 4096;

// Extents that stand for unknown dimensions: primes, which models hardly have as extents themselves.
constexpr int64_t kExtents[2][6] = {{101, 103, 107, 109, 113, 127}, {211, 223, 227, 229, 233, 239}};

struct EveryShapeKnown {};

using Memory = std::unique_ptr<void, void (*)(void*)>;

Memory zeros(size_t bytes) {
  Memory memory(std::calloc(1, bytes + 64), &std::free);
  if (memory == nullptr) kernels::fail(kernels::ErrorKind::kOutOfMemory, "no memory to infer a shape");
  return memory;
}

void* aligned(const Memory& memory) {
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.get()) + 63) / 64 * 64);
}

// A call that ends, by EveryShapeKnown, when the kernel has named the dimensions of all outputs.
class ProbeContext final : public kernels::RunContext {
 public:
  ProbeContext(const std::vector<TensorView>& inputs, const std::vector<DataType>& output_types)
      : types_(output_types), outputs_(output_types.size()), shapes_(output_types.size()) {
    for (const TensorView& view : inputs) pointers_.push_back(view.dtype == DataType::kUndefined ? nullptr : &view);
    inputs_ = pointers_.data();
    input_count_ = pointers_.size();
    output_count_ = types_.size();
  }

  const std::vector<std::optional<std::vector<int64_t>>>& shapes() const noexcept { return shapes_; }

  bool output_wanted(size_t i) const noexcept override {
    return i < types_.size() && types_[i] != DataType::kUndefined;
  }

  const TensorView& output(size_t i, const int64_t* dims, size_t rank) override {
    note(i, dims, rank);
    TensorView& view = outputs_[i];
    if (view.data != nullptr) return view;
    const int64_t count = kernels::checked_element_count(dims, rank).value_or(-1);
    view.dims = shapes_[i]->data();
    view.rank = rank;
    view.element_count = count;
    view.dtype = types_[i];
    const size_t bytes =
        types_[i] == DataType::kUndefined ? 0 : kernels::checked_byte_size(types_[i], count).value_or(0);
    view.data = scratch(bytes);
    return view;
  }

  const TensorView& output_reusing_input(size_t i, size_t, const int64_t* dims, size_t rank) override {
    return output(i, dims, rank);
  }

  void forward_input(size_t, size_t i, const int64_t* dims, size_t rank) override { note(i, dims, rank); }

  void* scratch(size_t bytes) override {
    if (bytes > kMostBytes) kernels::fail(kernels::ErrorKind::kOutOfMemory, "too large to infer its shape");
    return aligned(memory_.emplace_back(zeros(bytes)));
  }

  void parallel_for(int64_t total, int64_t, kernels::RangeFunction body) override {
    if (total > 0) body(0, total);
  }

 private:
  void note(size_t i, const int64_t* dims, size_t rank) {
    if (i >= shapes_.size()) kernels::fail(kernels::ErrorKind::kInternal, "an output that the node does not have");
    if (!shapes_[i]) shapes_[i].emplace(dims, dims + rank);
    for (size_t other = 0; other < shapes_.size(); ++other) {
      if (output_wanted(other) && !shapes_[other]) return;
    }
    throw EveryShapeKnown{};
  }

  const std::vector<DataType>& types_;
  std::vector<const TensorView*> pointers_;
  std::vector<TensorView> outputs_;
  std::vector<std::optional<std::vector<int64_t>>> shapes_;
  std::vector<Memory> memory_;
};

// The extents that stand for the symbols of a node's inputs, in each run.
class Symbols {
 public:
  explicit Symbols(const SymbolicNode& described) {
    for (const SymbolicShape& shape : described.input_shapes) {
      for (const Dimension& dimension : shape) {
        if (dimension.extent < 0 && index(dimension.symbol) == names_.size()) names_.push_back(dimension.symbol);
      }
    }
  }

  bool fit() const noexcept { return names_.size() <= std::size(kExtents[0]); }

  int64_t extent(const Dimension& dimension, int run) const {
    return dimension.extent >= 0 ? dimension.extent : kExtents[run][index(dimension.symbol)];
  }

  /// What an output's extents in the two runs stand for.
  std::optional<Dimension> dimension(int64_t first, int64_t second) const {
    if (first == second) return Dimension{first, ""};
    for (size_t i = 0; i < names_.size(); ++i) {
      if (kExtents[0][i] == first && kExtents[1][i] == second && names_[i][0] != kNameless) {
        return Dimension{-1, names_[i]};
      }
    }
    return std::nullopt;
  }

 private:
  size_t index(const std::string& name) const {
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }

  std::vector<std::string> names_;
};

// Inputs of one run: zeros in the first, other bytes in the second.
struct MadeUpInputs {
  std::vector<std::vector<int64_t>> dims;
  std::vector<Memory> memory;
  std::vector<TensorView> views;
};

std::optional<MadeUpInputs> make_up(const SymbolicNode& described, const Symbols& symbols, int run) {
  MadeUpInputs inputs;
  size_t total = 0;
  inputs.dims.reserve(described.input_shapes.size());
  for (size_t i = 0; i < described.input_shapes.size(); ++i) {
    TensorView view;
    std::vector<int64_t>& dims = inputs.dims.emplace_back();
    if (described.node.input_types[i] != DataType::kUndefined) {
      for (const Dimension& dimension : described.input_shapes[i]) dims.push_back(symbols.extent(dimension, run));
      view.dtype = described.node.input_types[i];
      const std::optional<int64_t> count = kernels::checked_element_count(dims.data(), dims.size());
      const std::optional<size_t> bytes = count ? kernels::checked_byte_size(view.dtype, *count) : std::nullopt;
      if (!bytes || (total += *bytes) > kMostBytes) return std::nullopt;
      view.data = aligned(inputs.memory.emplace_back(zeros(*bytes)));
      if (run == 1) std::memset(view.data, 1, std::min(*bytes, kDifferingBytes));
      view.dims = dims.data();
      view.rank = dims.size();
      view.element_count = *count;
    }
    inputs.views.push_back(view);
  }
  return inputs;
}

std::optional<std::vector<std::optional<std::vector<int64_t>>>> run_once(const kernels::KernelEntry& entry,
                                                                         const SymbolicNode& described,
                                                                         const MadeUpInputs& inputs) {
  ProbeContext context(inputs.views, described.node.output_types);
  try {
    entry.factory(described.node)->compute(context);
  } catch (const EveryShapeKnown&) {
    return context.shapes();
  } catch (const std::exception&) {
    // The kernel needs what is not known yet, or refuses the node, which its creation will report.
  }
  return std::nullopt;
}

bool has_empty_input(const SymbolicNode& described) {
  return std::any_of(described.input_shapes.begin(), described.input_shapes.end(), [](const SymbolicShape& shape) {
    return std::any_of(shape.begin(), shape.end(), [](const Dimension& dimension) { return dimension.extent == 0; });
  });
}

SymbolicShape shape_of(const Api& api, const OrtTensorTypeAndShapeInfo* info, size_t input) {
  size_t rank = 0;
  check(api, api.ort->GetDimensionsCount(info, &rank));
  std::vector<int64_t> extents(rank);
  std::vector<const char*> symbols(rank, nullptr);
  if (rank != 0) {
    check(api, api.ort->GetDimensions(info, extents.data(), rank));
    check(api, api.ort->GetSymbolicDimensions(info, symbols.data(), rank));
  }
  SymbolicShape shape;
  for (size_t axis = 0; axis < rank; ++axis) {
    Dimension dimension{extents[axis], ""};
    if (symbols[axis] != nullptr && *symbols[axis] != '\0') {
      dimension = {-1, symbols[axis]};
    } else if (dimension.extent < 0) {
      dimension = {-1, kNameless + std::to_string(input) + "." + std::to_string(axis)};
    }
    shape.push_back(dimension);
  }
  return shape;
}

}  // namespace

SymbolicNode describe(const Api& api, const OrtShapeInferContext* context, const OperatorSchema& schema,
                      const std::vector<int64_t>& input_positions) {
  SymbolicNode described;
  described.node.domain = schema.domain;
  described.node.op_type = schema.op_type;
  described.node.since_version = schema.since_version;
  size_t count = 0;
  check(api, api.ort->ShapeInferContext_GetInputCount(context, &count));
  place_inputs(described, count, input_positions);
  described.input_shapes.resize(described.node.input_types.size());
  for (size_t k = 0; k < count; ++k) {
    const size_t i = described.input_positions.empty() ? k : described.input_positions[k];
    OrtTensorTypeAndShapeInfo* made = nullptr;
    check(api, api.ort->ShapeInferContext_GetInputTypeShape(context, k, &made));
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api, api.ort->GetTensorElementType(made, &element));
    if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) continue;
    described.node.input_types[i] = from_ort(element);
    if (!is_expressible(from_ort(element))) described.obstacle = "an element type that kernels do not know";
    described.input_shapes[i] = shape_of(api, made, i);
  }
  for (const FormalAttribute& formal : schema.attributes) {
    const OrtOpAttr* attribute = nullptr;
    if (succeeded(api, api.ort->ShapeInferContext_GetAttribute(context, formal.name.c_str(), &attribute)) &&
        attribute != nullptr) {
      read_attribute(api, attribute, formal, described);
    }
  }
  return described;
}

std::vector<int64_t> read_integers(const Api& api, const OrtShapeInferContext* context, const char* name) {
  const OrtOpAttr* attribute = nullptr;
  if (!succeeded(api, api.ort->ShapeInferContext_GetAttribute(context, name, &attribute)) || attribute == nullptr) {
    return {};
  }
  int64_t one = 0;
  size_t size = 0;
  if (succeeded(api, api.ort->ReadOpAttr(attribute, ORT_OP_ATTR_INT, &one, sizeof one, &size))) return {one};
  succeeded(api, api.ort->ReadOpAttr(attribute, ORT_OP_ATTR_INTS, nullptr, 0, &size));
  std::vector<int64_t> list(size / sizeof(int64_t));
  if (!list.empty()) check(api, api.ort->ReadOpAttr(attribute, ORT_OP_ATTR_INTS, list.data(), size, &size));
  return list;
}

void set_shapes(const Api& api, OrtShapeInferContext* context, const std::vector<DataType>& types,
                const std::vector<SymbolicShape>& shapes) {
  for (size_t i = 0; i < types.size() && i < shapes.size(); ++i) {
    if (types[i] == DataType::kUndefined) continue;
    OrtTensorTypeAndShapeInfo* made = nullptr;
    check(api, api.ort->CreateTensorTypeAndShapeInfo(&made));
    const Owned<OrtTensorTypeAndShapeInfo> info(made, api.ort->ReleaseTensorTypeAndShapeInfo);
    check(api, api.ort->SetTensorElementType(made, to_ort(types[i])));
    std::vector<int64_t> extents;
    std::vector<const char*> symbols;
    for (const Dimension& dimension : shapes[i]) {
      extents.push_back(dimension.extent);
      symbols.push_back(dimension.symbol.c_str());
    }
    check(api, api.ort->SetDimensions(made, extents.data(), extents.size()));
    check(api, api.ort->SetSymbolicDimensions(made, symbols.data(), symbols.size()));
    check(api, api.ort->ShapeInferContext_SetOutputTypeShape(context, i, made));
  }
}

std::vector<DataType> types_by_parameters(const OperatorSchema& schema, const kernels::Node& node) {
  const TypeBindings bindings = bind_types(schema, node.input_types, {});
  std::vector<DataType> types;
  for (const FormalParameter& formal : schema.outputs) {
    const auto bound = std::find_if(bindings.begin(), bindings.end(),
                                    [&](const auto& binding) { return binding.first == formal.type_parameter; });
    if (formal.optional || bound == bindings.end()) break;
    types.push_back(bound->second);
  }
  return types;
}

std::optional<std::vector<SymbolicShape>> probe_shapes(const kernels::KernelEntry& entry,
                                                       const SymbolicNode& described) {
  // A first input without dimensions is a scalar, or a tensor of which nothing is known: the C ABI does not tell.
  if (described.input_shapes.empty() || described.input_shapes[0].empty()) return std::nullopt;
  const Symbols symbols(described);
  if (!symbols.fit()) return std::nullopt;
  std::optional<std::vector<std::optional<std::vector<int64_t>>>> found[2];
  for (int run = 0; run < 2; ++run) {
    const std::optional<MadeUpInputs> inputs = make_up(described, symbols, run);
    if (inputs) found[run] = run_once(entry, described, *inputs);
    if (!found[run]) return std::nullopt;
  }
  const bool may_be_empty = has_empty_input(described);
  std::vector<SymbolicShape> shapes;
  for (size_t i = 0; i < found[0]->size(); ++i) {
    SymbolicShape& shape = shapes.emplace_back();
    const auto& first = (*found[0])[i];
    const auto& second = (*found[1])[i];
    if (!first || !second) continue;
    if (first->size() != second->size()) return std::nullopt;
    for (size_t axis = 0; axis < first->size(); ++axis) {
      const std::optional<Dimension> dimension = symbols.dimension((*first)[axis], (*second)[axis]);
      // Only contents can have made an extent of zero.
      if (!dimension || (dimension->extent == 0 && !may_be_empty)) return std::nullopt;
      shape.push_back(*dimension);
    }
  }
  return shapes;
}

}  // namespace onnx_light_ort::reverse
