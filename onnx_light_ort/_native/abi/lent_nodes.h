// The nodes of all graph views that live: plugins hand nodes back, and an address that is none must be told from one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "graph_node.h"

namespace onnx_light_ort::abi {

class LentNodes {
 public:
  /// The array stays where it is until remove().
  void add(const std::vector<OrtNode>& nodes) {
    if (nodes.empty()) return;
    const std::lock_guard lock(mutex_);
    ends_.emplace(nodes.data(), nodes.data() + nodes.size());
  }

  void remove(const std::vector<OrtNode>& nodes) {
    const std::lock_guard lock(mutex_);
    ends_.erase(nodes.data());
  }

  /// Calls `visitor` with the node at an address; not at all where there is none. No view goes meanwhile.
  template <class Visitor>
  void visit(const OrtNode* address, Visitor&& visitor) const {
    const std::lock_guard lock(mutex_);
    auto after = ends_.upper_bound(address);
    if (after == ends_.begin()) return;
    const auto& [first, end] = *--after;
    const auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(first);
    if (std::less<>()(address, end) && offset % sizeof(OrtNode) == 0) visitor(*address);
  }

 private:
  mutable std::mutex mutex_;
  std::map<const OrtNode*, const OrtNode*, std::less<>> ends_;  ///< By the first node of a view.
};

/// Never destroyed: a plugin may release a view while the process ends.
inline LentNodes& lent_nodes() {
  static auto* const nodes = new LentNodes;
  return *nodes;
}

}  // namespace onnx_light_ort::abi
