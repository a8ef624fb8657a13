// A RunContext of owned buffers for tests of single kernels: inputs are views, outputs live as long as the context.
// parallel_for cuts into ranges of one grain and runs them in order, unless threads are asked for.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "onnx_light_ort/kernels/dense_copy.h"
#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels::test {

struct OwnedTensor {
  std::vector<int64_t> dims;
  std::unique_ptr<void, decltype(&std::free)> data{nullptr, &std::free};
  TensorView view;

  OwnedTensor(DataType type, const int64_t* extents, size_t rank) : dims(extents, extents + rank) {
    const int64_t count = checked_element_count(extents, rank).value();
    const size_t bytes = checked_byte_size(type, count).value();
    // Exactly as large as promised, so that a sanitizer sees the first byte beyond it.
    data.reset(std::malloc(bytes > 0 ? bytes : 1));
    std::memset(data.get(), 0xA5, bytes);
    view = TensorView{data.get(), dims.data(), rank, count, type};
  }
};

class SerialContext final : public RunContext {
 public:
  SerialContext(std::vector<const TensorView*> inputs, std::vector<DataType> output_types, int threads = 1)
      : pointers_(std::move(inputs)), types_(std::move(output_types)), outputs_(types_.size()), threads_(threads) {
    inputs_ = pointers_.data();
    input_count_ = pointers_.size();
    output_count_ = types_.size();
  }

  /// Lets output_reusing_input take this input's buffer.
  void allow_reuse(size_t input) { reusable_ = static_cast<int>(input); }

  const TensorView& result(size_t i) const {
    if (outputs_[i] == nullptr) throw std::logic_error("output " + std::to_string(i) + " was never made");
    return outputs_[i]->view;
  }
  bool has_result(size_t i) const { return outputs_[i] != nullptr; }

  bool output_wanted(size_t i) const noexcept override {
    return i < types_.size() && types_[i] != DataType::kUndefined;
  }

  const TensorView& output(size_t i, const int64_t* dims, size_t rank) override {
    if (outputs_.at(i) == nullptr) outputs_[i] = std::make_unique<OwnedTensor>(types_[i], dims, rank);
    if (outputs_[i]->dims != std::vector<int64_t>(dims, dims + rank)) {
      throw std::logic_error("output asked for again with other dimensions");
    }
    return outputs_[i]->view;
  }

  const TensorView& output_reusing_input(size_t i, size_t from, const int64_t* dims, size_t rank) override {
    const TensorView& made = output(i, dims, rank);
    const TensorView& input = *pointers_[from];
    if (static_cast<int>(from) != reusable_ || !input.is_dense()) return made;
    if (checked_byte_size(input.dtype, input.element_count) != checked_byte_size(made.dtype, made.element_count)) {
      return made;
    }
    outputs_[i]->view.data = input.data;
    return outputs_[i]->view;
  }

  void forward_input(size_t from, size_t i, const int64_t* dims, size_t rank) override {
    const TensorView& input = *pointers_.at(from);
    const TensorView& made = output(i, dims, rank);
    if (made.element_count != input.element_count) throw std::logic_error("forwarded with another element count");
    if (input.is_dense()) {
      std::memcpy(made.data, input.data, checked_byte_size(input.dtype, input.element_count).value());
    } else {
      copy_dense(*this, input, made.data);
    }
  }

  void* scratch(size_t bytes) override {
    scratch_.emplace_back(std::aligned_alloc(64, (bytes + 64) / 64 * 64), &std::free);
    return scratch_.back().get();
  }

  void parallel_for(int64_t total, int64_t grain, RangeFunction body) override {
    if (total <= 0) return;
    if (grain < 1) throw std::logic_error("a grain below 1");
    if (threads_ == 1) {
      for (int64_t begin = 0; begin < total; begin += grain) body(begin, std::min(total, begin + grain));
      return;
    }
    const int64_t part = std::max(grain, (total + threads_ - 1) / threads_);
    std::vector<std::thread> threads;
    for (int64_t begin = part; begin < total; begin += part) {
      threads.emplace_back([=] { body(begin, std::min(total, begin + part)); });
    }
    body(0, std::min(total, part));
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::vector<const TensorView*> pointers_;
  std::vector<DataType> types_;
  std::vector<std::unique_ptr<OwnedTensor>> outputs_;
  std::vector<std::unique_ptr<void, decltype(&std::free)>> scratch_;
  int reusable_ = -1;
  int threads_;
};

}  // namespace onnx_light_ort::kernels::test
