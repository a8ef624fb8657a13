// Graphs frozen for plugins, from what planning built in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "graph.h"

namespace onnx_light_ort::bindings {

/// A graph view that Python made and keeps. `graph` lives as long as this object.
class GraphView {
 public:
  GraphView(std::shared_ptr<const OrtGraph> owned, const OrtGraph& graph) : owned_(std::move(owned)), graph_(graph) {}

  const OrtGraph& graph() const noexcept { return graph_; }
  /// The graph, or the one that only holds the node around it.
  const std::shared_ptr<const OrtGraph>& owned() const noexcept { return owned_; }

 private:
  const std::shared_ptr<const OrtGraph> owned_;
  const OrtGraph& graph_;
};

void bind_graph_view(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
