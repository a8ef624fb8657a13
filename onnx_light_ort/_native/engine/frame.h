// The state of one run of one plan: value slots, and what the run shares with the frames of its subgraphs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frame_allocator.h"
#include "plan.h"
#include "thread_pool.h"

namespace onnx_light_ort::engine {

/// A lock of the program around the engine (Python's GIL): held when a run starts and ends, given up while C++ steps
/// run, taken back for a step that needs it.
class OuterLock {
 public:
  virtual void acquire() = 0;
  virtual void release() = 0;

 protected:
  ~OuterLock() = default;
};

struct StepTiming {
  const Step* step;
  int64_t start_ns;  ///< Since the run began.
  int64_t duration_ns;
};

/// What one run shares with all its frames.
class RunState {
 public:
  RunState(ThreadPool& pool, Reclaimer& reclaimer, OuterLock* lock, std::vector<StepTiming>* timings,
           const std::atomic<bool>* terminate)
      : pool(pool), reclaimer(reclaimer), timings(timings), terminate(terminate), lock_(lock) {}

  ThreadPool& pool;
  Reclaimer& reclaimer;
  std::vector<StepTiming>* const timings;    ///< Null: not profiled.
  const std::atomic<bool>* const terminate;  ///< Null, or set by another thread to end the run after a step.
  int64_t began_ns = 0;

  /// Throws kernels::Error when another thread wants the run to end.
  void check_terminate() const;

  /// A C++ step begins: others may hold the outer lock meanwhile.
  void leave_lock() {
    if (lock_ != nullptr && locked_) {
      lock_->release();
      locked_ = false;
    }
  }
  /// A step that needs the outer lock begins, or the run ends.
  void enter_lock() {
    if (lock_ != nullptr && !locked_) {
      lock_->acquire();
      locked_ = true;
    }
  }

 private:
  OuterLock* lock_;
  bool locked_ = true;
};

/// Belongs to one run at a time; kept by its executor between runs, with its constants in place and its freed buffers
/// at hand.
class Frame {
 public:
  Frame(std::shared_ptr<const Plan> plan, std::shared_ptr<MemoryBudget> budget);

  const Plan& plan() const noexcept { return *plan_; }
  const std::shared_ptr<MemoryBudget>& budget() const noexcept { return budget_; }
  FrameAllocator& allocator() noexcept { return allocator_; }
  RunState& state() const noexcept { return *state_; }

  Value& slot(int32_t value) noexcept { return slots_[static_cast<size_t>(value)]; }
  /// Room for the input views of one step; steps of one frame run one after another.
  const TensorView** input_views() noexcept { return input_views_.data(); }

  /// Runs all steps on inputs and captures that are in their slots. Whatever happens, the caller calls clear().
  void run(RunState& state);
  /// Empties every slot but the constants.
  void clear() noexcept;
  /// Drops a value; a buffer that nobody else has goes to the free list.
  void drop(Value& value) noexcept;
  /// Gives the free buffers of this frame and of its children back to the system.
  void trim() noexcept;
  /// Takes what a subgraph reads from this frame.
  void fill_captures(Frame& outer);
  /// The frame of a step's subgraph, made on first use and kept.
  Frame& child(const Step* step, size_t branch, const std::shared_ptr<const Plan>& plan);

 private:
  struct Child {
    const Step* step;
    size_t branch;
    std::unique_ptr<Frame> frame;
  };

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<MemoryBudget> budget_;
  FrameAllocator allocator_;
  std::vector<Value> slots_;
  std::vector<int32_t> clearable_;
  std::vector<const TensorView*> input_views_;
  std::vector<Child> children_;
  RunState* state_ = nullptr;
};

}  // namespace onnx_light_ort::engine
