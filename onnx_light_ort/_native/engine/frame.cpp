#include "frame.h"

#include <chrono>
#include <exception>

#include "node_failure.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {
namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Names the node in an error that left its kernel, once: an inner node of a subgraph has named itself already.
[[noreturn]] void rethrow_naming(const std::string& label, const kernels::Error& error) {
  const std::string what = error.what();
  for (const std::string prefix : {"node '", "node that makes '"}) {
    if (what.compare(0, prefix.size(), prefix) == 0) throw;
  }
  // A foreign kernel's code says more exactly what it is.
  if (error.kind() == kernels::ErrorKind::kInvalidArgument && error.code() == 0) throw NodeFailure(label + ": " + what);
  throw kernels::Error(error.kind(), label + ": " + what, error.code());
}

}  // namespace

Frame::Frame(std::shared_ptr<const Plan> plan, std::shared_ptr<MemoryBudget> budget)
    : plan_(std::move(plan)),
      budget_(std::move(budget)),
      allocator_(budget_),
      slots_(plan_->value_count()),
      input_views_(plan_->most_step_inputs) {
  std::vector<bool> constant(slots_.size(), false);
  for (const Constant& entry : plan_->constants) {
    slots_[static_cast<size_t>(entry.value)] = entry.content;
    constant[static_cast<size_t>(entry.value)] = true;
  }
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!constant[i]) clearable_.push_back(static_cast<int32_t>(i));
  }
}

void RunState::check_terminate() const {
  if (terminate != nullptr && terminate->load(std::memory_order_relaxed)) {
    kernels::fail(kernels::ErrorKind::kInternal, "the run was terminated by its RunOptions");
  }
}

void Frame::run(RunState& state) {
  state_ = &state;
  allocator_.set_reclaimer(&state.reclaimer);
  const Step* current = nullptr;
  const auto label = [&] {
    return node_label(current->name(), current->kind(), current->outputs(),
                      [this](int32_t value) { return plan_->value_names[static_cast<size_t>(value)]; });
  };
  try {
    for (const PlannedStep& planned : plan_->steps) {
      current = planned.step.get();
      state.check_terminate();
      if (state.timings == nullptr) {
        current->run(*this);
      } else {
        const int64_t start = now_ns();
        current->run(*this);
        state.timings->push_back({current, start - state.began_ns, now_ns() - start});
      }
      for (int32_t value : planned.release) drop(slot(value));
    }
  } catch (const kernels::Error& error) {
    rethrow_naming(label(), error);
  } catch (const std::bad_alloc&) {
    throw kernels::Error(kernels::ErrorKind::kOutOfMemory, label() + ": an allocation failed");
  }
}

void Frame::clear() noexcept {
  for (int32_t value : clearable_) drop(slot(value));
}

void Frame::drop(Value& value) noexcept {
  if (value.empty()) return;
  Ref<> owner = value.take_owner();
  if (!owner || !owner->unique()) return;
  if (Buffer* buffer = owner->as_buffer()) {
    owner.detach();
    allocator_.recycle(Ref<Buffer>::adopt(buffer));
  }
}

void Frame::trim() noexcept {
  allocator_.trim();
  for (Child& child : children_) child.frame->trim();
}

void Frame::fill_captures(Frame& outer) {
  for (const Capture& capture : plan_->captures) slot(capture.inner) = outer.slot(capture.outer);
}

Frame& Frame::child(const Step* step, size_t branch, const std::shared_ptr<const Plan>& plan) {
  Frame* found = nullptr;
  for (Child& child : children_) {
    if (child.step == step && child.branch == branch) found = child.frame.get();
  }
  if (found == nullptr) {
    children_.push_back({step, branch, std::make_unique<Frame>(plan, budget_)});
    found = children_.back().frame.get();
  }
  found->allocator_.set_reclaimer(&state_->reclaimer);  // used before the child runs, to feed it
  return *found;
}

}  // namespace onnx_light_ort::engine
