// Runs a plan, from any number of threads at once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "frame.h"
#include "plan.h"
#include "thread_pool.h"

namespace onnx_light_ort::engine {

class Executor {
 public:
  Executor(std::shared_ptr<const Plan> plan, int num_threads, std::shared_ptr<MemoryBudget> budget);

  const Plan& plan() const noexcept { return *plan_; }
  const std::shared_ptr<MemoryBudget>& budget() const noexcept { return budget_; }
  ThreadPool& pool() noexcept { return *pool_; }

  /// A frame for one run; cleared and kept for the next one when the lease ends.
  class Lease final : public Reclaimer {
   public:
    explicit Lease(Executor& executor);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Frame& operator*() noexcept { return *frame_; }
    Frame* operator->() noexcept { return frame_.get(); }
    /// What this run and the frames that no run uses keep for later.
    void reclaim() noexcept override;

   private:
    Executor& executor_;
    std::unique_ptr<Frame> frame_;
  };

 private:
  const std::shared_ptr<const Plan> plan_;
  const std::shared_ptr<MemoryBudget> budget_;
  const std::unique_ptr<ThreadPool, void (*)(ThreadPool*)> pool_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace onnx_light_ort::engine
