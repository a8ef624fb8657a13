// Bodies of the small ABI's slots.
#include <new>
#include <stdexcept>

#include "error.h"
#include "onnx_light_ort/kernels/error.h"
#include "slots.h"

struct OrtValue {
  int number;
};

namespace onnx_light_ort::abi {

OrtValue* make_value(int number) { return new OrtValue{number}; }

void OrtApiSlots::Throw(int what) {
  switch (what) {
    case 1:
      throw Error(ORT_ENGINE_ERROR, "an error of the boundary");
    case 2:
      throw kernels::Error(kernels::ErrorKind::kInvalidArgument, "an error of a kernel");
    case 3:
      throw std::bad_alloc();
    case 4:
      throw std::runtime_error("a standard exception");
    case 5:
      throw 5;
    case 6:
      throw kernels::Error(kernels::ErrorKind::kNotImplemented, "not in this kernel");
    default:
      return;
  }
}

void OrtApiSlots::Count(const OrtValue* value, const char* name, const int64_t* sizes, size_t size, size_t* out) {
  *out = static_cast<size_t>(value->number) + (name == nullptr ? 100 : 0) + (size == 0 ? 0 : sizes[0]);
}

void OrtApiSlots::ReleaseValue(OrtValue* input) { delete input; }

int OrtApiSlots::Number(const OrtValue* value, int number) {
  if (number < 0) throw std::runtime_error("negative numbers do not work here");
  return value->number + number;
}

}  // namespace onnx_light_ort::abi
