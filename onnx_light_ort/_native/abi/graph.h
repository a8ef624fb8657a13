// Graphs as plugins see them: a graph of the model, a subgraph of a node, or a part of either.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph_node.h"
#include "graph_record.h"
#include "value_info.h"

namespace onnx_light_ort::abi {

/// Nodes of a record by position, in the record's order, and what crosses the border around them.
struct Part {
  std::string name;
  std::vector<size_t> nodes;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
};

/// "node 'name' (Op)" of a node that some view lends, or that the address is none; for messages.
std::string describe_node(const OrtNode* node);

}  // namespace onnx_light_ort::abi

/// Frozen when it is made: its slots read. Nodes and values have one address each as long as it lives.
struct OrtGraph {
 public:
  /// All of a record. `parent` is the node that holds the graph, or null, and outlives it.
  OrtGraph(std::shared_ptr<const onnx_light_ort::abi::FrozenGraph> frozen,
           const onnx_light_ort::abi::GraphRecord& record, const OrtNode* parent);
  /// A part of a record, for a plugin to release where `released_by_plugin`.
  OrtGraph(const OrtGraph& source, const onnx_light_ort::abi::Part& part, bool released_by_plugin);
  ~OrtGraph();
  OrtGraph(const OrtGraph&) = delete;
  OrtGraph& operator=(const OrtGraph&) = delete;

  const onnx_light_ort::abi::ModelRecord& model() const noexcept { return *frozen_->model; }
  const std::shared_ptr<const onnx_light_ort::abi::ModelRecord>& shared_model() const noexcept {
    return frozen_->model;
  }
  const onnx_light_ort::abi::GraphRecord& record() const noexcept { return record_; }
  const std::string& name() const noexcept { return name_; }
  /// Not itself shown to plugins: it only holds the node around a subgraph.
  bool is_holder() const noexcept { return frozen_->is_holder && &record_ == &frozen_->root; }
  bool released_by_plugin() const noexcept { return released_by_plugin_; }
  const OrtNode* parent() const noexcept { return parent_; }

  const std::vector<OrtNode>& nodes() const noexcept { return nodes_; }
  const std::vector<const OrtValueInfo*>& inputs() const noexcept { return inputs_; }
  const std::vector<const OrtValueInfo*>& outputs() const noexcept { return outputs_; }
  const std::vector<const OrtValueInfo*>& initializers() const noexcept { return initializers_; }

  /// Where a node stands in the record: a node of this view, or of another view of the same record. Empty for other
  /// nodes, and for an address that is no node.
  std::optional<size_t> position_of(const OrtNode* node) const noexcept;

  /// Whether it is a node of this view, of one of its subgraphs, or of another view of the same records. Any address
  /// may be given.
  bool knows(const OrtNode* node) const noexcept;

  /// The border of nodes given by position. Inputs that the record's graph has as inputs come at their place there,
  /// the others as they are met; constants are no inputs. Outputs come in the order of their nodes.
  onnx_light_ort::abi::Part part_of(const std::vector<size_t>& nodes, const std::string& name) const;

 private:
  void build(const onnx_light_ort::abi::Part& part, const std::vector<int32_t>& initializers);
  std::vector<int32_t> initializers_of(const std::vector<size_t>& nodes) const;

  const std::shared_ptr<const onnx_light_ort::abi::FrozenGraph> frozen_;
  const onnx_light_ort::abi::GraphRecord& record_;
  const std::string name_;
  const OrtNode* const parent_;
  const bool released_by_plugin_;
  // None of these grows once the view is made: their elements' addresses are out.
  std::vector<OrtValueInfo> values_;
  std::vector<OrtNode> nodes_;
  std::vector<std::unique_ptr<OrtGraph>> owned_subgraphs_;
  std::vector<const OrtGraph*> subgraphs_;
  std::vector<const OrtValueInfo*> node_values_;
  std::vector<onnx_light_ort::abi::Consumer> consumers_;
  std::vector<const OrtValueInfo*> inputs_;
  std::vector<const OrtValueInfo*> outputs_;
  std::vector<const OrtValueInfo*> initializers_;
};
