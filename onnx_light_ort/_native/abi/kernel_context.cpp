#include "kernel_context.h"

#include <limits>
#include <string>

#include "allocator.h"
#include "error.h"
#include "onnx_light_ort/kernels/error.h"
#include "plugin_call.h"
#include "slots.h"

using onnx_light_ort::abi::Error;
using onnx_light_ort::abi::OutputReuse;
using onnx_light_ort::abi::SessionServices;
using onnx_light_ort::kernels::RunContext;
using onnx_light_ort::kernels::TensorView;

namespace {

/// What the last large call of this thread had its values in; a call within that call finds it empty.
thread_local std::vector<OrtValue> kept_values;

}  // namespace

OrtKernelContext::OrtKernelContext(RunContext& run, const SessionServices& session, const OutputReuse* reuse)
    : run_(run), session_(session), reuse_(reuse), values_(inline_values_.data()) {
  const size_t inputs = run.input_count();
  const size_t count = inputs + run.output_count();
  if (count > kInlineValues) {
    many_values_.swap(kept_values);
    many_values_.assign(count, OrtValue{});
    values_ = many_values_.data();
  }
  for (size_t i = 0; i < inputs; ++i) values_[i].view = run.input(i);
}

OrtKernelContext::~OrtKernelContext() {
  if (values_ == inline_values_.data()) return;
  if (many_values_.capacity() > kept_values.capacity()) many_values_.swap(kept_values);
}

const OrtValue* OrtKernelContext::input(size_t i) const noexcept {
  return i < run_.input_count() && values_[i].view != nullptr ? &values_[i] : nullptr;
}

OrtValue* OrtKernelContext::output(size_t i, const int64_t* dims, size_t rank) {
  if (i >= run_.output_count() || !run_.output_wanted(i)) return nullptr;
  if (!onnx_light_ort::kernels::checked_element_count(dims, rank)) {
    throw Error(ORT_FAIL, "output " + std::to_string(i) +
                              " was asked for with a negative dimension, or with so many elements that their count "
                              "overflows: pass the extents that it has");
  }
  OrtValue& value = values_[run_.input_count() + i];
  try {
    value.view = &output_view(i, dims, rank);
  } catch (const onnx_light_ort::kernels::Error& error) {
    // The first time, only a size in bytes that overflows is a bad argument; later, other dimensions than before are.
    const bool overflow = value.view == nullptr && error.kind() == onnx_light_ort::kernels::ErrorKind::kInvalidArgument;
    if (overflow) throw Error(ORT_FAIL, error.what());
    throw;
  }
  return &value;
}

const TensorView& OrtKernelContext::output_view(size_t i, const int64_t* dims, size_t rank) {
  const OutputReuse reuse = reuse_ == nullptr ? OutputReuse{} : reuse_[i];
  const TensorView* source = run_.input(reuse.input);  // null where there is nothing to reuse
  if (source == nullptr) return run_.output(i, dims, rank);
  const bool first = values_[run_.input_count() + i].view == nullptr;
  const TensorView& view = run_.output_reusing_input(i, reuse.input, dims, rank);
  if (reuse.alias && first && view.data != source->data) {
    if (view.dtype != source->dtype || view.element_count != source->element_count) {
      throw Error(ORT_INVALID_ARGUMENT, "output " + std::to_string(i) + " is declared an alias of input " +
                                            std::to_string(reuse.input) +
                                            " and was asked for with another number of elements");
    }
    onnx_light_ort::abi::copy_elements(*source, view);
  }
  return view;
}

namespace onnx_light_ort::abi {
namespace {

/// The ABI's indices are counted in int where ORT looks them up.
void require_int(size_t index) {
  if (index > static_cast<size_t>(std::numeric_limits<int>::max())) {
    throw Error(ORT_RUNTIME_EXCEPTION, "index " + std::to_string(index) + " is no index of an input or output");
  }
}

void require_cpu(const OrtMemoryInfo& memory) {
  if (!(memory.device == cpu_memory_info().device)) {
    throw Error(ORT_INVALID_ARGUMENT, "the session has no allocator for memory \"" + memory.name +
                                          "\": ask for the CPU's, as CreateCpuMemoryInfo describes it");
  }
}

}  // namespace

void OrtApiSlots::KernelContext_GetInputCount(const OrtKernelContext* context, size_t* out) {
  *out = context->run().input_count();
}

void OrtApiSlots::KernelContext_GetOutputCount(const OrtKernelContext* context, size_t* out) {
  *out = context->run().output_count();
}

void OrtApiSlots::KernelContext_GetInput(const OrtKernelContext* context, size_t index, const OrtValue** out) {
  require_int(index);
  *out = context->input(index);
}

void OrtApiSlots::KernelContext_GetOutput(OrtKernelContext* context, size_t index, const int64_t* dim_values,
                                          size_t dim_count, OrtValue** out) {
  require_int(index);
  *out = context->output(index, dim_values, dim_count);
}

// There is no stream on the CPU, and so nothing that could hold a resource.
void OrtApiSlots::KernelContext_GetGPUComputeStream(const OrtKernelContext*, void** out) { *out = nullptr; }

void OrtApiSlots::KernelContext_GetLogger(const OrtKernelContext* context, const OrtLogger** logger) {
  *logger = &context->session().logger;
}

void OrtApiSlots::KernelContext_GetAllocator(const OrtKernelContext* context, const OrtMemoryInfo* mem_info,
                                             OrtAllocator** out) {
  require_cpu(*mem_info);
  *out = new HostAllocator(context->session().budget);
}

void OrtApiSlots::KernelContext_GetResource(const OrtKernelContext*, int, int, void** resource) {
  *resource = nullptr;
  throw Error(ORT_INVALID_ARGUMENT, "kernels run on the CPU here, without a stream that has resources");
}

void OrtApiSlots::KernelContext_ParallelFor(const OrtKernelContext* context, void (*fn)(void*, size_t), size_t total,
                                            size_t num_batch, void* usr_data) {
  if (fn == nullptr || total == 0) return;
  if (total > static_cast<size_t>(std::numeric_limits<int64_t>::max())) {
    throw Error(ORT_INVALID_ARGUMENT, "total is " + std::to_string(total) + ": pass at most 2^63 - 1");
  }
  // No batches asked for: each call may go to a thread of its own.
  const size_t grain = num_batch == 0 ? 1 : total / num_batch + (total % num_batch != 0);
  call_plugin("the function given to KernelContext_ParallelFor", [&] {
    context->run().parallel_for(static_cast<int64_t>(total), static_cast<int64_t>(grain),
                                [fn, usr_data](int64_t begin, int64_t end) {
                                  for (int64_t i = begin; i < end; ++i) fn(usr_data, static_cast<size_t>(i));
                                });
  });
}

// The caller frees it, through the allocator of the same memory; zero bytes are null, and no error.
void OrtApiSlots::KernelContext_GetScratchBuffer(const OrtKernelContext* context, const OrtMemoryInfo* mem_info,
                                                 size_t count_or_bytes, void** out) {
  *out = nullptr;
  if (count_or_bytes == 0) return;
  require_cpu(*mem_info);
  *out = engine::Buffer::allocate(count_or_bytes, context->session().budget).detach()->data();
}

void OrtApiSlots::KernelContext_GetSyncStream(const OrtKernelContext*, OrtSyncStream** out) { *out = nullptr; }

}  // namespace onnx_light_ort::abi
