#include "opaque_step.h"

#include <array>

#include "frame.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {
namespace {

/// An array of pointers that is on the stack for all but the widest nodes.
template <class T>
class PointerArray {
 public:
  explicit PointerArray(size_t count) {
    if (count > inline_.size()) heap_.resize(count);
    data_ = heap_.empty() ? inline_.data() : heap_.data();
  }
  T& operator[](size_t i) noexcept { return data_[i]; }
  T* data() noexcept { return data_; }

 private:
  std::array<T, 8> inline_;
  std::vector<T> heap_;
  T* data_;
};

/// Memory that a kernel brought, charged to the session's budget for as long as a value holds it.
class ChargedOwner final : public Owner {
 public:
  ChargedOwner(Ref<> owner, std::shared_ptr<MemoryBudget> budget, size_t bytes) noexcept
      : owner_(std::move(owner)), budget_(std::move(budget)), bytes_(bytes) {}
  Owner* of_memory() noexcept override { return owner_ ? owner_.get() : this; }

 private:
  ~ChargedOwner() override { budget_->refund(bytes_); }

  const Ref<> owner_;
  const std::shared_ptr<MemoryBudget> budget_;
  const size_t bytes_;
};

/// Charges what a kernel made and did not take from its inputs.
void charge(Value& output, const Value* const* inputs, size_t input_count, FrameAllocator& allocator) {
  const kernels::TensorView view = output.view();
  for (size_t i = 0; i < input_count; ++i) {
    if (inputs[i] != nullptr && inputs[i]->is_tensor() && inputs[i]->view().data == view.data) return;
  }
  const size_t bytes =
      view.dtype == DataType::kString ? StringBuffer::byte_size(view.element_count) : output.byte_size();
  allocator.charge(bytes);
  const std::vector<int64_t> dims(view.dims, view.dims + view.rank);
  Ref<> owner = Ref<ChargedOwner>::adopt(new ChargedOwner(output.owner(), allocator.budget(), bytes));
  output.set_tensor(view.dtype, dims.data(), dims.size(), view.element_count, view.data, std::move(owner));
}

}  // namespace

OpaqueStep::OpaqueStep(std::string name, std::string kind, std::unique_ptr<OpaqueKernel> kernel,
                       std::vector<int32_t> inputs, std::vector<int32_t> outputs, std::vector<DataType> output_types)
    : Step(std::move(name), std::move(kind), std::move(inputs), std::move(outputs)),
      kernel_(std::move(kernel)),
      output_types_(std::move(output_types)) {}

void OpaqueStep::run(Frame& frame) const {
  frame.state().enter_lock();
  PointerArray<const Value*> in(inputs_.size());
  PointerArray<Value*> out(outputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) in[i] = inputs_[i] == kAbsent ? nullptr : &frame.slot(inputs_[i]);
  for (size_t i = 0; i < outputs_.size(); ++i) out[i] = outputs_[i] == kAbsent ? nullptr : &frame.slot(outputs_[i]);
  kernel_->compute(in.data(), inputs_.size(), out.data(), outputs_.size());

  FrameAllocator& allocator = frame.allocator();
  const bool limited = allocator.budget() != nullptr && allocator.budget()->limit() != 0;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (limited && out[i] != nullptr && out[i]->is_tensor()) charge(*out[i], in.data(), inputs_.size(), allocator);
    if (out[i] == nullptr || output_types_[i] == DataType::kUndefined) continue;
    // Later C++ steps were planned for this type and check it no more.
    if (!out[i]->is_tensor() || out[i]->view().dtype != output_types_[i]) {
      const char* got = out[i]->is_tensor() ? kernels::data_type_name(out[i]->view().dtype) : "no tensor";
      kernels::fail(kernels::ErrorKind::kInternal, "output " + std::to_string(i) + " should be a tensor of " +
                                                       kernels::data_type_name(output_types_[i]) +
                                                       ", and the kernel returned " + got);
    }
  }
}

}  // namespace onnx_light_ort::engine
