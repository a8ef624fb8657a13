// Giving up the GIL and asking for it, also while the interpreter goes.
#pragma once

#include <Python.h>
#include <unistd.h>

#include <exception>

namespace onnx_light_ort::bindings {

/// An interpreter that goes ends every other thread that asks for the GIL by unwinding its stack, which the code
/// between here and the thread's start is not made for. Such a thread stays where it is; the process ends without it.
[[noreturn]] inline void park_thread() {
  for (;;) pause();
}

/// Makes a call that may ask for the GIL. What a thread is unwound with is no std::exception, as all others here are;
/// by its name, abi::__forced_unwind, the C++ runtime would bind a reference to nothing.
template <class Call>
void park_if_unwound(Call&& call) {
  try {
    call();
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    park_thread();
  }
}

/// Without the GIL, which this thread has, for as long as this lives.
class GilReleased {
 public:
  GilReleased() : saved_(PyEval_SaveThread()) {}
  ~GilReleased() {
    park_if_unwound([&] { PyEval_RestoreThread(saved_); });
  }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* saved_;
};

/// With the GIL, whether this thread has it or not, for as long as this lives.
class GilAcquired {
 public:
  GilAcquired() {
    park_if_unwound([&] { state_ = PyGILState_Ensure(); });
  }
  ~GilAcquired() { PyGILState_Release(state_); }
  GilAcquired(const GilAcquired&) = delete;
  GilAcquired& operator=(const GilAcquired&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace onnx_light_ort::bindings
