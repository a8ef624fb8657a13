#include "custom_op.h"

#include <algorithm>
#include <climits>
#include <string_view>
#include <utility>

#include "element_type.h"
#include "error.h"
#include "logger.h"
#include "plugin_call.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {
namespace {

using kernels::DataType;
using Gate = field::OrtCustomOp;

constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

/// Reads one descriptor into a CustomOp.
class Reader {
 public:
  Reader(const OrtCustomOp* descriptor, CustomOp& op) : descriptor_(descriptor), op_(op) {}

  void read() {
    if (descriptor_ == nullptr) refuse("the descriptor is null: pass an OrtCustomOp");
    if (descriptor_->version == 0) refuse("it declares version 0: set OrtCustomOp::version to ORT_API_VERSION");
    read_identity();
    read_callbacks();
    read_versions();
    op_.inputs = read_arguments(kInput);
    op_.outputs = read_arguments(kOutput);
    read_shared_buffers("GetMayInplace", Gate::GetMayInplace(descriptor_), Gate::ReleaseMayInplace(descriptor_),
                        op_.may_share);
    read_shared_buffers("GetAliasMap", Gate::GetAliasMap(descriptor_), Gate::ReleaseAliasMap(descriptor_),
                        op_.must_share);
  }

 private:
  /// The callbacks that describe one side's arguments.
  struct Side {
    const char* what;
    decltype(&Gate::GetInputTypeCount) count;
    decltype(&Gate::GetInputType) type;
    decltype(&Gate::GetInputCharacteristic) characteristic;
    decltype(&Gate::GetVariadicInputMinArity) min_arity;
    decltype(&Gate::GetVariadicInputHomogeneity) homogeneity;
    CustomOp::Variadic CustomOp::* variadic;
  };
  static constexpr Side kInput = {"Input",
                                  Gate::GetInputTypeCount,
                                  Gate::GetInputType,
                                  Gate::GetInputCharacteristic,
                                  Gate::GetVariadicInputMinArity,
                                  Gate::GetVariadicInputHomogeneity,
                                  &CustomOp::variadic_input};
  static constexpr Side kOutput = {"Output",
                                   Gate::GetOutputTypeCount,
                                   Gate::GetOutputType,
                                   Gate::GetOutputCharacteristic,
                                   Gate::GetVariadicOutputMinArity,
                                   Gate::GetVariadicOutputHomogeneity,
                                   &CustomOp::variadic_output};

  [[noreturn]] void refuse(const std::string& reason) const {
    const std::string name = op_.name.empty() ? "a custom op" : "custom op '" + op_.name + "'";
    throw Error(ORT_INVALID_ARGUMENT, name + " of domain '" + op_.domain + "' is refused: " + reason);
  }

  template <class Callback>
  Callback required(Callback callback, const char* name) const {
    if (callback == nullptr) refuse(std::string("OrtCustomOp::") + name + " is null: set it");
    return callback;
  }

  template <class Callback, class... Arguments>
  auto call(Callback callback, const char* name, Arguments... arguments) const {
    try {
      return call_plugin(name, [&] { return callback(arguments...); });
    } catch (const Error& error) {
      refuse(error.what());
    }
  }

  void read_identity() {
    const char* name = call(required(Gate::GetName(descriptor_), "GetName"), "GetName", descriptor_);
    if (name == nullptr || *name == '\0') refuse("GetName gave no name: return the operator's type");
    op_.name = name;
    const char* provider = call(required(Gate::GetExecutionProviderType(descriptor_), "GetExecutionProviderType"),
                                "GetExecutionProviderType", descriptor_);
    if (provider == nullptr || provider == kCpuProvider) return;
    if (!op_.provider.empty() && op_.provider == provider) {
      op_.only_for_provider = true;
    } else {
      op_.other_provider = provider;
    }
  }

