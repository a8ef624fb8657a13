// What LSTM, GRU and RNN share: directions, layouts, sequence lengths, initial and final states. The products with X
// are one matrix product for all steps; those with the state follow step by step, in the kernel of each operator.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dims.h"
#include "gemm.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "recurrent_activation.h"
#include "registration.h"

namespace onnx_light_ort::kernels {

/// One step of one direction over the whole batch. States are (batch, hidden size).
template <class T>
struct RecurrentStep {
  size_t direction;
  int64_t batch;
  int64_t hidden_size;
  T* gates;  ///< The inputs' share; row b is at gates + b * gate_stride. The step may write there.
  int64_t gate_stride;
  T* hidden;
  T* memory;           ///< LSTM's cells; null elsewhere.
  T* scratch;          ///< scratch_elements() for each sequence of the batch.
  const T* bias;       ///< Of the inputs, then of the recurrence; or null.
  const T* peepholes;  ///< Or null.
  const int32_t* lengths;
  int64_t time;

  /// Whether the sequence has not ended before this step: otherwise its state stays.
  bool runs(int64_t sequence) const { return lengths == nullptr || time < lengths[sequence]; }
};

template <class T>
class RecurrentKernel : public Kernel {
 public:
  void compute(RunContext& context) final {
    const TensorView& x = context.required_input(0);
    const TensorView& w = context.required_input(1);
    const TensorView& r = context.required_input(2);
    const auto directions = static_cast<int64_t>(directions_);
    if (x.rank != 3 || w.rank != 3 || r.rank != 3 || w.dims[0] != directions || r.dims[0] != directions ||
        w.dims[1] != gates_ * r.dims[2] || r.dims[1] != gates_ * r.dims[2] || w.dims[2] != x.dims[2]) {
      invalid_argument(op_ + ": X, W and R of shapes " + to_string(x) + ", " + to_string(w) + ", " + to_string(r) +
                       " do not fit together");
    }
    const int64_t steps = x.dims[batch_first_ ? 1 : 0];
    const int64_t batch = x.dims[batch_first_ ? 0 : 1];
    const int64_t n = r.dims[2];
    if (hidden_size_ != 0 && n != hidden_size_) {
      invalid_argument(op_ + ": R of shape " + to_string(r) + " does not fit to hidden_size " +
                       std::to_string(hidden_size_));
    }
    const int64_t row = gates_ * n;
    const TensorView* bias = checked(context, 3, 2 * directions * row, "B");
    const TensorView* lengths = checked(context, 4, batch, "sequence_lens");
    const TensorView* first_hidden = checked(context, 5, directions * batch * n, "initial_h");
    const TensorView* first_memory = has_memory_ ? checked(context, 6, directions * batch * n, "initial_c") : nullptr;
    const TensorView* peepholes = has_memory_ ? checked(context, 7, 3 * directions * n, "P") : nullptr;
    if (lengths != nullptr) check_lengths(*lengths, steps);

    const Dims all_dims =
        batch_first_ ? dims_of({batch, steps, directions, n}) : dims_of({steps, directions, batch, n});
    const Dims last_dims = batch_first_ ? dims_of({batch, directions, n}) : dims_of({directions, batch, n});
    T* all = wanted(context, 0, all_dims);
    T* last_hidden = wanted(context, 1, last_dims);
    T* last_memory = has_memory_ ? wanted(context, 2, last_dims) : nullptr;
    const auto allocate = [&](int64_t count) {
      return static_cast<T*>(context.scratch(static_cast<size_t>(count) * sizeof(T)));
    };
    T* gates = allocate(steps * batch * row);
    T* sums = allocate(row);

    RecurrentStep<T> step{};
    step.batch = batch;
    step.hidden_size = n;
    step.gate_stride = batch_first_ ? steps * row : row;
    step.hidden = allocate(batch * n);
    step.memory = has_memory_ ? allocate(batch * n) : nullptr;
    step.scratch = allocate(batch * scratch_elements(n));
    step.lengths = lengths != nullptr ? lengths->as<int32_t>() : nullptr;
    for (size_t d = 0; d < directions_; ++d) {
      step.direction = d;
      step.bias = bias != nullptr ? bias->as<T>() + static_cast<int64_t>(d) * 2 * row : nullptr;
      step.peepholes = peepholes != nullptr ? peepholes->as<T>() + static_cast<int64_t>(d) * 3 * n : nullptr;
      // Element j of sequence b's state in a tensor of states.
      const auto state_at = [&](int64_t b) {
        return (batch_first_ ? b * directions + static_cast<int64_t>(d) : static_cast<int64_t>(d) * batch + b) * n;
      };
      for (int64_t b = 0; b < batch; ++b) {
        start(first_hidden, state_at(b), n, step.hidden + b * n);
        if (has_memory_) start(first_memory, state_at(b), n, step.memory + b * n);
      }
      GemmProblem<T> inputs;
      inputs.m = steps * batch;
      inputs.n = row;
      inputs.k = x.dims[2];
      inputs.a = {x.as<T>(), inputs.k, 1};
      inputs.b = transposed(w, d, 0);
      inputs.packed_b = packed_w_.empty() ? nullptr : packed_w_[d].data();
      inputs.c = gates;
      inputs.ldc = row;
      if (step.bias != nullptr) {
        add_up_bias(step.bias, n, sums);
        inputs.column_bias = sums;
      }
      gemm(context, inputs);

      // Backwards, a sequence shorter than the longest begins when its last element's turn has come.
      const bool backward = direction_ == "reverse" || d == 1;
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = step.time = backward ? steps - 1 - i : i;
        step.gates = gates + (batch_first_ ? t : t * batch) * row;
        run(context, r, step);
        for (int64_t b = 0; all != nullptr && b < batch; ++b) {
          const auto d64 = static_cast<int64_t>(d);
          T* y = all + (batch_first_ ? (b * steps + t) * directions + d64 : (t * directions + d64) * batch + b) * n;
          if (step.runs(b)) {
            std::copy_n(step.hidden + b * n, n, y);
          } else {
            std::fill_n(y, n, T(0));
          }
        }
      }
      for (int64_t b = 0; b < batch; ++b) {
        if (last_hidden != nullptr) std::copy_n(step.hidden + b * n, n, last_hidden + state_at(b));
        if (last_memory != nullptr) std::copy_n(step.memory + b * n, n, last_memory + state_at(b));
      }
    }
  }

