// Loops from several callers at once, loops inside loops, and loops that throw. Exits with 1 if any went wrong.
#include "thread_pool.h"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

using onnx_light_ort::engine::ThreadPool;

namespace {

constexpr int kCallers = 4;
constexpr int kLoops = 1500;
constexpr int64_t kGrain = 7;

struct Expected : std::runtime_error {
  Expected() : std::runtime_error("expected") {}
};

// One loop over `total` indices; true if each index was met once, or if a loop that throws threw.
bool loop(ThreadPool& pool, int64_t total, bool throws) {
  std::vector<int> met(static_cast<size_t>(total), 0);
  std::atomic<int> inner{0};
  std::atomic<int> outer{0};
  try {
    pool.parallel_for(total, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++met[static_cast<size_t>(i)];
      if (throws && begin == 0) throw Expected();
      ++outer;
      pool.parallel_for(3, 1, [&](int64_t from, int64_t to) { inner += static_cast<int>(to - from); });
    });
  } catch (const Expected&) {
    return throws;
  }
  for (int count : met) {
    if (count != 1) return false;
  }
  return !throws && inner == 3 * outer;
}

}  // namespace

int main() {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < kLoops; ++i) {
        if (!loop(pool, 1 + (i * 37 + caller * 11) % 5000, i % 50 == 0)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  return wrong == 0 ? 0 : 1;
}
