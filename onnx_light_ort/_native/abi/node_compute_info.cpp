#include "node_compute_info.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "error.h"
#include "error_kind.h"
#include "kernel_context.h"
#include "logger.h"
#include "onnx_light_ort/kernels/error.h"
#include "slots.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

std::string who(const Ep& ep, const std::string& partition) {
  return "execution provider '" + ep.name() + "', partition '" + partition + "': ";
}

/// The node that stands for a partition, lent without a graph. It has copies of its values' records, so that it keeps
/// no constant alive.
std::unique_ptr<const OrtGraph> make_fused_node(const Ep& ep, const PartitionView& view) {
  auto frozen = std::make_shared<FrozenGraph>();
  frozen->model = view.graph.shared_model();
  frozen->is_holder = true;
  OperatorRecord& op = frozen->operators.emplace_back();
  op.domain = ep.name();
  op.op_type = view.name;
  op.since_version = 1;
  GraphRecord& root = frozen->root;
  NodeRecord& node = root.nodes.emplace_back();
  node.op = &op;
  node.name = view.name;
  node.provider = ep.name();
  node.id = view.node_id;
  node.input_count = view.graph.inputs().size();
  node.output_count = view.graph.outputs().size();
  const auto add = [&](const OrtValueInfo* value) {
    root.node_values.push_back(static_cast<int32_t>(root.values.size()));
    ValueRecord& record = root.values.emplace_back();
    record.name = value->record->name;
    if (value->record->type != nullptr) {
      record.type = &frozen->types.emplace_back(std::move(*value->record->type->clone()));
    }
  };
  root.values.reserve(node.value_count());
  for (const OrtValueInfo* value : view.graph.inputs()) add(value);
  for (const OrtValueInfo* value : view.graph.outputs()) add(value);
  return std::make_unique<const OrtGraph>(frozen, root, nullptr);
}

void require_callback(bool there, const Ep& ep, const std::string& partition, const char* callback) {
  if (there) return;
  throw Error(ORT_EP_FAIL, who(ep, partition) + "its OrtNodeComputeInfo has no " + callback + ": set the callback");
}

}  // namespace

EpCompilation::EpCompilation(std::shared_ptr<Ep> ep) : ep_(std::move(ep)) {}

EpCompilation::~EpCompilation() {
  if (infos_.empty()) return;
  OrtEp* const ep = ep_->get();
  try {
    ep_->call("OrtEp::ReleaseNodeComputeInfos",
              [&] { field::OrtEp::ReleaseNodeComputeInfos(ep)(ep, infos_.data(), infos_.size()); });
  } catch (const Error& error) {
    log(ep_->services()->logger, ORT_LOGGING_LEVEL_ERROR, error.what());
  }
}

