// What an executor runs: value slots, constants, and steps in order. Frozen once built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "step.h"
#include "value.h"

namespace onnx_light_ort::engine {

inline constexpr int32_t kAbsent = -1;   ///< Index of an input or output that a node leaves out.
inline constexpr int64_t kFreeDim = -1;  ///< A dimension that a run decides.

/// What a run must feed. Nothing is checked where the type is kUndefined (no dense tensor, or not known).
struct InputSpec {
  std::string name;
  int32_t value = kAbsent;
  DataType dtype = DataType::kUndefined;
  bool has_shape = false;
  std::vector<int64_t> dims;
  /// What is fed may have strides: it has readers, and all of them are steps that read strides. Set by build().
  bool reads_strides = false;
};

struct OutputSpec {
  std::string name;
  int32_t value = kAbsent;
};

/// A value of a subgraph that is a value of the graph around it.
struct Capture {
  int32_t inner = kAbsent;
  int32_t outer = kAbsent;
};

struct Constant {
  int32_t value = kAbsent;
  Value content;
};

struct PlannedStep {
  std::unique_ptr<Step> step;
  std::vector<int32_t> release;  ///< Values whose last reader this step is.
};

class Plan {
 public:
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  std::vector<std::string> value_names;
  std::vector<DataType> value_types;  ///< kUndefined: not known to be a dense tensor.
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<Capture> captures;
  std::vector<Constant> constants;
  std::vector<PlannedStep> steps;
  size_t most_step_inputs = 0;

  size_t value_count() const noexcept { return value_names.size(); }
};

/// Fills a Plan in the order in which its steps are to run. Every value has one maker: a graph input, a constant, a
/// capture, or one output of one step that stands before its readers. Throws kernels::Error otherwise.
class PlanBuilder {
 public:
  PlanBuilder();

  int32_t add_value(std::string name);
  void add_input(InputSpec spec);
  void add_constant(int32_t value, Value content);
  void add_capture(int32_t inner, int32_t outer, DataType dtype);
  void add_step(std::unique_ptr<Step> step, const std::vector<DataType>& output_types);
  void add_output(int32_t value, std::string name);

  DataType type_of(int32_t value) const;
  const std::string& name_of(int32_t value) const;
  /// Ends the building: computes after which step each value is dropped.
  std::shared_ptr<const Plan> build();

 private:
  void check_value(int32_t value) const;
  void check_open() const;
  /// `maker` is a function that says who makes the value, for an error.
  template <class Maker>
  void define(int32_t value, DataType dtype, const Maker& maker);

  std::shared_ptr<Plan> plan_;
  std::vector<bool> defined_;
};

}  // namespace onnx_light_ort::engine
