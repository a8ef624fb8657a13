#include "kernel_step.h"

#include <cstring>
#include <string>

#include "frame.h"
#include "onnx_light_ort/kernels/dense_copy.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {
namespace {

using kernels::ErrorKind;

/// The RunContext of one call: writes straight into the frame's slots.
class StepContext final : public kernels::RunContext {
 public:
  StepContext(const KernelStep& step, Frame& frame) : step_(step), frame_(frame) {
    const TensorView** views = frame.input_views();
    const std::vector<int32_t>& inputs = step.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      views[i] = nullptr;
      if (inputs[i] == kAbsent) continue;
      const Value& value = frame.slot(inputs[i]);
      if (value.is_tensor()) views[i] = &value.view();
    }
    inputs_ = views;
    input_count_ = inputs.size();
    output_count_ = step.outputs().size();
  }

  ~StepContext() {
    for (Ref<Buffer>& buffer : temporary_) {
      if (buffer->unique()) frame_.allocator().recycle(std::move(buffer));
    }
  }

  bool output_wanted(size_t i) const noexcept override { return step_.outputs()[i] != kAbsent; }

  const TensorView& output(size_t i, const int64_t* dims, size_t rank) override {
    Value& slot = output_slot(i);
    if (slot.empty()) {
      allocate(slot, i, dims, rank);
    } else {
      require_same_dims(slot, i, dims, rank);
    }
    return slot.view();
  }

  const TensorView& output_reusing_input(size_t i, size_t from, const int64_t* dims, size_t rank) override {
    Value& slot = output_slot(i);
    if (slot.empty() && step_.last_use(from)) {
      Value& source = frame_.slot(step_.inputs()[from]);
      Buffer* buffer = source.owner() ? source.owner()->as_buffer() : nullptr;
      const DataType dtype = step_.output_type(i);
      // A buffer with another reference is seen by another value; one that starts elsewhere is a part of a larger one.
      if (buffer != nullptr && buffer->unique() && source.view().is_dense() && source.view().data == buffer->data()) {
        const int64_t count = count_or_fail(i, dims, rank);
        if (kernels::checked_byte_size(dtype, count) == source.byte_size() && dtype != DataType::kString) {
          slot.set_tensor(dtype, dims, rank, count, buffer->data(), Ref<>::share(buffer));
          return slot.view();
        }
      }
    }
    return output(i, dims, rank);
  }

  void forward_input(size_t from, size_t i, const int64_t* dims, size_t rank) override {
    Value& slot = output_slot(i);
    const Value& source = frame_.slot(step_.inputs()[from]);
    const int64_t count = count_or_fail(i, dims, rank);
    if (count != source.view().element_count) {
      kernels::invalid_argument("output " + std::to_string(i) + " would have " + std::to_string(count) +
                                " elements, and the input that it stands for has " +
                                std::to_string(source.view().element_count));
    }
    if (source.view().is_dense()) {
      slot.set_tensor(step_.output_type(i), dims, rank, count, source.view().data, source.owner());
    } else {
      allocate(slot, i, dims, rank);
      kernels::copy_dense(*this, source.view(), slot.view().data);
    }
  }

  void* scratch(size_t bytes) override {
    temporary_.push_back(frame_.allocator().allocate(bytes));
    return temporary_.back()->data();
  }

  void parallel_for(int64_t total, int64_t grain, kernels::RangeFunction body) override {
    frame_.state().pool.parallel_for(total, grain, body);
  }

 private:
  Value& output_slot(size_t i) {
    if (i >= output_count_) {
      kernels::invalid_argument("output " + std::to_string(i) + " does not exist: the node has " +
                                std::to_string(output_count_));
    }
    const int32_t value = step_.outputs()[i];
    if (value != kAbsent) return frame_.slot(value);
    if (unwanted_.empty()) unwanted_.resize(output_count_);  // once, since views into it are handed out
    return unwanted_[i];
  }

  int64_t count_or_fail(size_t i, const int64_t* dims, size_t rank) const {
    const auto count = kernels::checked_element_count(dims, rank);
    if (!count) {
      kernels::invalid_argument("output " + std::to_string(i) + ": dimensions " + text(dims, rank) +
                                " are negative or their product overflows");
    }
    return *count;
  }

  void allocate(Value& slot, size_t i, const int64_t* dims, size_t rank) {
    const DataType dtype = step_.output_type(i);
    const int64_t count = count_or_fail(i, dims, rank);
    if (dtype == DataType::kString) {
      auto* strings = new StringBuffer(count, frame_.allocator().allocate(StringBuffer::byte_size(count)));
      slot.set_tensor(dtype, dims, rank, count, strings->data(), Ref<>::adopt(strings));
      return;
    }
    const auto bytes = kernels::checked_byte_size(dtype, count);
    if (!bytes) {
      kernels::invalid_argument("output " + std::to_string(i) + " of type " + kernels::data_type_name(dtype) +
                                " with dimensions " + text(dims, rank) + " has no byte size");
    }
    Ref<Buffer> buffer = frame_.allocator().allocate(*bytes);
    void* data = buffer->data();
    slot.set_tensor(dtype, dims, rank, count, data, std::move(buffer));
  }

  void require_same_dims(const Value& slot, size_t i, const int64_t* dims, size_t rank) const {
    const TensorView& view = slot.view();
    if (view.rank == rank && (rank == 0 || std::memcmp(view.dims, dims, rank * sizeof(int64_t)) == 0)) return;
    kernels::invalid_argument("output " + std::to_string(i) + " was asked for with dimensions " +
                              text(view.dims, view.rank) + " and then with " + text(dims, rank));
  }

  static std::string text(const int64_t* dims, size_t rank) {
    std::string out = "[";
    for (size_t i = 0; i < rank; ++i) out += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
    return out + "]";
  }

  const KernelStep& step_;
  Frame& frame_;
  std::vector<Ref<Buffer>> temporary_;  // scratch; recycled when the call ends
  std::vector<Value> unwanted_;
};

}  // namespace

KernelStep::KernelStep(std::string name, std::string kind, std::shared_ptr<kernels::Kernel> kernel, std::string origin,
                       std::vector<int32_t> inputs, std::vector<int32_t> outputs, std::vector<DataType> output_types,
                       std::vector<bool> dispensable)
    : Step(std::move(name), std::move(kind), std::move(inputs), std::move(outputs)),
      kernel_(std::move(kernel)),
      origin_(std::move(origin)),
      output_types_(std::move(output_types)),
      dispensable_(std::move(dispensable)) {}

void KernelStep::run(Frame& frame) const {
  frame.state().leave_lock();
  StepContext context(*this, frame);
  kernel_->compute(context);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (output_read_[i] && frame.slot(outputs_[i]).empty() && (dispensable_.empty() || !dispensable_[i])) {
      kernels::fail(ErrorKind::kInternal, "the kernel of " + origin_ + " returned success and made no output " +
                                              std::to_string(i) + " ('" +
                                              frame.plan().value_names[static_cast<size_t>(outputs_[i])] + "')");
    }
  }
}

}  // namespace onnx_light_ort::engine
