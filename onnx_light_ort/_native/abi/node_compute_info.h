// Partitions that a plugin EP compiled: its compute infos, the states that it made for a session, and the kernel that
// runs them.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "ep.h"
#include "graph.h"
#include "onnx_light_ort/kernels/kernel.h"

/// What CreateState may ask of the host. Lives for that call.
struct OrtNodeComputeContext {
  const std::string& node_name;
};

namespace onnx_light_ort::abi {

class CompiledPartition;

/// One of the partitions that Compile gets.
struct PartitionView {
  const OrtGraph& graph;  ///< Its nodes with their boundary; need not outlive the call.
  std::string name;       ///< Of the fused node, and of its operator.
  size_t node_id;         ///< Of the fused node.
};

/// What one EP compiled for one session. Lives until its last partition has given up its state. Then all compute infos
/// are released in one call, after them the fused nodes, which the EP may have kept, and the reference to the EP.
class EpCompilation : public std::enable_shared_from_this<EpCompilation> {
 public:
  explicit EpCompilation(std::shared_ptr<Ep> ep);
  ~EpCompilation();
  EpCompilation(const EpCompilation&) = delete;
  EpCompilation& operator=(const EpCompilation&) = delete;

  /// Calls OrtEp::Compile; one partition for each view, in their order. May be called again, for other graphs. Throws
  /// Error when the EP reports a failure, throws, or leaves out what it must give; whatever infos it did give are
  /// released all the same.
  std::vector<std::shared_ptr<CompiledPartition>> compile(const std::vector<PartitionView>& views);

  Ep& ep() const noexcept { return *ep_; }

 private:
  const std::shared_ptr<Ep> ep_;
  std::vector<std::unique_ptr<const OrtGraph>> fused_nodes_;  ///< Each holds one node.
  std::vector<OrtNodeComputeInfo*> infos_;
};

/// A kernel over one compute info, whose callbacks every version of the struct has: as in ORT, whatever it declares.
/// Its state is made by create_state(), once the session's plan is known, and released exactly once.
class CompiledPartition final : public kernels::Kernel {
 public:
  CompiledPartition(std::shared_ptr<EpCompilation> compilation, OrtNodeComputeInfo* info, std::string name);
  ~CompiledPartition() override;
  CompiledPartition(const CompiledPartition&) = delete;
  CompiledPartition& operator=(const CompiledPartition&) = delete;

  /// Throws Error when the EP reports a failure or throws.
  void create_state();
  /// Waits for the runs that are under way: a program may end while a thread of it computes. Runs that begin later
  /// fail, and a second call does nothing.
  void release() noexcept;

  /// Throws kernels::Error when the EP reports a failure or throws.
  void compute(kernels::RunContext& run) override;

  const std::string& name() const noexcept { return name_; }

 private:
  /// Null once released.
  std::shared_ptr<EpCompilation> compilation_;
  OrtNodeComputeInfo* const info_;
  const std::string name_;
  /// Shared by runs.
  std::shared_mutex running_;
  void* state_ = nullptr;
  bool ready_ = false;
};

}  // namespace onnx_light_ort::abi
