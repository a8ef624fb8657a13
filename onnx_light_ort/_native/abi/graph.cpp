#include "graph.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "lent_nodes.h"
#include "slots.h"
#include "view_array.h"

using onnx_light_ort::abi::Consumer;
using onnx_light_ort::abi::FrozenGraph;
using onnx_light_ort::abi::GraphRecord;
using onnx_light_ort::abi::kAbsent;
using onnx_light_ort::abi::lent_nodes;
using onnx_light_ort::abi::NodeRecord;
using onnx_light_ort::abi::Part;
using onnx_light_ort::abi::SubgraphRecord;

OrtGraph::OrtGraph(std::shared_ptr<const FrozenGraph> frozen, const GraphRecord& record, const OrtNode* parent)
    : frozen_(std::move(frozen)), record_(record), name_(record.name), parent_(parent), released_by_plugin_(false) {
  Part all;
  all.nodes.resize(record.nodes.size());
  std::iota(all.nodes.begin(), all.nodes.end(), size_t{0});
  all.inputs = record.inputs;
  all.outputs = record.outputs;
  build(all, record.initializers);
}

OrtGraph::OrtGraph(const OrtGraph& source, const Part& part, bool released_by_plugin)
    : frozen_(source.frozen_),
      record_(source.record_),
      name_(part.name),
      parent_(nullptr),
      released_by_plugin_(released_by_plugin) {
  build(part, initializers_of(part.nodes));
}

std::vector<int32_t> OrtGraph::initializers_of(const std::vector<size_t>& nodes) const {
  std::vector<bool> read(record_.values.size());
  for (size_t position : nodes) {
    const NodeRecord& node = record_.nodes[position];
    const int32_t* values = record_.node_values.data() + node.first_value;
    for (size_t i = 0; i < node.value_count(); ++i) {
      if (values[i] != kAbsent) read[static_cast<size_t>(values[i])] = true;
    }
  }
  std::vector<int32_t> found;
  for (int32_t value : record_.initializers) {
    if (read[static_cast<size_t>(value)]) found.push_back(value);
  }
  return found;
}

void OrtGraph::build(const Part& part, const std::vector<int32_t>& initializers) {
  // Where each value of the record stands in this view, counted from 1.
  std::vector<uint32_t> places(record_.values.size());
  std::vector<int32_t> used;
  const auto use = [&places, &used](int32_t value) {
    uint32_t& place = places[static_cast<size_t>(value)];
    if (place != 0) return;
    used.push_back(value);
    place = static_cast<uint32_t>(used.size());
  };
  std::for_each(part.inputs.begin(), part.inputs.end(), use);
  std::for_each(part.outputs.begin(), part.outputs.end(), use);
  std::for_each(initializers.begin(), initializers.end(), use);
  size_t value_count = 0;
  size_t subgraph_count = 0;
  for (size_t position : part.nodes) {
    const NodeRecord& node = record_.nodes[position];
    for (size_t i = 0; i < node.value_count(); ++i) {
      const int32_t value = record_.node_values[node.first_value + i];
      if (value != kAbsent) use(value);
    }
    value_count += node.value_count();
    subgraph_count += node.subgraphs.size();
  }

  values_.resize(used.size());
  for (size_t i = 0; i < used.size(); ++i) {
    values_[i].graph = this;
    values_[i].record = &record_.values[static_cast<size_t>(used[i])];
  }
  const auto value_of = [this, &places](int32_t value) -> OrtValueInfo* {
    return value == kAbsent ? nullptr : &values_[places[static_cast<size_t>(value)] - 1];
  };
  const auto list = [&value_of](const std::vector<int32_t>& values, std::vector<const OrtValueInfo*>& infos) {
    infos.reserve(values.size());
    for (int32_t value : values) infos.push_back(value_of(value));
  };
  list(part.inputs, inputs_);
  list(part.outputs, outputs_);
  list(initializers, initializers_);
  for (int32_t value : part.inputs) value_of(value)->is_graph_input = true;
  for (int32_t value : part.outputs) value_of(value)->is_graph_output = true;

  nodes_.resize(part.nodes.size());
  node_values_.reserve(value_count);
  subgraphs_.reserve(subgraph_count);
  for (size_t i = 0; i < part.nodes.size(); ++i) {
    const NodeRecord& record = record_.nodes[part.nodes[i]];
    OrtNode& node = nodes_[i];
    node.graph = this;
    node.record = &record;
    node.values = node_values_.data() + node_values_.size();
    node.attributes = record_.node_attributes.data() + record.first_attribute;
    node.subgraphs = subgraphs_.data() + subgraphs_.size();
    for (size_t j = 0; j < record.value_count(); ++j) {
      OrtValueInfo* value = value_of(record_.node_values[record.first_value + j]);
      node_values_.push_back(value);
      if (value == nullptr) continue;
      if (j < record.input_count || j >= record.input_count + record.output_count) {
        ++value->consumer_count;
      } else {
        value->producer = &node;
        value->producer_output = j - record.input_count;
      }
    }
    for (const SubgraphRecord& subgraph : record.subgraphs) {
      owned_subgraphs_.push_back(std::make_unique<OrtGraph>(frozen_, *subgraph.graph, &node));
      subgraphs_.push_back(owned_subgraphs_.back().get());
    }
  }

  size_t consumer_count = 0;
  for (const OrtValueInfo& value : values_) consumer_count += value.consumer_count;
  consumers_.resize(consumer_count);
  Consumer* next = consumers_.data();
  for (OrtValueInfo& value : values_) {
    value.consumers = next;
    next += std::exchange(value.consumer_count, 0);
  }
  for (const OrtNode& node : nodes_) {
    const NodeRecord& record = *node.record;
    for (size_t j = 0; j < record.value_count(); ++j) {
      const bool is_input = j < record.input_count;
      if (node.values[j] == nullptr || (!is_input && j < record.input_count + record.output_count)) continue;
      // The views are const to whoever holds them; this one is still being made.
      auto& value = const_cast<OrtValueInfo&>(*node.values[j]);
      const_cast<Consumer*>(value.consumers)[value.consumer_count++] = {&node, is_input ? static_cast<int64_t>(j) : -1};
    }
  }
  lent_nodes().add(nodes_);
}