 protected:
  /// `parts` are the numbers of gates that are multiplied with the recurrence weights at a time.
  RecurrentKernel(const Node& node, std::vector<int64_t> parts, bool has_memory)
      : op_(node.op_type),
        direction_(node.attribute_or<std::string>("direction", "forward")),
        directions_(direction_ == "bidirectional" ? 2 : 1),
        hidden_size_(node.attribute_or<int64_t>("hidden_size", 0)),
        batch_first_(node.attribute_or<int64_t>("layout", 0) != 0),
        has_memory_(has_memory),
        clip_(node.attribute_or("clip", 0.0f)),
        parts_(std::move(parts)) {
    for (const int64_t part : parts_) gates_ += part;
    if (const TensorView* w = packable(node, 1)) {
      for (size_t d = 0; d < directions_; ++d) {
        packed_w_.push_back(PackedOperand<T>::right(transposed(*w, d, 0), w->dims[2], w->dims[1]));
      }
    }
    if (const TensorView* r = packable(node, 2)) {
      for (size_t d = 0; d < directions_; ++d) {
        int64_t first = 0;
        for (const int64_t part : parts_) {
          packed_r_.push_back(
              PackedOperand<T>::right(transposed(*r, d, first * r->dims[2]), r->dims[2], part * r->dims[2]));
          first += part;
        }
      }
    }
  }

  /// Brings the states of the sequences that run from one step to the next.
  virtual void run(RunContext& context, const TensorView& r, const RecurrentStep<T>& step) const = 0;

  /// What is added to the products with X: by default both halves of the bias.
  virtual void add_up_bias(const T* bias, int64_t hidden_size, T* sums) const {
    const int64_t row = gates_ * hidden_size;
    for (int64_t i = 0; i < row; ++i) sums[i] = bias[i] + bias[row + i];
  }

  /// Scratch elements for each sequence.
  virtual int64_t scratch_elements(int64_t /*hidden_size*/) const { return 0; }

