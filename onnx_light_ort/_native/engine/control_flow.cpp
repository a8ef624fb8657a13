#include "control_flow.h"

#include <algorithm>
#include <limits>
#include <string>

#include "element_copy.h"
#include "frame.h"
#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {
namespace {

/// Clears a child frame whatever way its run ends.
class ClearOnExit {
 public:
  explicit ClearOnExit(Frame& frame) noexcept : frame_(frame) {}
  ~ClearOnExit() { frame_.clear(); }
  ClearOnExit(const ClearOnExit&) = delete;
  ClearOnExit& operator=(const ClearOnExit&) = delete;

 private:
  Frame& frame_;
};

template <class T>
T scalar(const Value& value, DataType dtype, const char* role) {
  if (!value.is_tensor() || value.view().dtype != dtype || value.view().element_count != 1) {
    kernels::invalid_argument(std::string(role) + " must be one " + kernels::data_type_name(dtype));
  }
  return *value.view().as<T>();
}

template <class T>
Value make_scalar(FrameAllocator& allocator, DataType dtype, T content, const InputSpec& spec) {
  // A body may declare its counter or condition as a vector of one.
  const std::vector<int64_t> dims(spec.has_shape && spec.dims.size() == 1 ? 1 : 0, 1);
  Value value = allocate_tensor(allocator, dtype, dims);
  *value.view().as<T>() = content;
  return value;
}

void feed(Frame& child, size_t input, const Value& value) {
  const InputSpec& spec = child.plan().inputs[input];
  check_input(spec, value);
  child.slot(spec.value) = value;
}

const Value& result(Frame& child, size_t output) { return child.slot(child.plan().outputs[output].value); }

// What stands for no iteration at all: a zero extent, and zero for every dimension that nothing tells.
Value empty_stack(FrameAllocator& allocator, DataType dtype, std::vector<int64_t> dims, size_t axis) {
  for (int64_t& dim : dims) dim = std::max<int64_t>(dim, 0);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(std::min(axis, dims.size())), 0);
  return allocate_tensor(allocator, dtype, dims);
}

