#include "run_context.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "element_type.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {

using kernels::DataType;
using kernels::TensorView;

namespace {

constexpr size_t kAlignment = 64;

// The ranges of one parallel_for. The runtime calls run() with numbers of ranges, perhaps on several threads.
struct Ranges {
  const kernels::RangeFunction& body;
  int64_t total;
  int64_t length;
  std::mutex mutex;
  std::exception_ptr failure;

  static void run(void* self_pointer, size_t index) noexcept {
    auto* self = static_cast<Ranges*>(self_pointer);
    const int64_t begin = static_cast<int64_t>(index) * self->length;
    try {
      self->body(begin, std::min(begin + self->length, self->total));
    } catch (...) {
      const std::lock_guard<std::mutex> lock(self->mutex);
      if (self->failure == nullptr) self->failure = std::current_exception();
    }
  }
};

size_t byte_size(DataType type, int64_t count) {
  const std::optional<size_t> bytes = kernels::checked_byte_size(type, count);
  if (!bytes) kernels::fail(kernels::ErrorKind::kInvalidArgument, "a tensor is too large to address");
  return *bytes;
}

}  // namespace

OrtRunContext::OrtRunContext(const CallEnvironment& environment, OrtKernelContext* context,
                             const DescribedNode& described)
    : environment_(environment), context_(context), output_types_(described.node.output_types) {
  const Api& api = environment_.api;
  size_t count = 0;
  check(api, api.ort->KernelContext_GetInputCount(context_, &count));
  input_count_ = std::max(count, described.node.input_types.size());
  input_views_.resize(input_count_);
  input_pointers_.resize(input_count_, nullptr);
  for (size_t k = 0; k < count; ++k) {
    const OrtValue* value = nullptr;
    check(api, api.ort->KernelContext_GetInput(context_, k, &value));
    if (value == nullptr) continue;
    const size_t i = described.input_positions.empty() ? k : described.input_positions[k];
    // The slots that read a value ask for one that they may change; kernels never write to inputs.
    input_views_[i] = view_of(const_cast<OrtValue*>(value));
    input_pointers_[i] = &input_views_[i];
  }
  inputs_ = input_pointers_.data();
  output_count_ = output_types_.size();
  output_views_.resize(output_count_);
}

OrtRunContext::~OrtRunContext() {
  if (allocator_ == nullptr) return;
  for (void* memory : scratch_) allocator_->Free(allocator_, memory);
  environment_.api.ort->ReleaseAllocator(allocator_);
}

TensorView OrtRunContext::view_of(OrtValue* value) {
  const Api& api = environment_.api;
  TensorView view;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (api.version >= 24) {
    check(api, api.ort->GetTensorElementTypeAndShapeDataReference(value, &element, &view.dims, &view.rank));
  } else {
    OrtTensorTypeAndShapeInfo* made = nullptr;
    check(api, api.ort->GetTensorTypeAndShape(value, &made));
    const Owned<OrtTensorTypeAndShapeInfo> info(made, api.ort->ReleaseTensorTypeAndShapeInfo);
    check(api, api.ort->GetTensorElementType(made, &element));
    check(api, api.ort->GetDimensionsCount(made, &view.rank));
    int64_t* dims = keep_dims(nullptr, view.rank);
    check(api, api.ort->GetDimensions(made, dims, view.rank));
    view.dims = dims;
  }
  view.dtype = from_ort(element);
  view.element_count = kernels::checked_element_count(view.dims, view.rank).value_or(0);
  check(api, api.ort->GetTensorMutableData(value, &view.data));
  return view;
}

int64_t* OrtRunContext::keep_dims(const int64_t* dims, size_t rank) {
  auto kept = std::make_unique<int64_t[]>(std::max<size_t>(rank, 1));
  if (dims != nullptr) std::copy(dims, dims + rank, kept.get());
  return kept_dims_.emplace_back(std::move(kept)).get();
}

bool OrtRunContext::output_wanted(size_t i) const noexcept {
  return i < output_types_.size() && output_types_[i] != DataType::kUndefined;
}

const TensorView& OrtRunContext::output(size_t i, const int64_t* dims, size_t rank) {
  if (i >= output_views_.size()) {
    kernels::fail(kernels::ErrorKind::kInternal,
                  "the kernel asked for output " + std::to_string(i) + " of " + std::to_string(output_views_.size()));
  }
  TensorView& view = output_views_[i];
  if (view.dims != nullptr) {
    if (view.rank != rank || !std::equal(dims, dims + rank, view.dims)) {
      kernels::fail(kernels::ErrorKind::kInternal,
                    "the kernel asked twice for output " + std::to_string(i) + ", with different dimensions");
    }
    return view;
  }
  const Api& api = environment_.api;
  if (output_wanted(i)) {
    OrtValue* value = nullptr;
    check(api, api.ort->KernelContext_GetOutput(context_, i, dims, rank, &value));
    if (value != nullptr) {
      view = view_of(value);
      if (view.dims == nullptr) view.dims = keep_dims(dims, rank);
      return view;
    }
  }
  view.dims = keep_dims(dims, rank);
  view.rank = rank;
  view.element_count = kernels::checked_element_count(dims, rank).value_or(0);
  // Nobody reads it and its type is not resolved: room for the widest element.
  view.data = scratch(static_cast<size_t>(std::max<int64_t>(view.element_count, 1)) * 16);
  return view;
}

const TensorView& OrtRunContext::output_reusing_input(size_t i, size_t, const int64_t* dims, size_t rank) {
  // The runtime's planner decides which buffers are shared.
  return output(i, dims, rank);
}

void OrtRunContext::forward_input(size_t from, size_t i, const int64_t* dims, size_t rank) {
  const TensorView& source = required_input(from);
  const TensorView& target = output(i, dims, rank);
  const size_t bytes = byte_size(source.dtype, source.element_count);
  // The same place where the kernel's definition lets the runtime alias the two.
  if (target.data == source.data || bytes == 0) return;
  std::memcpy(target.data, source.data, bytes);
  environment_.copied.copies.fetch_add(1, std::memory_order_relaxed);
  environment_.copied.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void* OrtRunContext::scratch(size_t bytes) {
  const Api& api = environment_.api;
  if (allocator_ == nullptr) {
    check(api, api.ort->KernelContext_GetAllocator(context_, environment_.cpu, &allocator_));
  }
  scratch_.reserve(scratch_.size() + 1);
  void* memory = allocator_->Alloc(allocator_, bytes + kAlignment);
  if (memory == nullptr) {
    kernels::fail(kernels::ErrorKind::kOutOfMemory, "no " + std::to_string(bytes) + " bytes of scratch memory");
  }
  scratch_.push_back(memory);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

void OrtRunContext::parallel_for(int64_t total, int64_t grain, kernels::RangeFunction body) {
  if (total <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (total <= grain) {
    body(0, total);
    return;
  }
  // A few ranges a thread even out their costs; the runtime does not say how many threads it has. Lengths are whole
  // grains, so that begin / grain numbers the ranges.
  const int64_t wanted = 4 * std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  const int64_t grains = (total + grain - 1) / grain;
  const int64_t length = grain * std::max<int64_t>(1, grains / wanted);
  Ranges ranges{body, total, length, {}, nullptr};
  const Api& api = environment_.api;
  check(api, api.ort->KernelContext_ParallelFor(context_, &Ranges::run,
                                                static_cast<size_t>((total + length - 1) / length), 0, &ranges));
  if (ranges.failure != nullptr) std::rethrow_exception(ranges.failure);
}

}  // namespace onnx_light_ort::reverse
