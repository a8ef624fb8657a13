#include "kernel_info.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "allocator.h"
#include "error.h"
#include "key_value_pairs.h"
#include "plugin_call.h"
#include "sized_output.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

using kernels::Attribute;
using kernels::TensorView;

std::vector<OrtValue> constant_values(const kernels::Node& node, size_t input_count) {
  std::vector<OrtValue> values(input_count);
  for (size_t i = 0; i < input_count && i < node.constant_inputs.size(); ++i) values[i].view = node.constant_inputs[i];
  return values;
}

const kernels::Node& node_of(const OrtKernelInfo* info) { return *info->node->node; }

const Attribute& attribute(const OrtKernelInfo* info, const char* name) {
  const Attribute* found = node_of(info).attribute(name);
  if (found == nullptr) {
    throw Error(ORT_FAIL, "node '" + node_of(info).name + "' has no attribute '" + name + "': give it in the model");
  }
  return *found;
}

template <class T>
const T& attribute_of_type(const OrtKernelInfo* info, const char* name, const char* type) {
  const T* value = std::get_if<T>(&attribute(info, name));
  if (value == nullptr) {
    throw Error(ORT_FAIL, std::string("attribute '") + name + "' of node '" + node_of(info).name + "' is no " + type);
  }
  return *value;
}

/// An attribute that is no list of T reads as an empty one, as from ORT.
template <class T>
const std::vector<T>& attribute_list(const OrtKernelInfo* info, const char* name) {
  static const std::vector<T> empty;
  const auto* list = std::get_if<std::vector<T>>(&attribute(info, name));
  return list == nullptr ? empty : *list;
}

const ArgumentInfo& argument(const std::vector<ArgumentInfo>& arguments, size_t index, const char* what) {
  if (index >= arguments.size()) {
    throw Error(ORT_INVALID_ARGUMENT, std::string(what) + " " + std::to_string(index) +
                                          " is out of range: the node has " + std::to_string(arguments.size()));
  }
  return arguments[index];
}

OrtTypeInfo* type_of(const std::vector<ArgumentInfo>& arguments, size_t index, const char* what) {
  const ArgumentInfo& found = argument(arguments, index, what);
  if (found.type == nullptr) {
    throw Error(ORT_INVALID_GRAPH, std::string(what) + " " + std::to_string(index) +
                                       (found.name.empty() ? " is left out" : " ('" + found.name + "') is not known") +
                                       " and has no type");
  }
  return found.type->clone().release();
}

/// Blocks of an allocator, given back together when the array that they make up does not get finished.
class StringArray {
 public:
  StringArray(OrtAllocator* allocator, size_t count) : allocator_(allocator) {
    require_free(allocator);
    blocks_.reserve(count + 1);
    array_ = static_cast<char**>(allocate(count * sizeof(char*)));
  }
  ~StringArray() {
    for (void* block : blocks_) give_back(allocator_, block);
  }
  StringArray(const StringArray&) = delete;
  StringArray& operator=(const StringArray&) = delete;

  void set(size_t i, const std::string& text) {
    array_[i] = static_cast<char*>(allocate(text.size() + 1));
    std::memcpy(array_[i], text.c_str(), text.size() + 1);
  }
  char** release() {
    blocks_.clear();
    return array_;
  }

 private:
  void* allocate(size_t size) {
    blocks_.push_back(allocate_from(allocator_, size));
    return blocks_.back();
  }

  OrtAllocator* allocator_;
  std::vector<void*> blocks_;
  char** array_;
};

}  // namespace

NodeInfo::NodeInfo(std::shared_ptr<const kernels::Node> node, std::vector<ArgumentInfo> inputs,
                   std::vector<ArgumentInfo> outputs, std::shared_ptr<const SessionServices> session, const OrtEp* ep)
    : node(std::move(node)),
      inputs(std::move(inputs)),
      outputs(std::move(outputs)),
      session(std::move(session)),
      constants(constant_values(*this->node, this->inputs.size())),
      ep(ep) {}

void OrtApiSlots::KernelInfoGetAttribute_float(const OrtKernelInfo* info, const char* name, float* out) {
  *out = attribute_of_type<float>(info, name, "float");
}

void OrtApiSlots::KernelInfoGetAttribute_int64(const OrtKernelInfo* info, const char* name, int64_t* out) {
  *out = attribute_of_type<int64_t>(info, name, "int");
}

void OrtApiSlots::KernelInfoGetAttribute_string(const OrtKernelInfo* info, const char* name, char* out, size_t* size) {
  write_string(attribute_of_type<std::string>(info, name, "string"), "the attribute", out, size);
}

void OrtApiSlots::KernelInfoGetAttributeArray_float(const OrtKernelInfo* info, const char* name, float* out,
                                                    size_t* size) {
  const auto& list = attribute_list<float>(info, name);
  write_array(list.data(), list.size(), "the attribute", out, size);
}

