// What planning knows of a graph, frozen: records that name each other by position. Views for plugins (graph.h) are
// made from them, the whole graph or a part of it, and share them.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "external_initializer.h"
#include "model_metadata.h"
#include "op_attribute.h"
#include "ort_value.h"
#include "type_info.h"
#include "value.h"

namespace onnx_light_ort::abi {

/// One version of an operator, shared by its nodes.
struct OperatorRecord {
  std::string domain;
  std::string op_type;
  int since_version = 0;
  size_t position = 0;  ///< In FrozenGraph::operators.
  /// Attributes that a node may leave out, sorted.
  std::vector<std::string> optional_attributes;
};

/// An initializer: memory that the engine's constant shares, and where it came from.
struct ConstantRecord {
  engine::Value tensor;
  OrtValue handle;  ///< Lent to plugins; over `tensor`.
  /// Set where the model keeps the data in a file of its own.
  std::unique_ptr<OrtExternalInitializerInfo> external;
};

struct ValueRecord {
  std::string name;
  const OrtTypeInfo* type = nullptr;         ///< Null: not known.
  const ConstantRecord* constant = nullptr;  ///< What it is, or what it is unless a run feeds it.
  bool overridable = false;                  ///< A run may feed something else than `constant`.
  bool from_outer_scope = false;
};

struct GraphRecord;

struct SubgraphRecord {
  std::string attribute;
  std::unique_ptr<GraphRecord> graph;
};

struct NodeRecord {
  const OperatorRecord* op = nullptr;
  std::string name;
  std::string provider;  ///< Of the execution provider that claimed it; "" where none did.
  size_t id = 0;
  /// Positions in GraphRecord::node_values: inputs, then outputs, then implicit inputs.
  size_t first_value = 0;
  size_t input_count = 0;
  size_t output_count = 0;
  size_t implicit_count = 0;
  size_t first_attribute = 0;  ///< In GraphRecord::node_attributes.
  size_t attribute_count = 0;
  std::vector<SubgraphRecord> subgraphs;

  size_t value_count() const noexcept { return input_count + output_count + implicit_count; }
};

/// A value that a node leaves out.
inline constexpr int32_t kAbsent = -1;

struct GraphRecord {
  std::string name;
  std::vector<ValueRecord> values;
  std::vector<NodeRecord> nodes;  ///< In an order in which they can run.
  std::vector<int32_t> node_values;
  std::vector<const OrtOpAttr*> node_attributes;
  std::vector<int32_t> inputs;  ///< Also those that have an initializer.
  std::vector<int32_t> outputs;
  std::vector<int32_t> initializers;
};

struct OperatorSetRecord {
  std::string domain;
  int64_t version = 0;
};

/// What all graphs of a model have in common.
struct ModelRecord {
  std::string path;  ///< "" where the model did not come from a file.
  int64_t ir_version = 0;
  std::vector<OperatorSetRecord> operator_sets;  ///< By domain.
  OrtModelMetadata metadata;
};

/// A graph with its subgraphs, and what their records refer to.
struct FrozenGraph {
  std::shared_ptr<const ModelRecord> model;
  GraphRecord root;
  /// The root only holds the node around a subgraph, whose own graph is not to be seen.
  bool is_holder = false;
  // Their addresses are in the records.
  std::deque<OrtTypeInfo> types;
  std::deque<ConstantRecord> constants;
  std::deque<OrtOpAttr> attributes;
  std::deque<engine::Value> attribute_tensors;
  std::deque<OperatorRecord> operators;
};

}  // namespace onnx_light_ort::abi