  void read_callbacks() {
    op_.create_kernel_v2 = Gate::CreateKernelV2(descriptor_);
    op_.create_kernel = Gate::CreateKernel(descriptor_);
    op_.compute_v2 = Gate::KernelComputeV2(descriptor_);
    op_.compute = Gate::KernelCompute(descriptor_);
    op_.destroy = required(Gate::KernelDestroy(descriptor_), "KernelDestroy");
    op_.infer_shapes = Gate::InferOutputShapeFn(descriptor_);
    if (op_.create_kernel_v2 == nullptr && op_.create_kernel == nullptr) {
      refuse("nothing makes its kernel: set CreateKernelV2 (from version 16 on) or CreateKernel");
    }
    if (op_.compute_v2 == nullptr && op_.compute == nullptr) {
      refuse("nothing computes it: set KernelComputeV2 (from version 16 on) or KernelCompute");
    }
  }

  void read_versions() {
    op_.end_version = INT_MAX;
    if (const auto start = Gate::GetStartVersion(descriptor_)) {
      op_.start_version = call(start, "GetStartVersion", descriptor_);
      // The end counts only beside a start, as in ORT.
      if (const auto end = Gate::GetEndVersion(descriptor_)) op_.end_version = call(end, "GetEndVersion", descriptor_);
    }
    if (op_.start_version < 0 || op_.end_version < op_.start_version) {
      refuse("its versions " + std::to_string(op_.start_version) + " to " + std::to_string(op_.end_version) +
             " are no range: start at 0 or later and end no earlier than that");
    }
  }

  std::vector<CustomOp::Argument> read_arguments(const Side& side) {
    const std::string get = std::string("Get") + side.what;
    const std::string count_name = get + "TypeCount", type_name = get + "Type", kind_name = get + "Characteristic";
    const size_t count = call(required(side.count(descriptor_), count_name.c_str()), count_name.c_str(), descriptor_);
    constexpr size_t kMost = 4096;
    if (count > kMost) {
      refuse(count_name + " says " + std::to_string(count) + ", more than any operator has: return the number of " +
             side.what + "s");
    }
    const auto get_type = side.type(descriptor_);
    if (count != 0) required(get_type, type_name.c_str());
    const auto get_kind = side.characteristic(descriptor_);
    const auto get_memory = &side == &kInput ? Gate::GetInputMemoryType(descriptor_) : nullptr;
    std::vector<CustomOp::Argument> arguments;
    for (size_t i = 0; i < count; ++i) {
      const std::string argument = std::string(side.what) + " " + std::to_string(i);
      const ONNXTensorElementDataType type = call(get_type, type_name.c_str(), descriptor_, i);
      const DataType dtype = from_abi(type);
      if (dtype == DataType::kUndefined && type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) {
        refuse(argument + " has type " + std::to_string(static_cast<int>(type)) +
               ": return a member of ONNXTensorElementDataType, UNDEFINED for any type");
      }
      auto kind = INPUT_OUTPUT_REQUIRED;
      if (get_kind != nullptr) kind = call(get_kind, kind_name.c_str(), descriptor_, i);
      // As in ORT, which takes for required what it does not know.
      if (kind != INPUT_OUTPUT_OPTIONAL && kind != INPUT_OUTPUT_VARIADIC) kind = INPUT_OUTPUT_REQUIRED;
      if (kind == INPUT_OUTPUT_VARIADIC) read_variadic(side, argument, i + 1 == count);
      auto memory = OrtMemTypeDefault;
      if (get_memory != nullptr) memory = call(get_memory, "GetInputMemoryType", descriptor_, i);
      arguments.push_back({dtype, kind, memory});
    }
    return arguments;
  }