void OrtApiSlots::KernelInfoGetAttributeArray_int64(const OrtKernelInfo* info, const char* name, int64_t* out,
                                                    size_t* size) {
  const auto& list = attribute_list<int64_t>(info, name);
  write_array(list.data(), list.size(), "the attribute", out, size);
}

void OrtApiSlots::CopyKernelInfo(const OrtKernelInfo* info, OrtKernelInfo** info_copy) {
  *info_copy = new OrtKernelInfo(*info);
}

void OrtApiSlots::ReleaseKernelInfo(OrtKernelInfo* input) { delete input; }

void OrtApiSlots::KernelInfo_GetInputCount(const OrtKernelInfo* info, size_t* out) { *out = info->node->inputs.size(); }

void OrtApiSlots::KernelInfo_GetOutputCount(const OrtKernelInfo* info, size_t* out) {
  *out = info->node->outputs.size();
}

void OrtApiSlots::KernelInfo_GetInputName(const OrtKernelInfo* info, size_t index, char* out, size_t* size) {
  write_string(argument(info->node->inputs, index, "input").name, "the input's name", out, size);
}

void OrtApiSlots::KernelInfo_GetOutputName(const OrtKernelInfo* info, size_t index, char* out, size_t* size) {
  write_string(argument(info->node->outputs, index, "output").name, "the output's name", out, size);
}

void OrtApiSlots::KernelInfo_GetInputTypeInfo(const OrtKernelInfo* info, size_t index, OrtTypeInfo** type_info) {
  *type_info = type_of(info->node->inputs, index, "input");
}

void OrtApiSlots::KernelInfo_GetOutputTypeInfo(const OrtKernelInfo* info, size_t index, OrtTypeInfo** type_info) {
  *type_info = type_of(info->node->outputs, index, "output");
}

void OrtApiSlots::KernelInfoGetAttribute_tensor(const OrtKernelInfo* info, const char* name, OrtAllocator* allocator,
                                                OrtValue** out) {
  *out = copy_tensor(allocator, attribute_of_type<TensorView>(info, name, "tensor")).release();
}

void OrtApiSlots::KernelInfo_GetNodeName(const OrtKernelInfo* info, char* out, size_t* size) {
  write_string(node_of(info).name, "the node's name", out, size);
}

void OrtApiSlots::KernelInfo_GetLogger(const OrtKernelInfo* info, const OrtLogger** logger) {
  *logger = &info->node->session->logger;
}

void OrtApiSlots::KernelInfoGetConstantInput_tensor(const OrtKernelInfo* info, size_t index, int* is_constant,
                                                    const OrtValue** out) {
  const std::vector<OrtValue>& constants = info->node->constants;
  const bool constant = index < constants.size() && constants[index].view != nullptr;
  *is_constant = constant;
  *out = constant ? &constants[index] : nullptr;
}

// All of a session's allocators are its CPU allocator, whatever memory type is asked for.
void OrtApiSlots::KernelInfoGetAllocator(const OrtKernelInfo* info, OrtMemType, OrtAllocator** out) {
  *out = new HostAllocator(info->node->session->budget);
}

void OrtApiSlots::KernelInfo_GetConfigEntries(const OrtKernelInfo* info, OrtKeyValuePairs** out) {
  auto entries = std::make_unique<OrtKeyValuePairs>();
  for (const auto& [key, value] : info->node->session->config_entries) entries->add(key, value);
  *out = entries.release();
}

void OrtApiSlots::KernelInfo_GetOperatorDomain(const OrtKernelInfo* info, char* out, size_t* size) {
  write_string(node_of(info).domain, "the operator's domain", out, size);
}

void OrtApiSlots::KernelInfo_GetOperatorType(const OrtKernelInfo* info, char* out, size_t* size) {
  write_string(node_of(info).op_type, "the operator's type", out, size);
}

void OrtApiSlots::KernelInfo_GetOperatorSinceVersion(const OrtKernelInfo* info, int* since_version) {
  *since_version = node_of(info).since_version;
}

void OrtApiSlots::KernelInfoGetAttributeArray_string(const OrtKernelInfo* info, const char* name,
                                                     OrtAllocator* allocator, char*** out, size_t* size) {
  const auto& list = attribute_list<std::string>(info, name);
  *size = list.size();
  if (out == nullptr) return;
  *out = nullptr;
  if (allocator == nullptr) throw Error(ORT_FAIL, "allocator is null: pass one, or null for out to learn the size");
  if (list.empty()) return;
  StringArray strings(allocator, list.size());
  for (size_t i = 0; i < list.size(); ++i) strings.set(i, list[i]);
  *out = strings.release();
}

void OrtEpApiSlots::KernelInfo_GetEp(const OrtKernelInfo* info, const OrtEp** ep) {
  if (info->node->ep == nullptr) {
    throw Error(ORT_FAIL, "node '" + node_of(info).name + "' runs on no execution provider of a plugin");
  }
  *ep = info->node->ep;
}

}  // namespace onnx_light_ort::abi
