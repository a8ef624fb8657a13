#include "executor.h"

namespace onnx_light_ort::engine {

Executor::Executor(std::shared_ptr<const Plan> plan, int num_threads, std::shared_ptr<MemoryBudget> budget)
    : plan_(std::move(plan)), budget_(std::move(budget)), pool_(new ThreadPool(num_threads), &ThreadPool::dispose) {}

Executor::Lease::Lease(Executor& executor) : executor_(executor) {
  {
    std::lock_guard lock(executor_.mutex_);
    if (!executor_.idle_.empty()) {
      frame_ = std::move(executor_.idle_.back());
      executor_.idle_.pop_back();
    }
  }
  if (!frame_) frame_ = std::make_unique<Frame>(executor_.plan_, executor_.budget_);
}

void Executor::Lease::reclaim() noexcept {
  frame_->trim();
  std::lock_guard lock(executor_.mutex_);
  for (const std::unique_ptr<Frame>& idle : executor_.idle_) idle->trim();
}

Executor::Lease::~Lease() {
  frame_->clear();
  std::lock_guard lock(executor_.mutex_);
  executor_.idle_.push_back(std::move(frame_));
}

}  // namespace onnx_light_ort::engine