std::optional<size_t> OrtGraph::position_of(const OrtNode* node) const noexcept {
  // Pointers into different arrays are only ordered by std::less.
  const std::less<> before;
  const bool is_mine = !nodes_.empty() && !before(node, nodes_.data()) && before(node, nodes_.data() + nodes_.size());
  const NodeRecord* record = is_mine ? node->record : nullptr;
  if (!is_mine) {
    lent_nodes().visit(node, [&](const OrtNode& found) {
      if (&found.graph->record_ == &record_) record = found.record;
    });
  }
  if (record == nullptr) return std::nullopt;
  return static_cast<size_t>(record - record_.nodes.data());
}

bool OrtGraph::knows(const OrtNode* node) const noexcept {
  const std::less<> before;
  if (!nodes_.empty() && !before(node, nodes_.data()) && before(node, nodes_.data() + nodes_.size())) return true;
  bool known = false;
  lent_nodes().visit(node, [&](const OrtNode& found) { known = found.graph->frozen_ == frozen_; });
  return known;
}

OrtGraph::~OrtGraph() { lent_nodes().remove(nodes_); }

std::string onnx_light_ort::abi::describe_node(const OrtNode* node) {
  std::string description = "an address that is no node";
  lent_nodes().visit(node, [&](const OrtNode& found) {
    description = "node '" + found.record->name + "' (" + found.record->op->op_type + ")";
  });
  return description;
}

Part OrtGraph::part_of(const std::vector<size_t>& nodes, const std::string& name) const {
  Part part;
  part.name = name;
  std::vector<bool> inside(record_.nodes.size());
  for (size_t position : nodes) inside[position] = true;
  for (size_t position = 0; position < inside.size(); ++position) {
    if (inside[position]) part.nodes.push_back(position);
  }

  enum : uint8_t { kMadeInside = 1, kReadOutside = 2, kIsOutput = 4, kListed = 8 };
  std::vector<uint8_t> marks(record_.values.size());
  for (size_t position = 0; position < inside.size(); ++position) {
    const NodeRecord& node = record_.nodes[position];
    for (size_t i = 0; i < node.value_count(); ++i) {
      const int32_t value = record_.node_values[node.first_value + i];
      if (value == kAbsent) continue;
      const bool is_output = i >= node.input_count && i < node.input_count + node.output_count;
      if (is_output && inside[position]) marks[static_cast<size_t>(value)] |= kMadeInside;
      if (!is_output && !inside[position]) marks[static_cast<size_t>(value)] |= kReadOutside;
    }
  }
  for (int32_t value : record_.outputs) marks[static_cast<size_t>(value)] |= kIsOutput;

  std::unordered_map<int32_t, size_t> places;  // of the record's own inputs
  for (int32_t input : record_.inputs) {
    if (record_.values[static_cast<size_t>(input)].constant == nullptr) places.emplace(input, places.size());
  }
  std::vector<std::pair<size_t, int32_t>> inputs;
  for (size_t position : nodes) {
    const NodeRecord& node = record_.nodes[position];
    for (size_t i = 0; i < node.value_count(); ++i) {
      const int32_t value = record_.node_values[node.first_value + i];
      if (value == kAbsent) continue;
      uint8_t& mark = marks[static_cast<size_t>(value)];
      if (i >= node.input_count && i < node.input_count + node.output_count) {
        if ((mark & (kReadOutside | kIsOutput)) != 0) part.outputs.push_back(value);
        continue;
      }
      const auto& record = record_.values[static_cast<size_t>(value)];
      const bool is_constant = record.constant != nullptr && !record.overridable;
      if (is_constant || (mark & (kMadeInside | kListed)) != 0) continue;
      mark |= kListed;
      const auto place = places.find(value);
      inputs.emplace_back(place == places.end() ? inputs.size() : place->second, value);
    }
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& input : inputs) part.inputs.push_back(input.second);
  return part;
}