std::vector<std::shared_ptr<CompiledPartition>> EpCompilation::compile(const std::vector<PartitionView>& views) {
  OrtEp* ep = ep_->get();
  const auto compile = field::OrtEp::Compile(ep);
  if (compile == nullptr || field::OrtEp::ReleaseNodeComputeInfos(ep) == nullptr) {
    throw Error(ORT_EP_FAIL, "execution provider '" + ep_->name() + "' fuses nodes, and has no " +
                                 (compile == nullptr ? "Compile" : "ReleaseNodeComputeInfos") +
                                 ": an EP that calls EpGraphSupportInfo_AddNodesToFuse needs both");
  }
  const size_t count = views.size();
  std::vector<const OrtGraph*> graphs;
  std::vector<const OrtNode*> nodes;
  for (const PartitionView& view : views) {
    graphs.push_back(&view.graph);
    fused_nodes_.push_back(make_fused_node(*ep_, view));
    nodes.push_back(&fused_nodes_.back()->nodes().front());
  }
  std::vector<OrtNodeComputeInfo*> infos(count);
  std::vector<OrtNode*> context_nodes(count);
  infos_.reserve(infos_.size() + count);  // so that nothing is between the call and the taking over of what it gave
  bool given_twice = false;
  const auto take_over = [&] {
    for (OrtNodeComputeInfo* info : infos) {
      if (info == nullptr) continue;
      if (std::find(infos_.begin(), infos_.end(), info) == infos_.end()) {
        infos_.push_back(info);
      } else {
        given_twice = true;
      }
    }
  };
  try {
    ep_->call("OrtEp::Compile",
              [&] { return compile(ep, graphs.data(), nodes.data(), count, infos.data(), context_nodes.data()); });
  } catch (const Error&) {
    take_over();
    throw;
  }
  take_over();
  if (given_twice) {
    throw Error(ORT_EP_FAIL, "execution provider '" + ep_->name() +
                                 "': OrtEp::Compile gave the same OrtNodeComputeInfo for two partitions, and would "
                                 "have to release it twice: make one for each");
  }
  std::vector<std::shared_ptr<CompiledPartition>> partitions;
  for (size_t i = 0; i < count; ++i) {
    const std::string& name = views[i].name;
    if (context_nodes[i] != nullptr) {
      throw Error(ORT_NOT_IMPLEMENTED, who(*ep_, name) +
                                           "Compile returned an EPContext node; compiled models are not written here: "
                                           "leave ep_context_nodes as it is unless the session asks for them");
    }
    OrtNodeComputeInfo* info = infos[i];
    if (info == nullptr) {
      throw Error(ORT_EP_FAIL, who(*ep_, name) + "Compile returned success and no OrtNodeComputeInfo for it (graph " +
                                   std::to_string(i) + " of " + std::to_string(count) + "): set one for each graph");
    }
    require_callback(info->CreateState != nullptr, *ep_, name, "CreateState");
    require_callback(info->Compute != nullptr, *ep_, name, "Compute");
    require_callback(info->ReleaseState != nullptr, *ep_, name, "ReleaseState");
    partitions.push_back(std::make_shared<CompiledPartition>(shared_from_this(), info, name));
  }
  return partitions;
}

CompiledPartition::CompiledPartition(std::shared_ptr<EpCompilation> compilation, OrtNodeComputeInfo* info,
                                     std::string name)
    : compilation_(std::move(compilation)), info_(info), name_(std::move(name)) {}

CompiledPartition::~CompiledPartition() { release(); }

void CompiledPartition::create_state() {
  OrtNodeComputeContext context{name_};
  // What it makes is released even if it then fails.
  compilation_->ep().call("OrtNodeComputeInfo::CreateState",
                          [&] { return info_->CreateState(info_, &context, &state_); });
  ready_ = true;
}

void CompiledPartition::release() noexcept {
  const std::unique_lock alone(running_);
  ready_ = false;
  if (compilation_ == nullptr) return;
  const Ep& ep = compilation_->ep();
  try {
    // As in ORT, not for null, which may be a state.
    if (void* state = std::exchange(state_, nullptr)) {
      ep.call("OrtNodeComputeInfo::ReleaseState", [&] { info_->ReleaseState(info_, state); });
    }
  } catch (const Error& error) {
    log(ep.services()->logger, ORT_LOGGING_LEVEL_ERROR, error.what());
  }
  compilation_.reset();
}

void CompiledPartition::compute(kernels::RunContext& run) {
  const std::shared_lock among_others(running_);
  if (!ready_) {
    throw kernels::Error(kernels::ErrorKind::kInternal,
                         "partition '" + name_ + "' has no state: its session is closed");
  }
  const Ep& ep = compilation_->ep();
  OrtKernelContext context(run, *ep.services(), nullptr);
  try {
    ep.call("OrtNodeComputeInfo::Compute", [&] { return info_->Compute(info_, state_, &context); });
  } catch (const Error& error) {
    throw to_engine(error);
  }
}

const char* OrtEpApiSlots::NodeComputeContext_NodeName(const OrtNodeComputeContext* context) {
  return context->node_name.c_str();
}

}  // namespace onnx_light_ort::abi
