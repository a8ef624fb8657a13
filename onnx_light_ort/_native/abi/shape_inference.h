// One call of a custom op's InferOutputShapeFn: what it is told, and what it says.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "op_attribute.h"
#include "tensor_type_and_shape.h"

struct OrtShapeInferContext {
 public:
  /// An absent input has an undefined type and no shape. Lends all of it until it goes.
  OrtShapeInferContext(std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> inputs,
                       const onnx_light_ort::kernels::Node& node, size_t output_count);
  OrtShapeInferContext(const OrtShapeInferContext&) = delete;
  OrtShapeInferContext& operator=(const OrtShapeInferContext&) = delete;

  size_t input_count() const noexcept { return inputs_.size(); }
  OrtTensorTypeAndShapeInfo* input(size_t i) const { return inputs_.at(i).get(); }
  /// Null where the node has no such attribute.
  const OrtOpAttr* attribute(std::string_view name) const;
  void set_output(size_t i, const OrtTensorTypeAndShapeInfo& info) const;

  /// What the callback said of each output; null where it said nothing.
  const std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>>& outputs() const noexcept { return outputs_; }

 private:
  std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> inputs_;
  std::deque<OrtOpAttr> attributes_;
  // The slot that sets an output takes the context as const.
  mutable std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> outputs_;
};