namespace onnx_light_ort::abi {
namespace {

/// What ORT calls every view that a plugin makes.
constexpr const char* kViewName = "sub_graph";

void write_values(const std::vector<const OrtValueInfo*>& values, const char* what, const OrtValueInfo** array,
                  size_t room) {
  write_elements(values.data(), values.size(), what, array, room);
}

}  // namespace

void OrtApiSlots::ReleaseGraph(OrtGraph* input) {
  if (input->released_by_plugin()) delete input;
}

void OrtApiSlots::Graph_GetName(const OrtGraph* graph, const char** graph_name) { *graph_name = graph->name().c_str(); }

void OrtApiSlots::Graph_GetModelPath(const OrtGraph* graph, const ORTCHAR_T** model_path) {
  *model_path = graph->model().path.c_str();
}

void OrtApiSlots::Graph_GetOnnxIRVersion(const OrtGraph* graph, int64_t* onnx_ir_version) {
  *onnx_ir_version = graph->model().ir_version;
}

void OrtApiSlots::Graph_GetNumOperatorSets(const OrtGraph* graph, size_t* num_operator_sets) {
  *num_operator_sets = graph->model().operator_sets.size();
}

void OrtApiSlots::Graph_GetOperatorSets(const OrtGraph* graph, const char** domains, int64_t* opset_versions,
                                        size_t num_operator_sets) {
  const auto& sets = graph->model().operator_sets;
  require_room(domains, num_operator_sets, sets.size(), "the operator sets' domains");
  require_room(opset_versions, num_operator_sets, sets.size(), "the operator sets' versions");
  for (size_t i = 0; i < sets.size(); ++i) {
    domains[i] = sets[i].domain.c_str();
    opset_versions[i] = sets[i].version;
  }
}

void OrtApiSlots::Graph_GetNumInputs(const OrtGraph* graph, size_t* num_inputs) {
  *num_inputs = graph->inputs().size();
}

void OrtApiSlots::Graph_GetInputs(const OrtGraph* graph, const OrtValueInfo** inputs, size_t num_inputs) {
  write_values(graph->inputs(), "the graph's inputs", inputs, num_inputs);
}

void OrtApiSlots::Graph_GetNumOutputs(const OrtGraph* graph, size_t* num_outputs) {
  *num_outputs = graph->outputs().size();
}

void OrtApiSlots::Graph_GetOutputs(const OrtGraph* graph, const OrtValueInfo** outputs, size_t num_outputs) {
  write_values(graph->outputs(), "the graph's outputs", outputs, num_outputs);
}

void OrtApiSlots::Graph_GetNumInitializers(const OrtGraph* graph, size_t* num_initializers) {
  *num_initializers = graph->initializers().size();
}

void OrtApiSlots::Graph_GetInitializers(const OrtGraph* graph, const OrtValueInfo** initializers,
                                        size_t num_initializers) {
  write_values(graph->initializers(), "the graph's initializers", initializers, num_initializers);
}

void OrtApiSlots::Graph_GetNumNodes(const OrtGraph* graph, size_t* num_nodes) { *num_nodes = graph->nodes().size(); }

void OrtApiSlots::Graph_GetNodes(const OrtGraph* graph, const OrtNode** nodes, size_t num_nodes) {
  const auto& own = graph->nodes();
  require_room(nodes, num_nodes, own.size(), "the graph's nodes");
  for (size_t i = 0; i < own.size(); ++i) nodes[i] = &own[i];
}

void OrtApiSlots::Graph_GetParentNode(const OrtGraph* graph, const OrtNode** node) { *node = graph->parent(); }

void OrtApiSlots::Graph_GetGraphView(const OrtGraph* src_graph, const OrtNode** nodes, size_t num_nodes,
                                     OrtGraph** dst_graph) {
  if (num_nodes == 0) throw Error(ORT_INVALID_ARGUMENT, "a graph view needs nodes: pass at least one");
  std::vector<size_t> positions;
  std::vector<bool> seen(src_graph->record().nodes.size());
  for (size_t i = 0; i < num_nodes; ++i) {
    if (nodes[i] == nullptr) {
      throw Error(ORT_INVALID_ARGUMENT, "node " + std::to_string(i) +
                                            " of a graph view is null: pass nodes that "
                                            "Graph_GetNodes gave");
    }
    const auto position = src_graph->position_of(nodes[i]);
    if (!position) {
      throw Error(ORT_INVALID_ARGUMENT, describe_node(nodes[i]) + " is no node of graph '" + src_graph->name() +
                                            "': pass nodes that Graph_GetNodes gave for it");
    }
    if (!seen[*position]) positions.push_back(*position);
    seen[*position] = true;
  }
  *dst_graph = new OrtGraph(*src_graph, src_graph->part_of(positions, kViewName), true);
}

void OrtApiSlots::Graph_GetModelMetadata(const OrtGraph* graph, OrtModelMetadata** out) {
  *out = new OrtModelMetadata(graph->model().metadata);
}

}  // namespace onnx_light_ort::abi
