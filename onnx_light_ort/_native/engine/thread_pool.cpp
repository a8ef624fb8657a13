#include "thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace onnx_light_ort::engine {
namespace {

thread_local bool inside_loop = false;

// A worker that just finished looks for the next loop this many times before it sleeps: a kernel follows a kernel
// within microseconds, and waking a sleeping thread takes longer than that.
constexpr int kSpins = 4000;

// Chunks per thread: enough that a thread that was held up leaves its share to the others.
constexpr int64_t kChunksPerThread = 4;

// Counts the forks between the process that loaded this code and the one that runs it.
std::atomic<uint32_t> fork_generation{0};

uint32_t watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1); });
  static_cast<void>(registered);
  return fork_generation.load();
}

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) : fork_generation_(watch_forks()) {
  if (num_threads <= 0) num_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  workers_.reserve(static_cast<size_t>(num_threads - 1));
  for (int i = 1; i < num_threads; ++i) workers_.emplace_back([this] { work(); });
}

void ThreadPool::dispose(ThreadPool* pool) noexcept {
  // In a forked child nobody waits on the condition variables any more, and to destroy them would wait for those who
  // did.
  if (!pool->forked()) delete pool;
}

bool ThreadPool::forked() const noexcept { return fork_generation.load(std::memory_order_relaxed) != fork_generation_; }

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_mutex_);
    stopping_ = true;
    generation_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(int64_t total, int64_t grain, kernels::RangeFunction body) {
  if (total <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  std::unique_lock<std::mutex> loop;
  if (!workers_.empty() && total > grain && !inside_loop && !forked())
    loop = std::unique_lock(loop_mutex_, std::try_to_lock);
  if (!loop.owns_lock()) {
    body(0, total);
    return;
  }

  const int64_t shares = num_threads() * kChunksPerThread;
  chunk_ = std::max(grain, (total + shares - 1) / shares);
  total_ = total;
  next_.store(0, std::memory_order_relaxed);
  {
    std::lock_guard lock(state_mutex_);
    body_ = &body;
    generation_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  run_chunks(body);

  std::unique_lock lock(state_mutex_);
  body_ = nullptr;  // nobody joins from here on; those inside finish their chunk
  if (joined_.load(std::memory_order_relaxed) != 0) {
    lock.unlock();
    for (int spin = 0; spin < kSpins && joined_.load(std::memory_order_acquire) != 0; ++spin) relax();
    lock.lock();
  }
  done_.wait(lock, [this] { return joined_.load(std::memory_order_relaxed) == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::run_chunks(const kernels::RangeFunction& body) noexcept {
  inside_loop = true;
  for (;;) {
    const int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= total_) break;
    const int64_t end = std::min(begin + chunk_, total_);
    try {
      body(begin, end);
    } catch (...) {
      std::lock_guard lock(state_mutex_);
      if (!error_) error_ = std::current_exception();
      next_.store(total_, std::memory_order_relaxed);
    }
  }
  inside_loop = false;
}

void ThreadPool::work() {
  uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_acquire) == seen; ++spin) relax();
    std::unique_lock lock(state_mutex_);
    wake_.wait(lock, [&] { return generation_.load(std::memory_order_relaxed) != seen; });
    seen = generation_.load(std::memory_order_relaxed);
    if (stopping_) return;
    const kernels::RangeFunction* body = body_;
    if (body == nullptr) continue;
    joined_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    run_chunks(*body);
    lock.lock();
    if (joined_.fetch_sub(1, std::memory_order_relaxed) == 1) done_.notify_one();
  }
}

}  // namespace onnx_light_ort::engine
