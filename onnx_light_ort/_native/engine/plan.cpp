#include "plan.h"

#include <algorithm>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::engine {

using kernels::invalid_argument;

namespace {

void find_strided_inputs(Plan& plan) {
  std::vector<bool> read(plan.value_count(), false);
  std::vector<bool> dense(plan.value_count(), false);  // wanted dense by somebody
  for (const PlannedStep& planned : plan.steps) {
    const std::vector<int32_t>& inputs = planned.step->inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == kAbsent) continue;
      (planned.step->reads_strides(i) ? read : dense)[static_cast<size_t>(inputs[i])] = true;
    }
    for (const int32_t captured : planned.step->captured()) dense[static_cast<size_t>(captured)] = true;
  }
  for (const OutputSpec& output : plan.outputs) dense[static_cast<size_t>(output.value)] = true;
  for (InputSpec& input : plan.inputs) {
    const auto value = static_cast<size_t>(input.value);
    input.reads_strides = read[value] && !dense[value];
  }
}

}  // namespace

PlanBuilder::PlanBuilder() : plan_(std::make_shared<Plan>()) {}

void PlanBuilder::check_open() const {
  if (!plan_) invalid_argument("the plan is built; make another PlanBuilder for another plan");
}

int32_t PlanBuilder::add_value(std::string name) {
  check_open();
  plan_->value_names.push_back(std::move(name));
  plan_->value_types.push_back(DataType::kUndefined);
  defined_.push_back(false);
  return static_cast<int32_t>(plan_->value_names.size() - 1);
}

void PlanBuilder::check_value(int32_t value) const {
  check_open();
  if (value < 0 || static_cast<size_t>(value) >= plan_->value_count()) {
    invalid_argument("value index " + std::to_string(value) + " is not of this plan");
  }
}

template <class Maker>
void PlanBuilder::define(int32_t value, DataType dtype, const Maker& maker) {
  check_value(value);
  if (defined_[static_cast<size_t>(value)]) {
    invalid_argument("value '" + name_of(value) + "' has two makers; the second is " + maker());
  }
  defined_[static_cast<size_t>(value)] = true;
  plan_->value_types[static_cast<size_t>(value)] = dtype;
}

DataType PlanBuilder::type_of(int32_t value) const {
  check_value(value);
  return plan_->value_types[static_cast<size_t>(value)];
}

const std::string& PlanBuilder::name_of(int32_t value) const {
  check_value(value);
  return plan_->value_names[static_cast<size_t>(value)];
}

void PlanBuilder::add_input(InputSpec spec) {
  define(spec.value, spec.dtype, [&] { return "the graph input '" + spec.name + "'"; });
  plan_->inputs.push_back(std::move(spec));
}

void PlanBuilder::add_constant(int32_t value, Value content) {
  define(value, content.is_tensor() ? content.view().dtype : DataType::kUndefined, [] { return "a constant"; });
  plan_->constants.push_back({value, std::move(content)});
}

void PlanBuilder::add_capture(int32_t inner, int32_t outer, DataType dtype) {
  define(inner, dtype, [] { return "a capture"; });
  plan_->captures.push_back({inner, outer});
}

void PlanBuilder::add_step(std::unique_ptr<Step> step, const std::vector<DataType>& output_types) {
  check_open();
  const auto require_defined = [&](int32_t value) {
    check_value(value);
    if (!defined_[static_cast<size_t>(value)]) {
      invalid_argument("node '" + step->name() + "' reads '" + name_of(value) + "', which nothing before it makes");
    }
  };
  for (int32_t input : step->inputs()) {
    if (input != kAbsent) require_defined(input);
  }
  for (int32_t captured : step->captured()) require_defined(captured);
  if (output_types.size() != step->outputs().size()) {
    invalid_argument("node '" + step->name() + "' has " + std::to_string(step->outputs().size()) + " outputs and " +
                     std::to_string(output_types.size()) + " output types");
  }
  for (size_t i = 0; i < output_types.size(); ++i) {
    if (step->outputs()[i] == kAbsent) continue;
    define(step->outputs()[i], output_types[i], [&] { return "node '" + step->name() + "'"; });
  }
  plan_->most_step_inputs = std::max(plan_->most_step_inputs, step->inputs().size());
  plan_->steps.push_back({std::move(step), {}});
}

void PlanBuilder::add_output(int32_t value, std::string name) {
  check_value(value);
  if (!defined_[static_cast<size_t>(value)]) invalid_argument("nothing makes the graph output '" + name + "'");
  plan_->outputs.push_back({std::move(name), value});
}

std::shared_ptr<const Plan> PlanBuilder::build() {
  check_open();
  std::shared_ptr<Plan> plan = std::move(plan_);
  // Graph inputs are the caller's until the run ends, constants and captures are kept by others, outputs leave.
  std::vector<bool> pinned(plan->value_count(), false);
  for (const InputSpec& input : plan->inputs) pinned[static_cast<size_t>(input.value)] = true;
  for (const Constant& constant : plan->constants) pinned[static_cast<size_t>(constant.value)] = true;
  for (const Capture& capture : plan->captures) pinned[static_cast<size_t>(capture.inner)] = true;
  for (const OutputSpec& output : plan->outputs) pinned[static_cast<size_t>(output.value)] = true;

  std::vector<bool> read_later = pinned;
  for (size_t s = plan->steps.size(); s-- > 0;) {
    PlannedStep& planned = plan->steps[s];
    const auto release_once = [&](int32_t value) {
      if (value == kAbsent || read_later[static_cast<size_t>(value)]) return;
      read_later[static_cast<size_t>(value)] = true;
      planned.release.push_back(value);
    };
    std::vector<bool> last_use;
    last_use.reserve(planned.step->inputs().size());
    const std::vector<int32_t>& inputs = planned.step->inputs();
    for (int32_t input : inputs) {
      // Read twice by one step, a value is still read when the first reading is done.
      const bool once = std::count(inputs.begin(), inputs.end(), input) == 1;
      last_use.push_back(input != kAbsent && once && !read_later[static_cast<size_t>(input)]);
    }
    std::vector<bool> output_read;
    for (int32_t output : planned.step->outputs()) {
      output_read.push_back(output != kAbsent && read_later[static_cast<size_t>(output)]);
    }
    planned.step->set_liveness(std::move(last_use), std::move(output_read));
    for (int32_t input : planned.step->inputs()) release_once(input);
    for (int32_t captured : planned.step->captured()) release_once(captured);
    for (int32_t output : planned.step->outputs()) release_once(output);  // an output that nobody reads
  }
  find_strided_inputs(*plan);
  return plan;
}

}  // namespace onnx_light_ort::engine
