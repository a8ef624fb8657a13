// A value of a graph view.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>
#include <cstdint>

#include "graph_record.h"

namespace onnx_light_ort::abi {

struct Consumer {
  const OrtNode* node;
  int64_t input;  ///< Position among the node's inputs; -1 where a subgraph of the node reads the value.
};

}  // namespace onnx_light_ort::abi

/// One for each value of a view, wherever it is asked for. Belongs to its view and does not change.
struct OrtValueInfo {
  const OrtGraph* graph = nullptr;  ///< The view.
  const onnx_light_ort::abi::ValueRecord* record = nullptr;
  const OrtNode* producer = nullptr;  ///< Null where no node of the view makes it.
  size_t producer_output = 0;
  const onnx_light_ort::abi::Consumer* consumers = nullptr;  ///< In the nodes' order.
  size_t consumer_count = 0;
  bool is_graph_input = false;
  bool is_graph_output = false;
};
