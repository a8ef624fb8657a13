#include "widened_kernel.h"

#include <algorithm>

#include "converted_tensor.h"

namespace onnx_light_ort::kernels {
namespace {

using Carrier = DataType (*)(DataType) noexcept;

// A constant as another type. Owns its elements and dimensions.
struct WidenedConstant {
  std::vector<uint64_t> elements;  ///< As many as hold those of the view.
  std::vector<int64_t> dims;
  TensorView view;

  WidenedConstant(const TensorView& from, DataType type)
      : elements((checked_byte_size(type, from.element_count).value() + 7) / 8),
        dims(from.dims, from.dims + from.rank) {
    ElementConversion(from.dtype, type).run(from.data, elements.data(), 0, from.element_count);
    view = TensorView{elements.data(), dims.data(), dims.size(), from.element_count, type};
  }
};

// The call as the kernel for the carriers sees it.
class WidenedContext final : public RunContext {
 public:
  WidenedContext(RunContext& outer, const std::vector<std::unique_ptr<WidenedConstant>>& constants, Carrier carrier)
      : outer_(outer), carrier_(carrier) {
    input_count_ = outer.input_count();
    output_count_ = outer.output_count();
    widened_.reserve(input_count_);
    outputs_.resize(output_count_);
    for (size_t i = 0; i < input_count_; ++i) {
      const TensorView* input = outer.input(i);
      if (input == nullptr || !is_carried(input->dtype)) {
        pointers_.push_back(input);
      } else if (i < constants.size() && constants[i] != nullptr) {
        pointers_.push_back(&constants[i]->view);
      } else {
        widened_.push_back(converted(outer, *input, carrier_(input->dtype)));
        pointers_.push_back(&widened_.back());
      }
    }
    inputs_ = pointers_.data();
  }

  bool output_wanted(size_t i) const noexcept override { return outer_.output_wanted(i); }

  const TensorView& output(size_t i, const int64_t* dims, size_t rank) override {
    return widened(i, outer_.output(i, dims, rank));
  }

  const TensorView& output_reusing_input(size_t i, size_t from, const int64_t* dims, size_t rank) override {
    const TensorView* input = outer_.input(from);
    if (input != nullptr && is_carried(input->dtype)) return output(i, dims, rank);
    return widened(i, outer_.output_reusing_input(i, from, dims, rank));
  }

  void forward_input(size_t from, size_t i, const int64_t* dims, size_t rank) override {
    outer_.forward_input(from, i, dims, rank);
  }

  void* scratch(size_t bytes) override { return outer_.scratch(bytes); }

  void parallel_for(int64_t total, int64_t grain, RangeFunction body) override {
    outer_.parallel_for(total, grain, body);
  }

  void round_outputs() {
    for (const Output& output : outputs_) {
      if (output.real == nullptr) continue;
      convert_tensor(outer_, output.widened, *output.real);
    }
  }

 private:
  struct Output {
    const TensorView* real = nullptr;
    TensorView widened;
  };

  const TensorView& widened(size_t i, const TensorView& real) {
    if (!is_carried(real.dtype)) return real;
    Output& output = outputs_.at(i);
    if (output.real == nullptr) {
      output.real = &real;
      output.widened = scratch_like(outer_, real, carrier_(real.dtype));
    }
    return output.widened;
  }

  bool is_carried(DataType type) const { return carrier_(type) != type; }

  RunContext& outer_;
  Carrier carrier_;
  std::vector<const TensorView*> pointers_;
  std::vector<TensorView> widened_;
  std::vector<Output> outputs_;
};

class WidenedKernel final : public Kernel {
 public:
  WidenedKernel(const Node& node, KernelFactory factory, Carrier carrier) : carrier_(carrier) {
    Node widened = node;
    for (DataType& type : widened.input_types) {
      converts_.push_back(carrier(type) != type);
      type = carrier(type);
    }
    for (DataType& type : widened.output_types) type = carrier(type);
    constants_.resize(node.constant_inputs.size());
    for (size_t i = 0; i < node.constant_inputs.size(); ++i) {
      const TensorView* constant = node.constant_inputs[i];
      if (constant == nullptr || carrier(constant->dtype) == constant->dtype) continue;
      constants_[i] = std::make_unique<WidenedConstant>(*constant, carrier(constant->dtype));
      widened.constant_inputs[i] = &constants_[i]->view;
    }
    kernel_ = factory(widened);
  }

  void compute(RunContext& context) override {
    WidenedContext widened(context, constants_, carrier_);
    kernel_->compute(widened);
    widened.round_outputs();
  }

  // What is converted becomes dense.
  bool reads_strides(size_t input) const noexcept override {
    return input < converts_.size() && (converts_[input] || kernel_->reads_strides(input));
  }

 private:
  Carrier carrier_;
  std::vector<bool> converts_;  ///< For each input.
  std::vector<std::unique_ptr<WidenedConstant>> constants_;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace

bool has_half(const Node& node) {
  return std::any_of(node.input_types.begin(), node.input_types.end(), is_half) ||
         std::any_of(node.output_types.begin(), node.output_types.end(), is_half);
}

DataType as_double(DataType type) noexcept {
  return type == DataType::kFloat || is_half(type) ? DataType::kDouble : type;
}

bool mixes_double(const Node& node) {
  bool has_double = false;
  bool has_narrower = false;
  for (const auto* types : {&node.input_types, &node.output_types}) {
    for (const DataType type : *types) {
      has_double = has_double || type == DataType::kDouble;
      has_narrower = has_narrower || as_double(type) != type;
    }
  }
  return has_double && has_narrower;
}

bool has_sub_byte(const Node& node) {
  return std::any_of(node.input_types.begin(), node.input_types.end(), is_sub_byte) ||
         std::any_of(node.output_types.begin(), node.output_types.end(), is_sub_byte);
}

std::unique_ptr<Kernel> make_widened_kernel(const Node& node, KernelFactory factory, Carrier carrier) {
  return std::make_unique<WidenedKernel>(node, factory, carrier);
}

}  // namespace onnx_light_ort::kernels
