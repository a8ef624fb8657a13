// How objects of plugins go that Python owns.
#pragma once

#include "gil.h"

namespace onnx_light_ort::bindings {

/// A plugin may wait, where it releases something, for a thread of its own that needs the GIL. The collector of Python
/// holds it.
struct DeleteWithoutGil {
  template <class T>
  void operator()(T* object) const {
    if (PyGILState_Check() == 0) {
      delete object;
      return;
    }
    const GilReleased released;
    delete object;
  }
};

}  // namespace onnx_light_ort::bindings
