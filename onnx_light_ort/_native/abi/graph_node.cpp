#include "graph_node.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "graph.h"
#include "slots.h"
#include "view_array.h"

namespace onnx_light_ort::abi {

void OrtApiSlots::Node_GetId(const OrtNode* node, size_t* node_id) { *node_id = node->record->id; }

void OrtApiSlots::Node_GetName(const OrtNode* node, const char** node_name) { *node_name = node->record->name.c_str(); }

void OrtApiSlots::Node_GetOperatorType(const OrtNode* node, const char** operator_type) {
  *operator_type = node->record->op->op_type.c_str();
}

void OrtApiSlots::Node_GetDomain(const OrtNode* node, const char** domain_name) {
  *domain_name = node->record->op->domain.c_str();
}

void OrtApiSlots::Node_GetSinceVersion(const OrtNode* node, int* since_version) {
  *since_version = node->record->op->since_version;
}

void OrtApiSlots::Node_GetNumInputs(const OrtNode* node, size_t* num_inputs) {
  *num_inputs = node->record->input_count;
}

void OrtApiSlots::Node_GetInputs(const OrtNode* node, const OrtValueInfo** inputs, size_t num_inputs) {
  write_elements(node->values, node->record->input_count, "the node's inputs", inputs, num_inputs);
}

void OrtApiSlots::Node_GetNumOutputs(const OrtNode* node, size_t* num_outputs) {
  *num_outputs = node->record->output_count;
}

void OrtApiSlots::Node_GetOutputs(const OrtNode* node, const OrtValueInfo** outputs, size_t num_outputs) {
  const NodeRecord& record = *node->record;
  write_elements(node->values + record.input_count, record.output_count, "the node's outputs", outputs, num_outputs);
}

void OrtApiSlots::Node_GetNumImplicitInputs(const OrtNode* node, size_t* num_implicit_inputs) {
  *num_implicit_inputs = node->record->implicit_count;
}

void OrtApiSlots::Node_GetImplicitInputs(const OrtNode* node, const OrtValueInfo** implicit_inputs,
                                         size_t num_implicit_inputs) {
  const NodeRecord& record = *node->record;
  write_elements(node->values + record.input_count + record.output_count, record.implicit_count,
                 "the node's implicit inputs", implicit_inputs, num_implicit_inputs);
}

void OrtApiSlots::Node_GetNumAttributes(const OrtNode* node, size_t* num_attributes) {
  *num_attributes = node->record->attribute_count;
}

void OrtApiSlots::Node_GetAttributes(const OrtNode* node, const OrtOpAttr** attributes, size_t num_attributes) {
  write_elements(node->attributes, node->record->attribute_count, "the node's attributes", attributes, num_attributes);
}

void OrtApiSlots::Node_GetAttributeByName(const OrtNode* node, const char* attribute_name,
                                          const OrtOpAttr** attribute) {
  *attribute = nullptr;
  const std::string_view name = attribute_name;
  for (size_t i = 0; i < node->record->attribute_count; ++i) {
    if (node->attributes[i]->name == name) {
      *attribute = node->attributes[i];
      return;
    }
  }
  const auto& optional = node->record->op->optional_attributes;
  if (!std::binary_search(optional.begin(), optional.end(), name)) {
    throw Error(ORT_NOT_FOUND, "node '" + node->record->name + "' has no attribute '" + std::string(name) +
                                   "', and its operator knows none of that name that may be left out");
  }
}

void OrtApiSlots::Node_GetNumSubgraphs(const OrtNode* node, size_t* num_subgraphs) {
  *num_subgraphs = node->record->subgraphs.size();
}

void OrtApiSlots::Node_GetSubgraphs(const OrtNode* node, const OrtGraph** subgraphs, size_t num_subgraphs,
                                    const char** attribute_names) {
  const auto& records = node->record->subgraphs;
  write_elements(node->subgraphs, records.size(), "the node's subgraphs", subgraphs, num_subgraphs);
  if (attribute_names == nullptr) return;
  for (size_t i = 0; i < records.size(); ++i) attribute_names[i] = records[i].attribute.c_str();
}

void OrtApiSlots::Node_GetGraph(const OrtNode* node, const OrtGraph** graph) {
  *graph = node->graph->is_holder() ? nullptr : node->graph;
}

void OrtApiSlots::Node_GetEpName(const OrtNode* node, const char** out) { *out = node->record->provider.c_str(); }

}  // namespace onnx_light_ort::abi