std::vector<int32_t> captured_values(std::initializer_list<const Plan*> plans) {
  std::vector<int32_t> values;
  for (const Plan* plan : plans) {
    for (const Capture& capture : plan->captures) values.push_back(capture.outer);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void require_arity(const std::string& name, const Plan& plan, const char* what, size_t inputs, size_t outputs) {
  if (plan.inputs.size() == inputs && plan.outputs.size() == outputs) return;
  kernels::invalid_argument("node '" + name + "': its " + what + " has " + std::to_string(plan.inputs.size()) +
                            " inputs and " + std::to_string(plan.outputs.size()) + " outputs; " +
                            std::to_string(inputs) + " and " + std::to_string(outputs) + " are needed");
}

void publish(Frame& frame, int32_t slot, const Value& value) {
  if (slot != kAbsent) frame.slot(slot) = value;
}

}  // namespace

void check_input(const InputSpec& spec, const Value& value) {
  if (spec.dtype == DataType::kUndefined) return;
  if (!value.is_tensor()) {
    kernels::invalid_argument("input '" + spec.name + "' must be a tensor of " + kernels::data_type_name(spec.dtype) +
                              "; what was fed is no tensor");
  }
  const TensorView& view = value.view();
  if (view.dtype != spec.dtype) {
    kernels::invalid_argument("input '" + spec.name + "' has element type " + kernels::data_type_name(view.dtype) +
                              "; the model expects " + kernels::data_type_name(spec.dtype));
  }
  if (!spec.has_shape) return;
  if (view.rank != spec.dims.size()) {
    kernels::invalid_argument("input '" + spec.name + "' has rank " + std::to_string(view.rank) +
                              "; the model expects rank " + std::to_string(spec.dims.size()));
  }
  for (size_t i = 0; i < view.rank; ++i) {
    if (spec.dims[i] != kFreeDim && spec.dims[i] != view.dims[i]) {
      kernels::invalid_argument("input '" + spec.name + "' has " + std::to_string(view.dims[i]) + " at dimension " +
                                std::to_string(i) + "; the model expects " + std::to_string(spec.dims[i]));
    }
  }
}

IfStep::IfStep(std::string name, int32_t condition, std::shared_ptr<const Plan> then_branch,
               std::shared_ptr<const Plan> else_branch, std::vector<int32_t> outputs)
    : Step(std::move(name), "If", {condition}, std::move(outputs)),
      branches_{std::move(else_branch), std::move(then_branch)} {
  require_arity(name_, *branches_[0], "else branch", 0, outputs_.size());
  require_arity(name_, *branches_[1], "then branch", 0, outputs_.size());
  captured_ = captured_values({branches_[0].get(), branches_[1].get()});
}

void IfStep::run(Frame& frame) const {
  const size_t branch = scalar<bool>(frame.slot(inputs_[0]), DataType::kBool, "the condition") ? 1 : 0;
  Frame& child = frame.child(this, branch, branches_[branch]);
  const ClearOnExit clear(child);
  child.fill_captures(frame);
  child.run(frame.state());
  for (size_t i = 0; i < outputs_.size(); ++i) publish(frame, outputs_[i], result(child, i));
}

LoopStep::LoopStep(std::string name, std::vector<int32_t> inputs, std::shared_ptr<const Plan> body,
                   std::vector<int32_t> outputs, std::vector<DataType> output_types,
                   std::vector<std::vector<int64_t>> scan_output_dims)
    : Step(std::move(name), "Loop", std::move(inputs), std::move(outputs)),
      body_(std::move(body)),
      output_types_(std::move(output_types)),
      scan_output_dims_(std::move(scan_output_dims)) {
  require_arity(name_, *body_, "body", inputs_.size(), outputs_.size() + 1);
  captured_ = captured_values({body_.get()});
  scan_output_dims_.resize(outputs_.size() - (inputs_.size() - 2));
}

void LoopStep::run(Frame& frame) const {
  const int64_t trips = inputs_[0] == kAbsent
                            ? std::numeric_limits<int64_t>::max()
                            : scalar<int64_t>(frame.slot(inputs_[0]), DataType::kInt64, "the trip count");
  bool condition = inputs_[1] == kAbsent || scalar<bool>(frame.slot(inputs_[1]), DataType::kBool, "the condition");
  const size_t carried_count = inputs_.size() - 2;
  const size_t scan_count = outputs_.size() - carried_count;

  std::vector<Value> carried(carried_count);
  for (size_t i = 0; i < carried_count; ++i) {
    if (inputs_[i + 2] != kAbsent) carried[i] = frame.slot(inputs_[i + 2]);
  }
  std::vector<std::vector<Value>> scanned(scan_count);

  Frame& child = frame.child(this, 0, body_);
  const std::vector<InputSpec>& specs = body_->inputs;
  for (int64_t i = 0; i < trips && condition; ++i) {
    // A body without steps would neither look nor let others run.
    frame.state().check_terminate();
    if (body_->steps.empty()) frame.state().leave_lock();
    const ClearOnExit clear(child);
    child.fill_captures(frame);
    feed(child, 0, make_scalar<int64_t>(child.allocator(), DataType::kInt64, i, specs[0]));
    feed(child, 1, make_scalar<bool>(child.allocator(), DataType::kBool, condition, specs[1]));
    for (size_t v = 0; v < carried_count; ++v) feed(child, v + 2, carried[v]);
    child.run(frame.state());
    condition = scalar<bool>(result(child, 0), DataType::kBool, "the body's condition");
    for (size_t v = 0; v < carried_count; ++v) carried[v] = result(child, v + 1);
    for (size_t s = 0; s < scan_count; ++s) scanned[s].push_back(result(child, carried_count + 1 + s));
  }

  for (size_t v = 0; v < carried_count; ++v) publish(frame, outputs_[v], carried[v]);
  for (size_t s = 0; s < scan_count; ++s) {
    const size_t output = carried_count + s;
    if (outputs_[output] == kAbsent) continue;
    frame.slot(outputs_[output]) = scanned[s].empty()
                                       ? empty_stack(frame.allocator(), output_types_[output], scan_output_dims_[s], 0)
                                       : stack_elements(frame.allocator(), scanned[s], 0);
  }
}

ScanStep::ScanStep(std::string name, std::vector<int32_t> inputs, size_t scan_input_count,
                   std::shared_ptr<const Plan> body, std::vector<int32_t> outputs, std::vector<DataType> output_types,
                   ScanAxes axes, std::vector<std::vector<int64_t>> scan_output_dims)
    : Step(std::move(name), "Scan", std::move(inputs), std::move(outputs)),
      scan_input_count_(scan_input_count),
      body_(std::move(body)),
      output_types_(std::move(output_types)),
      axes_(std::move(axes)),
      scan_output_dims_(std::move(scan_output_dims)) {
  require_arity(name_, *body_, "body", inputs_.size(), outputs_.size());
  if (scan_input_count_ == 0 || scan_input_count_ > inputs_.size()) {
    kernels::invalid_argument("node '" + name_ + "': num_scan_inputs must be between 1 and the number of inputs");
  }
  const size_t state_count = inputs_.size() - scan_input_count_;
  if (outputs_.size() < state_count) kernels::invalid_argument("node '" + name_ + "' has fewer outputs than states");
  const size_t scan_output_count = outputs_.size() - state_count;
  captured_ = captured_values({body_.get()});
  axes_.input_axes.resize(scan_input_count_, 0);
  axes_.input_reversed.resize(scan_input_count_, false);
  axes_.output_axes.resize(scan_output_count, 0);
  axes_.output_reversed.resize(scan_output_count, false);
  scan_output_dims_.resize(scan_output_count);
}

void ScanStep::run(Frame& frame) const {
  const size_t state_count = inputs_.size() - scan_input_count_;
  const size_t scan_output_count = outputs_.size() - state_count;

  std::vector<size_t> axes(scan_input_count_);
  int64_t length = -1;
  for (size_t s = 0; s < scan_input_count_; ++s) {
    const Value& source = frame.slot(inputs_[state_count + s]);
    if (!source.is_tensor()) kernels::invalid_argument("a scan input must be a tensor");
    const auto rank = static_cast<int64_t>(source.view().rank);
    const int64_t axis = axes_.input_axes[s] < 0 ? axes_.input_axes[s] + rank : axes_.input_axes[s];
    if (axis < 0 || axis >= rank)
      kernels::invalid_argument("scan input " + std::to_string(s) + " has no axis " +
                                std::to_string(axes_.input_axes[s]));
    axes[s] = static_cast<size_t>(axis);
    const int64_t extent = source.view().dims[axis];
    if (length >= 0 && extent != length) {
      kernels::invalid_argument("the scan inputs have " + std::to_string(length) + " and " + std::to_string(extent) +
                                " elements; all must have the same number");
    }
    length = extent;
  }

  std::vector<Value> states(state_count);
  for (size_t i = 0; i < state_count; ++i) states[i] = frame.slot(inputs_[i]);
  std::vector<std::vector<Value>> scanned(scan_output_count);

  Frame& child = frame.child(this, 0, body_);
  for (int64_t i = 0; i < length; ++i) {
    const ClearOnExit clear(child);
    child.fill_captures(frame);
    for (size_t v = 0; v < state_count; ++v) feed(child, v, states[v]);
    for (size_t s = 0; s < scan_input_count_; ++s) {
      const Value& source = frame.slot(inputs_[state_count + s]);
      const int64_t index = axes_.input_reversed[s] ? length - 1 - i : i;
      feed(child, state_count + s, take_element(child.allocator(), source, axes[s], index));
    }
    child.run(frame.state());
    for (size_t v = 0; v < state_count; ++v) states[v] = result(child, v);
    for (size_t s = 0; s < scan_output_count; ++s) scanned[s].push_back(result(child, state_count + s));
  }

  for (size_t v = 0; v < state_count; ++v) publish(frame, outputs_[v], states[v]);
  for (size_t s = 0; s < scan_output_count; ++s) {
    const size_t output = state_count + s;
    if (outputs_[output] == kAbsent) continue;
    std::vector<Value>& elements = scanned[s];
    if (axes_.output_reversed[s]) std::reverse(elements.begin(), elements.end());
    const auto rank =
        static_cast<int64_t>(elements.empty() ? scan_output_dims_[s].size() : elements.front().view().rank) + 1;
    const int64_t axis = axes_.output_axes[s] < 0 ? axes_.output_axes[s] + rank : axes_.output_axes[s];
    if (axis < 0 || axis >= rank)
      kernels::invalid_argument("scan output " + std::to_string(s) + " has no axis " +
                                std::to_string(axes_.output_axes[s]));
    frame.slot(outputs_[output]) =
        elements.empty()
            ? empty_stack(frame.allocator(), output_types_[output], scan_output_dims_[s], static_cast<size_t>(axis))
            : stack_elements(frame.allocator(), elements, static_cast<size_t>(axis));
  }
}

}  // namespace onnx_light_ort::engine