  void read_variadic(const Side& side, const std::string& argument, bool last) {
    if (!last) refuse(argument + " is variadic and not the last one: only the last may be");
    const std::string get = std::string("GetVariadic") + side.what;
    const std::string arity_name = get + "MinArity", homogeneity_name = get + "Homogeneity";
    const auto min_arity = side.min_arity(descriptor_);
    const auto homogeneity = side.homogeneity(descriptor_);
    if (min_arity == nullptr || homogeneity == nullptr) {
      refuse(argument + " is variadic without " + arity_name + " and " + homogeneity_name +
             ": set them, in a descriptor of version 14 or later");
    }
    CustomOp::Variadic& variadic = op_.*side.variadic;
    variadic.min_arity = call(min_arity, arity_name.c_str(), descriptor_);
    variadic.homogeneous = call(homogeneity, homogeneity_name.c_str(), descriptor_) != 0;
    variadic.min_arity = std::max(variadic.min_arity, 0);
  }

  template <class Get, class Release>
  void read_shared_buffers(const char* name, Get get, Release release, std::vector<CustomOp::SharedBuffer>& pairs) {
    if (get == nullptr) return;
    if (release == nullptr) {
      refuse(std::string(name) + " is set without the callback that releases its arrays: set that as well");
    }
    int* inputs = nullptr;
    int* outputs = nullptr;
    struct ReleaseArrays {
      Release release;
      int*& inputs;
      int*& outputs;
      ~ReleaseArrays() {
        if (inputs == nullptr && outputs == nullptr) return;
        try {
          release(inputs, outputs);
        } catch (...) {
          log(default_logger(), ORT_LOGGING_LEVEL_ERROR, "a custom op threw while it released its index arrays");
        }
      }
    } release_arrays{release, inputs, outputs};
    const size_t count = call(get, name, &inputs, &outputs);
    if (count == 0) return;
    constexpr size_t kMostPairs = 4096;
    if (inputs == nullptr || outputs == nullptr || count > kMostPairs) {
      refuse(std::string(name) + " says " + std::to_string(count) +
             " pairs and gives no such arrays: fill both with one index a pair");
    }
    for (size_t i = 0; i < count; ++i) {
      // A pair of arguments that the op does not have says nothing, as in ORT.
      if (inputs[i] < 0 || static_cast<size_t>(inputs[i]) >= op_.inputs.size() || outputs[i] < 0 ||
          static_cast<size_t>(outputs[i]) >= op_.outputs.size()) {
        continue;
      }
      pairs.push_back({static_cast<size_t>(inputs[i]), static_cast<size_t>(outputs[i])});
    }
  }

  const OrtCustomOp* const descriptor_;
  CustomOp& op_;
};

std::string signature_of(const CustomOp& op) {
  std::string text = (op.domain.empty() ? "ai.onnx" : op.domain) + ":" + op.name + "(";
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (i != 0) text += ", ";
    text += op.inputs[i].type == DataType::kUndefined ? "any" : kernels::data_type_name(op.inputs[i].type);
    if (op.inputs[i].characteristic == INPUT_OUTPUT_OPTIONAL) text += "?";
    if (op.inputs[i].characteristic == INPUT_OUTPUT_VARIADIC) text += "...";
  }
  text += ") of version " + std::to_string(op.start_version);
  if (op.end_version == INT_MAX) return text + " and later";
  return op.end_version == op.start_version ? text : text + " to " + std::to_string(op.end_version);
}

bool same_arguments(const std::vector<CustomOp::Argument>& a, const std::vector<CustomOp::Argument>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.type == y.type && x.characteristic == y.characteristic;
  });
}

}  // namespace

std::shared_ptr<const CustomOp> CustomOp::read(const std::string& domain, const OrtCustomOp* descriptor,
                                               const std::string& provider, std::shared_ptr<const void> library) {
  auto op = std::make_shared<CustomOp>();
  op->domain = domain;
  op->provider = provider;
  op->descriptor = descriptor;
  op->library = std::move(library);
  Reader(descriptor, *op).read();
  op->signature = signature_of(*op);
  return op;
}

bool are_ambiguous(const CustomOp& a, const CustomOp& b) {
  return !a.other_provider && !b.other_provider && a.domain == b.domain && a.name == b.name &&
         a.start_version <= b.end_version && b.start_version <= a.end_version && same_arguments(a.inputs, b.inputs);
}

}  // namespace onnx_light_ort::abi
