// Threads that share the ranges of one parallel_for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::engine {

/// One loop at a time: a second caller, and a loop inside a loop, run serially in their own thread, so that callers
/// never wait for each other.
class ThreadPool {
 public:
  /// num_threads counts the calling thread; 0 means one per core. 1 starts no thread.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// See kernels::RunContext::parallel_for.
  void parallel_for(int64_t total, int64_t grain, kernels::RangeFunction body);

  /// Deletes a pool, or leaves it where it is in a forked child, which has the pool but not its threads.
  static void dispose(ThreadPool* pool) noexcept;

 private:
  void work();
  void run_chunks(const kernels::RangeFunction& body) noexcept;

  /// Whether this process is a child that was forked since: loops run serially there.
  bool forked() const noexcept;

  const uint32_t fork_generation_;
  std::vector<std::thread> workers_;
  std::mutex loop_mutex_;  // held by the caller whose loop this is

  std::mutex state_mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const kernels::RangeFunction* body_ = nullptr;  // non-null while workers may join; under state_mutex_
  std::atomic<int> joined_{0};                    // workers inside the loop; raised under state_mutex_
  std::atomic<uint64_t> generation_{0};           // counts loops, so that a spinning worker sees a new one
  bool stopping_ = false;
  std::exception_ptr error_;  // first exception of the loop; under state_mutex_

  std::atomic<int64_t> next_{0};
  int64_t total_ = 0;
  int64_t chunk_ = 1;
};

}  // namespace onnx_light_ort::engine