  /// C (batch x part, rows ldc apart) (+)= states x recurrence weights of a part of the gates.
  void multiply(RunContext& context, const TensorView& r, const RecurrentStep<T>& step, size_t part, const T* states,
                T* c, int64_t ldc, bool accumulate, const T* column_bias = nullptr) const {
    int64_t first = 0;
    for (size_t i = 0; i < part; ++i) first += parts_[i];
    GemmProblem<T> problem;
    problem.m = step.batch;
    problem.n = parts_[part] * step.hidden_size;
    problem.k = step.hidden_size;
    problem.a = {states, step.hidden_size, 1};
    problem.b = transposed(r, step.direction, first * step.hidden_size);
    problem.packed_b = packed_r_.empty() ? nullptr : packed_r_[step.direction * parts_.size() + part].data();
    problem.c = c;
    problem.ldc = ldc;
    problem.accumulate = accumulate;
    problem.column_bias = column_bias;
    gemm(context, problem);
  }

  /// Calls body(sequence) for each sequence that runs, on the call's threads.
  template <class Body>
  static void for_each_running(RunContext& context, const RecurrentStep<T>& step, Body&& body) {
    const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, step.hidden_size));
    context.parallel_for(step.batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (step.runs(b)) body(b);
      }
    });
  }

  /// Limits the argument of an activation, where the node says so.
  void clip(T* x, int64_t n) const {
    if (clip_ == 0) return;
    const T limit = static_cast<T>(clip_);
    for (int64_t i = 0; i < n; ++i) x[i] = std::min(std::max(x[i], -limit), limit);
  }
  bool clips() const { return clip_ != 0; }

  size_t directions() const { return directions_; }

 private:
  static Dims dims_of(std::initializer_list<int64_t> dims) { return Dims(dims.begin(), dims.size()); }

  const TensorView* checked(const RunContext& context, size_t i, int64_t count, const char* name) const {
    const TensorView* view = context.input(i);
    if (view != nullptr && view->element_count != count) {
      invalid_argument(op_ + ": " + name + " has shape " + to_string(*view) + ", expected " + std::to_string(count) +
                       " elements");
    }
    return view;
  }

  void check_lengths(const TensorView& lengths, int64_t steps) const {
    for (int64_t b = 0; b < lengths.element_count; ++b) {
      const int32_t length = lengths.as<int32_t>()[b];
      if (length < 0 || length > steps) {
        invalid_argument(op_ + ": sequence_lens has the length " + std::to_string(length) +
                         ", expected one from 0 to " + std::to_string(steps));
      }
    }
  }

  static T* wanted(RunContext& context, size_t i, const Dims& dims) {
    if (i >= context.output_count() || !context.output_wanted(i)) return nullptr;
    return context.output(i, dims.data(), dims.size()).template as<T>();
  }

  static void start(const TensorView* given, int64_t offset, int64_t count, T* state) {
    if (given != nullptr) {
      std::copy_n(given->as<T>() + offset, count, state);
    } else {
      std::fill_n(state, count, T(0));
    }
  }

  // Rows from `first` on of direction d of weights (directions, rows, k), as the right-hand side k x rows.
  static Matrix<T> transposed(const TensorView& weights, size_t d, int64_t first) {
    return {weights.as<T>() + (static_cast<int64_t>(d) * weights.dims[1] + first) * weights.dims[2], 1,
            weights.dims[2]};
  }

  // The weights where they are constant, of the right shape, and not too large for a second copy.
  const TensorView* packable(const Node& node, size_t input) const {
    const TensorView* weights = constant_input(node, input);
    if (weights == nullptr || weights->rank != 3 || weights->element_count == 0) return nullptr;
    if (weights->element_count * static_cast<int64_t>(sizeof(T)) > kMaxPackedBytes) return nullptr;
    if (weights->dims[0] != static_cast<int64_t>(directions_) || weights->dims[1] % gates_ != 0) return nullptr;
    return input == 1 || weights->dims[1] == gates_ * weights->dims[2] ? weights : nullptr;
  }

  std::string op_;
  std::string direction_;
  size_t directions_;
  int64_t hidden_size_;  ///< 0: what the weights say.
  bool batch_first_;
  bool has_memory_;
  float clip_;
  std::vector<int64_t> parts_;
  int64_t gates_ = 0;
  std::vector<PackedOperand<T>> packed_w_;  ///< A direction each.
  std::vector<PackedOperand<T>> packed_r_;  ///< A part of each direction each.
};

}  // namespace onnx_light_ort::kernels
