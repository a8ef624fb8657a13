// An attribute of a node, as shape inference and graph views lend it.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <string>
#include <utility>

#include "onnx_light_ort/kernels/kernel.h"

struct OrtOpAttr {
 public:
  OrtOpAttr(std::string name, onnx_light_ort::kernels::Attribute value);

  const std::string name;
  const OrtOpAttrType type;
  /// A tensor is borrowed from whatever keeps the node.
  const onnx_light_ort::kernels::Attribute value;
};
