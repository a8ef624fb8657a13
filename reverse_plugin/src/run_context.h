// One call of a kernel over the runtime's tensors: inputs are borrowed, outputs are written where the runtime wants
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "api.h"
#include "node_description.h"
#include "onnx_light_ort/kernels/kernel.h"

namespace onnx_light_ort::reverse {

/// Outputs that are the content of an input under other dimensions, and had to be copied into the runtime's buffer.
struct CopyCount {
  std::atomic<uint64_t> copies{0};
  std::atomic<uint64_t> bytes{0};
};

/// What is the same for all calls of a kernel. Borrowed by contexts.
struct CallEnvironment {
  const Api& api;
  const OrtMemoryInfo* cpu;  ///< The memory that scratch buffers come from.
  CopyCount& copied;
};

class OrtRunContext final : public kernels::RunContext {
 public:
  /// The node is borrowed. Of its outputs nobody wants those of type kUndefined.
  OrtRunContext(const CallEnvironment& environment, OrtKernelContext* context, const DescribedNode& described);
  ~OrtRunContext();

  bool output_wanted(size_t i) const noexcept override;
  const kernels::TensorView& output(size_t i, const int64_t* dims, size_t rank) override;
  const kernels::TensorView& output_reusing_input(size_t i, size_t from, const int64_t* dims, size_t rank) override;
  void forward_input(size_t from, size_t i, const int64_t* dims, size_t rank) override;
  void* scratch(size_t bytes) override;
  void parallel_for(int64_t total, int64_t grain, kernels::RangeFunction body) override;

 private:
  kernels::TensorView view_of(OrtValue* value);
  int64_t* keep_dims(const int64_t* dims, size_t rank);

  const CallEnvironment& environment_;
  OrtKernelContext* context_;
  const std::vector<kernels::DataType>& output_types_;
  std::vector<kernels::TensorView> input_views_;
  std::vector<const kernels::TensorView*> input_pointers_;
  std::vector<kernels::TensorView> output_views_;  ///< dtype is kUndefined until the kernel asks for the output.
  std::vector<std::unique_ptr<int64_t[]>> kept_dims_;
  OrtAllocator* allocator_ = nullptr;  ///< Owned; made when the kernel first asks for memory.
  std::vector<void*> scratch_;
};

}  // namespace onnx_light_ort::reverse
