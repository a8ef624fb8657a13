#include "shape_inference.h"

#include <string>
#include <utility>

#include "error.h"
#include "slots.h"

using onnx_light_ort::abi::Error;

OrtShapeInferContext::OrtShapeInferContext(std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> inputs,
                                           const onnx_light_ort::kernels::Node& node, size_t output_count)
    : inputs_(std::move(inputs)), outputs_(output_count) {
  for (const auto& [name, value] : node.attributes) attributes_.emplace_back(name, value);
}

const OrtOpAttr* OrtShapeInferContext::attribute(std::string_view name) const {
  for (const OrtOpAttr& attribute : attributes_) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

void OrtShapeInferContext::set_output(size_t i, const OrtTensorTypeAndShapeInfo& info) const {
  if (i >= outputs_.size()) {
    throw Error(ORT_RUNTIME_EXCEPTION,
                "output " + std::to_string(i) + " is out of range: the node has " + std::to_string(outputs_.size()));
  }
  outputs_[i] = std::make_unique<OrtTensorTypeAndShapeInfo>(info);
}

namespace onnx_light_ort::abi {

void OrtApiSlots::ShapeInferContext_GetInputCount(const OrtShapeInferContext* context, size_t* out) {
  *out = context->input_count();
}

void OrtApiSlots::ShapeInferContext_GetInputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                      OrtTensorTypeAndShapeInfo** info) {
  if (index >= context->input_count()) {
    throw Error(ORT_RUNTIME_EXCEPTION, "input " + std::to_string(index) + " is out of range: the node has " +
                                           std::to_string(context->input_count()));
  }
  *info = context->input(index);
}

void OrtApiSlots::ShapeInferContext_GetAttribute(const OrtShapeInferContext* context, const char* attr_name,
                                                 const OrtOpAttr** attr) {
  *attr = context->attribute(attr_name);
  if (*attr == nullptr) {
    throw Error(ORT_INVALID_ARGUMENT,
                std::string("the node has no attribute '") + attr_name + "': give it in the model");
  }
}

void OrtApiSlots::ShapeInferContext_SetOutputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                       const OrtTensorTypeAndShapeInfo* info) {
  context->set_output(index, *info);
}

}  // namespace onnx_light_ort::abi
