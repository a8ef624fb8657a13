// One call of a plugin's kernel: a RunContext behind the C API.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "onnx_light_ort/kernels/run_context.h"
#include "ort_value.h"
#include "session_services.h"

namespace onnx_light_ort::abi {

/// What an output may or must share with an input.
struct OutputReuse {
  static constexpr size_t kNothing = SIZE_MAX;
  size_t input = kNothing;
  /// False: the output may take the input's buffer. True: it must begin with the input's content.
  bool alias = false;
};

/// Notes what pairs of an input and an output share. A pair of which the node has one not is no pair of its.
template <class Pairs>
void add_reuse(std::vector<OutputReuse>& reuse, const Pairs& pairs, bool alias, size_t inputs, size_t outputs) {
  for (const auto& [input, output] : pairs) {
    const auto from = static_cast<size_t>(input), to = static_cast<size_t>(output);
    if (from >= inputs || to >= outputs) continue;
    reuse.resize(outputs);
    reuse[to] = {from, alias};
  }
}

}  // namespace onnx_light_ort::abi

/// Lives on the stack of one call, as do the values that it lends; those of a node of more than kInlineValues inputs
/// and outputs lie in memory that its thread keeps for the next such call.
struct OrtKernelContext {
 public:
  /// `reuse` is null, or has an entry for each output.
  OrtKernelContext(onnx_light_ort::kernels::RunContext& run, const onnx_light_ort::abi::SessionServices& session,
                   const onnx_light_ort::abi::OutputReuse* reuse);
  ~OrtKernelContext();
  OrtKernelContext(const OrtKernelContext&) = delete;
  OrtKernelContext& operator=(const OrtKernelContext&) = delete;

  onnx_light_ort::kernels::RunContext& run() const noexcept { return run_; }
  const onnx_light_ort::abi::SessionServices& session() const noexcept { return session_; }

  /// Null where the node leaves the input out, or has no such input.
  const OrtValue* input(size_t i) const noexcept;
  /// Null where nobody asked for the output, or the node has no such output. Throws Error.
  OrtValue* output(size_t i, const int64_t* dims, size_t rank);

 private:
  static constexpr size_t kInlineValues = 12;

  const onnx_light_ort::kernels::TensorView& output_view(size_t i, const int64_t* dims, size_t rank);

  onnx_light_ort::kernels::RunContext& run_;
  const onnx_light_ort::abi::SessionServices& session_;
  const onnx_light_ort::abi::OutputReuse* const reuse_;
  std::array<OrtValue, kInlineValues> inline_values_;
  std::vector<OrtValue> many_values_;
  OrtValue* values_;  ///< Inputs, then outputs.
};
