#include "kernel_lookup.h"

#include <utility>

#include "element_type.h"
#include "graph.h"

namespace onnx_light_ort::abi {
namespace {

int type_of(const OrtValueInfo* value) {
  if (value == nullptr) return kNoArgument;
  const OrtTypeInfo* type = value->record->type;
  if (type == nullptr || type->type != ONNX_TYPE_TENSOR) return kNoTensor;
  return static_cast<int>(from_abi(type->tensor->element_type));
}

ArgumentTypes types_of(const OrtValueInfo* const* values, size_t count) {
  ArgumentTypes types(count);
  for (size_t i = 0; i < count; ++i) types[i] = type_of(values[i]);
  return types;
}

}  // namespace

KernelLookup::KernelLookup(Match match) : match_(std::move(match)) {}

const OrtKernelDef* KernelLookup::find(const OrtNode& node) {
  const NodeRecord& record = *node.record;
  const size_t count = record.input_count + record.output_count;
  key_.clear();
  const auto append = [this](const auto& number) {
    key_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  append(record.op);
  append(record.input_count);
  for (size_t i = 0; i < count; ++i) key_.push_back(static_cast<char>(type_of(node.values[i])));
  const auto known = found_.find(key_);
  if (known != found_.end()) return known->second;
  const OrtKernelDef* definition = match_(*record.op, types_of(node.values, record.input_count),
                                          types_of(node.values + record.input_count, record.output_count));
  found_.emplace(key_, definition);
  return definition;
}

}  // namespace onnx_light_ort::abi
