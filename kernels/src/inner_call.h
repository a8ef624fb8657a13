// A call of one kernel within the call of another.
#pragma once

#include <vector>

#include "dims.h"
#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// Inputs are given; the one output is made in scratch memory of the outer call. Threads are the outer call's.
class InnerCall final : public RunContext {
 public:
  /// Borrows the inputs, which live until the call is over.
  InnerCall(RunContext& outer, std::vector<const TensorView*> inputs, DataType output_type)
      : outer_(outer), given_(std::move(inputs)) {
    inputs_ = given_.data();
    input_count_ = given_.size();
    output_count_ = 1;
    result_.dtype = output_type;
  }

  /// The output. Valid as long as this object, its elements until the outer call is over.
  const TensorView& result() const noexcept { return result_; }

  bool output_wanted(size_t i) const noexcept override { return i == 0; }

  const TensorView& output(size_t, const int64_t* dims, size_t rank) override {
    place(dims, rank);
    if (result_.data == nullptr) {
      result_.data = outer_.scratch(checked_byte_size(result_.dtype, result_.element_count).value());
    }
    return result_;
  }

  const TensorView& output_reusing_input(size_t i, size_t, const int64_t* dims, size_t rank) override {
    return output(i, dims, rank);
  }

  void forward_input(size_t from, size_t, const int64_t* dims, size_t rank) override {
    place(dims, rank);
    result_.data = given_.at(from)->data;
  }

  void* scratch(size_t bytes) override { return outer_.scratch(bytes); }

  void parallel_for(int64_t total, int64_t grain, RangeFunction body) override {
    outer_.parallel_for(total, grain, body);
  }

 private:
  void place(const int64_t* dims, size_t rank) {
    dims_ = Dims(dims, rank);
    result_.dims = dims_.data();
    result_.rank = rank;
    result_.element_count = checked_element_count(dims, rank).value();
  }

  RunContext& outer_;
  std::vector<const TensorView*> given_;
  Dims dims_;
  TensorView result_;
};

}  // namespace onnx_light_ort::kernels
