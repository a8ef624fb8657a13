// An attribute of a node, as shape inference and graph views lend it.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <string>
#include <utility>

#include "onnx_light_ort/kernels/kernel.h"

struct OrtOpAttr {
 public:
  OrtOpAttr(std::string name, onnx_light_ort::kernels::Attribute value);
  /// One of a type whose content plugins do not read: a graph, or what the ABI has no type for.
  OrtOpAttr(std::string name, OrtOpAttrType type);

  const std::string name;
  /// No enumerator of OrtOpAttrType where ONNX's type has none.
  const OrtOpAttrType type;
  /// A tensor is borrowed from whatever keeps the node. An empty list where there is nothing to read.
  const onnx_light_ort::kernels::Attribute value;
};
