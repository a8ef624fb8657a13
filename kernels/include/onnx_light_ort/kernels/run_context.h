// What a kernel sees of one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

/// A callable over the half-open range [begin, end), borrowed for the duration of one parallel_for.
class RangeFunction {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, RangeFunction>>>
  RangeFunction(F&& function) noexcept  // NOLINT: implicit, so that a lambda can be passed as it is
      : object_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* object, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(object))(begin, end);
        }) {}

  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

/// The inputs, output slots, scratch memory and threads of one call of a kernel. Nothing of it, nor anything that it
/// handed out, may be kept after `Kernel::compute` returned.
class RunContext {
 public:
  size_t input_count() const noexcept { return input_count_; }
  size_t output_count() const noexcept { return output_count_; }

  /// Input i, or null where the node leaves it out. Never to be written to.
  const TensorView* input(size_t i) const noexcept { return i < input_count_ ? inputs_[i] : nullptr; }

  /// Input i, which the operator requires. Throws Error when it is absent.
  const TensorView& required_input(size_t i) const;

  /// Whether anybody asked for output i.
  virtual bool output_wanted(size_t i) const noexcept = 0;

  /// Allocates output i, of the type that planning resolved for it, with these dimensions; the content is undefined.
  /// Asked for again with the same dimensions it returns the same buffer; with others it throws.
  /// An output that is not wanted gets a buffer too, which dies with the call.
  virtual const TensorView& output(size_t i, const int64_t* dims, size_t rank) = 0;

  /// As output(), over the buffer of input `from` where that is dense, this call is its last reader and sizes agree; an
  /// elementwise kernel may then read and write the same place. Where not, a buffer of its own.
  virtual const TensorView& output_reusing_input(size_t i, size_t from, const int64_t* dims, size_t rank) = 0;

  /// Makes output i the content of input `from` under other dimensions of the same element count, without a copy
  /// where the context can share buffers. The output is dense whatever the input is.
  virtual void forward_input(size_t from, size_t i, const int64_t* dims, size_t rank) = 0;

  /// Memory for this call only, 64-byte aligned, undefined content, counted against the session's limit.
  virtual void* scratch(size_t bytes) = 0;

  /// Calls body on disjoint ranges that cover [0, total), perhaps from several threads at once, and returns when all
  /// are done. No range but the last is shorter than `grain`; total <= grain runs here, in one call.
  /// An exception of body is rethrown here, once.
  virtual void parallel_for(int64_t total, int64_t grain, RangeFunction body) = 0;

 protected:
  RunContext() = default;
  ~RunContext() = default;
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  const TensorView* const* inputs_ = nullptr;
  size_t input_count_ = 0;
  size_t output_count_ = 0;
};

}  // namespace onnx_light_ort::kernels
