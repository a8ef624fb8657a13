// What a thunk of the plain flavour costs over a bare call of the same body. Built by thunk_overhead.py from the
// committed tables, with trivial bodies of its own in place of the host's.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "slots.h"
#include "tables.h"

namespace onnx_light_ort::abi {

void OrtApiSlots::GetDimensionsCount(const OrtTensorTypeAndShapeInfo*, size_t* out) { *out = 4; }

bool OrtApiSlots::TensorTypeAndShape_HasShape(const OrtTensorTypeAndShapeInfo*) { return true; }

}  // namespace onnx_light_ort::abi

using namespace onnx_light_ort::abi;

namespace {

constexpr int kCalls = 20'000'000;
constexpr int kRepeats = 11;

/// Processor time of this thread: what else the machine does is left out.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// The median over repeats of nanoseconds for each call.
template <class Call>
double nanoseconds(Call call) {
  std::vector<double> measured;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const double begin = now();
    for (int i = 0; i < kCalls; ++i) call();
    measured.push_back((now() - begin) / kCalls);
  }
  std::nth_element(measured.begin(), measured.begin() + kRepeats / 2, measured.end());
  return measured[kRepeats / 2];
}

void report(const char* slot, double bare, double thunk) {
  std::printf("{\"slot\": \"%s\", \"bare_ns\": %.2f, \"thunk_ns\": %.2f, \"overhead_ns\": %.2f}\n", slot, bare, thunk,
              thunk - bare);
}

/// Hides from the optimiser what a pointer points to.
template <class Pointer>
Pointer opaque(Pointer pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

}  // namespace

int main() {
  const OrtApi* api = opaque(table<OrtApi, Plain>());
  const auto* info = reinterpret_cast<const OrtTensorTypeAndShapeInfo*>(opaque(&api));
  size_t out = 0;
  const auto count = opaque(&OrtApiSlots::GetDimensionsCount);
  report("OrtApi::GetDimensionsCount, a status and two null checks", nanoseconds([&] { count(info, &out); }),
         nanoseconds([&] { (void)opaque(api->GetDimensionsCount(info, &out)); }));
  const auto has_shape = opaque(&OrtApiSlots::TensorTypeAndShape_HasShape);
  report("OrtApi::TensorTypeAndShape_HasShape, a value and one null check", nanoseconds([&] { (void)has_shape(info); }),
         nanoseconds([&] { (void)api->TensorTypeAndShape_HasShape(info); }));
}
