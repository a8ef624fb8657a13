#include "value_info.h"

#include <memory>
#include <string>

#include "graph.h"
#include "slots.h"
#include "view_array.h"

namespace onnx_light_ort::abi {
namespace {

/// A value around a node that was lent without its graph (a parent node, a fused node) has no producer and consumers to
/// tell of.
void require_graph(const OrtValueInfo* value, OrtErrorCode code) {
  if (!value->graph->is_holder()) return;
  throw Error(code, "value '" + value->record->name +
                        "' belongs to a node that is lent without its graph: ask for it in the graph that is offered, "
                        "or that is to be compiled");
}

bool has_own_initializer(const ValueRecord& value) { return value.constant != nullptr && !value.from_outer_scope; }

}  // namespace

void OrtApiSlots::GetValueInfoName(const OrtValueInfo* value_info, const char** name) {
  *name = value_info->record->name.c_str();
}

void OrtApiSlots::GetValueInfoTypeInfo(const OrtValueInfo* value_info, const OrtTypeInfo** type_info) {
  *type_info = value_info->record->type;
  if (*type_info == nullptr) {
    throw Error(ORT_FAIL, "the type of value '" + value_info->record->name +
                              "' is not known: an operator that makes it has no type inference");
  }
}

void OrtApiSlots::ValueInfo_GetValueProducer(const OrtValueInfo* value_info, const OrtNode** producer_node,
                                             size_t* producer_output_index) {
  require_graph(value_info, ORT_NOT_FOUND);
  *producer_node = value_info->producer;
  if (producer_output_index != nullptr) *producer_output_index = value_info->producer_output;
}

void OrtApiSlots::ValueInfo_GetValueNumConsumers(const OrtValueInfo* value_info, size_t* num_consumers) {
  *num_consumers = 0;
  require_graph(value_info, ORT_FAIL);
  *num_consumers = value_info->consumer_count;
}

void OrtApiSlots::ValueInfo_GetValueConsumers(const OrtValueInfo* value_info, const OrtNode** nodes,
                                              int64_t* input_indices, size_t num_consumers) {
  require_graph(value_info, ORT_FAIL);
  const size_t count = value_info->consumer_count;
  require_room(nodes, num_consumers, count, "the value's consumers");
  require_room(input_indices, num_consumers, count, "the consumers' input indices");
  for (size_t i = 0; i < count; ++i) {
    nodes[i] = value_info->consumers[i].node;
    input_indices[i] = value_info->consumers[i].input;
  }
}

void OrtApiSlots::ValueInfo_GetInitializerValue(const OrtValueInfo* value_info, const OrtValue** initializer_value) {
  const ConstantRecord* constant = value_info->record->constant;
  *initializer_value = constant == nullptr ? nullptr : &constant->handle;
}

void OrtApiSlots::ValueInfo_GetExternalInitializerInfo(const OrtValueInfo* value_info,
                                                       OrtExternalInitializerInfo** info) {
  const ConstantRecord* constant = value_info->record->constant;
  *info = constant == nullptr || constant->external == nullptr ? nullptr
                                                               : new OrtExternalInitializerInfo(*constant->external);
}

void OrtApiSlots::ValueInfo_IsRequiredGraphInput(const OrtValueInfo* value_info, bool* is_required_graph_input) {
  *is_required_graph_input = value_info->is_graph_input && !has_own_initializer(*value_info->record);
}

void OrtApiSlots::ValueInfo_IsOptionalGraphInput(const OrtValueInfo* value_info, bool* is_optional_graph_input) {
  const ValueRecord& record = *value_info->record;
  // Constants that a partition takes as inputs are called optional as well; before IR version 4, no initializer is.
  const bool is_constant_input =
      value_info->is_graph_input && has_own_initializer(record) && value_info->graph->model().ir_version >= 4;
  *is_optional_graph_input = record.overridable || is_constant_input;
}

void OrtApiSlots::ValueInfo_IsGraphOutput(const OrtValueInfo* value_info, bool* is_graph_output) {
  *is_graph_output = value_info->is_graph_output;
}

void OrtApiSlots::ValueInfo_IsConstantInitializer(const OrtValueInfo* value_info, bool* is_constant_initializer) {
  *is_constant_initializer = value_info->record->constant != nullptr && !value_info->record->overridable;
}

void OrtApiSlots::ValueInfo_IsFromOuterScope(const OrtValueInfo* value_info, bool* is_from_outer_scope) {
  *is_from_outer_scope = value_info->record->from_outer_scope;
}

}  // namespace onnx_light_ort::abi
