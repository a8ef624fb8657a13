// A node of a graph view.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <cstddef>

#include "graph_record.h"

/// Belongs to its view and does not change; so do all pointers that it lends.
struct OrtNode {
  const OrtGraph* graph = nullptr;  ///< The view.
  const onnx_light_ort::abi::NodeRecord* record = nullptr;
  const OrtValueInfo* const* values = nullptr;  ///< Inputs, outputs, implicit inputs; null for what is left out.
  const OrtOpAttr* const* attributes = nullptr;
  const OrtGraph* const* subgraphs = nullptr;  ///< One for each of the record's.
};
