#include "custom_ops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "element_type.h"
#include "kernel_catalogue.h"
#include "onnx_light_ort/kernels/error.h"
#include "prepared_kernel.h"
#include "shape_probe.h"

namespace onnx_light_ort::reverse {
namespace {

using kernels::DataType;

// Attributes of a node that reverse.rewrite adds to those of the operator: which version of the operator is meant (the
// newest, where it is left out), the element types of the outputs, by ONNX's numbers, and which of the operator's
// inputs the node's are, where it leaves some out.
constexpr const char* kVersionAttribute = "since_version";
constexpr const char* kOutputTypesAttribute = "output_types";
constexpr const char* kInputPositionsAttribute = "input_positions";

struct Runtime {
  explicit Runtime(const Api& given);

  Api api;
  KernelCatalogue catalogue;
  CopyCount copied;
  Owned<OrtMemoryInfo> cpu;
  CallEnvironment environment;
};

class CustomOp : public OrtCustomOp {
 public:
  CustomOp(Runtime& runtime, const std::string& domain, const std::string& op_type);

 private:
  const OperatorSchema& schema_of_version(int64_t since_version) const;
  void* create(const OrtKernelInfo* info) const;
  void infer(OrtShapeInferContext* context) const;

  Runtime& runtime_;
  const std::string name_;
  const std::vector<const OperatorSchema*> schemas_;
};

struct CustomOpKernel {
  const Api& api;
  PreparedKernel prepared;
};

OrtMemoryInfo* cpu_memory(const Api& api) {
  OrtMemoryInfo* made = nullptr;
  check(api, api.ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &made));
  return made;
}

Runtime::Runtime(const Api& given)
    : api(given), cpu(cpu_memory(api), api.ort->ReleaseMemoryInfo), environment{api, cpu.get(), copied} {}

CustomOp::CustomOp(Runtime& runtime, const std::string& domain, const std::string& op_type)
    : OrtCustomOp{},
      runtime_(runtime),
      name_(domain.empty() ? op_type : domain + "." + op_type),
      schemas_(runtime.catalogue.schemas().versions(domain, op_type)) {
  version = runtime.api.version;
  OrtCustomOp::GetName = [](const OrtCustomOp* op) noexcept { return static_cast<const CustomOp*>(op)->name_.c_str(); };
  OrtCustomOp::GetExecutionProviderType = [](const OrtCustomOp*) noexcept { return static_cast<const char*>(nullptr); };
  // One list of inputs and one of outputs, of any types and without gaps: of single ones, runtimes guess types or
  // refuse to leave them open, and some crash where an optional one is absent.
  OrtCustomOp::GetInputTypeCount = [](const OrtCustomOp* op) noexcept {
    return static_cast<const CustomOp*>(op)->schemas_.back()->inputs.empty() ? size_t{0} : size_t{1};
  };
  OrtCustomOp::GetOutputTypeCount = [](const OrtCustomOp*) noexcept { return size_t{1}; };
  OrtCustomOp::GetInputCharacteristic = [](const OrtCustomOp*, size_t) noexcept { return INPUT_OUTPUT_VARIADIC; };
  OrtCustomOp::GetOutputCharacteristic = [](const OrtCustomOp*, size_t) noexcept { return INPUT_OUTPUT_VARIADIC; };
  // Of any type: kernels are matched when they are created.
  OrtCustomOp::GetInputType = [](const OrtCustomOp*, size_t) noexcept {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  };
  OrtCustomOp::GetOutputType = [](const OrtCustomOp*, size_t) noexcept {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  };
  OrtCustomOp::GetInputMemoryType = [](const OrtCustomOp*, size_t) noexcept { return OrtMemTypeDefault; };
  OrtCustomOp::GetVariadicInputMinArity = [](const OrtCustomOp*) noexcept { return 1; };
  OrtCustomOp::GetVariadicInputHomogeneity = [](const OrtCustomOp*) noexcept { return 0; };
  OrtCustomOp::GetVariadicOutputMinArity = [](const OrtCustomOp*) noexcept { return 1; };
  OrtCustomOp::GetVariadicOutputHomogeneity = [](const OrtCustomOp*) noexcept { return 0; };
  OrtCustomOp::GetStartVersion = [](const OrtCustomOp*) noexcept { return 1; };
  OrtCustomOp::GetEndVersion = [](const OrtCustomOp*) noexcept { return std::numeric_limits<int>::max(); };
  OrtCustomOp::CreateKernelV2 = [](const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo* info,
                                   void** kernel) noexcept {
    const auto* self = static_cast<const CustomOp*>(op);
    *kernel = nullptr;
    return fenced(self->runtime_.api, [&] { *kernel = self->create(info); });
  };
  OrtCustomOp::KernelComputeV2 = [](void* kernel, OrtKernelContext* context) noexcept {
    auto* self = static_cast<CustomOpKernel*>(kernel);
    return fenced(self->api, [&] { self->prepared.compute(context); });
  };
  OrtCustomOp::KernelDestroy = [](void* kernel) noexcept { delete static_cast<CustomOpKernel*>(kernel); };
  OrtCustomOp::InferOutputShapeFn = [](const OrtCustomOp* op, OrtShapeInferContext* context) noexcept {
    const auto* self = static_cast<const CustomOp*>(op);
    return fenced(self->runtime_.api, [&] { self->infer(context); });
  };
}

const OperatorSchema& CustomOp::schema_of_version(int64_t since_version) const {
  const auto found = std::find_if(schemas_.begin(), schemas_.end(),
                                  [&](const OperatorSchema* schema) { return schema->since_version == since_version; });
  if (found == schemas_.end()) {
    kernels::invalid_argument(name_ + ": no version " + std::to_string(since_version) +
                              " of the operator is known; attribute since_version is that of its schema in ONNX");
  }
  return **found;
}

void* CustomOp::create(const OrtKernelInfo* info) const {
  const Api& api = runtime_.api;
  int64_t since_version = schemas_.back()->since_version;
  succeeded(api, api.ort->KernelInfoGetAttribute_int64(info, kVersionAttribute, &since_version));
  const OperatorSchema& schema = schema_of_version(since_version);
  return new CustomOpKernel{
      api, {runtime_.environment, runtime_.catalogue, schema, describe(api, info, schema, kInputPositionsAttribute)}};
}

void CustomOp::infer(OrtShapeInferContext* context) const {
  const Api& api = runtime_.api;
  const std::vector<int64_t> version = read_integers(api, context, kVersionAttribute);
  const OperatorSchema& schema = schema_of_version(version.empty() ? schemas_.back()->since_version : version[0]);
  SymbolicNode described = describe(api, context, schema, read_integers(api, context, kInputPositionsAttribute));
  for (const int64_t type : read_integers(api, context, kOutputTypesAttribute)) {
    described.node.output_types.push_back(static_cast<DataType>(type));
  }
  if (described.node.output_types.empty()) described.node.output_types = types_by_parameters(schema, described.node);
  std::string reason;
  const kernels::KernelEntry* entry = runtime_.catalogue.find(schema, described, reason);
  // Without an answer the runtime takes what the model declares; the kernel's creation reports what is wrong.
  if (entry == nullptr) return;
  const std::optional<std::vector<SymbolicShape>> shapes = probe_shapes(*entry, described);
  if (shapes) set_shapes(api, context, described.node.output_types, *shapes);
}

// Owned by the library: see add_custom_ops.
struct Domain {
  explicit Domain(const Api& api) : runtime(api), handle(nullptr, api.ort->ReleaseCustomOpDomain) {
    OrtCustomOpDomain* made = nullptr;
    check(api, api.ort->CreateCustomOpDomain(kCustomOpDomain, &made));
    handle.reset(made);
    std::set<std::pair<std::string, std::string>> names;
    for (const kernels::KernelEntry& entry : runtime.catalogue.entries()) names.emplace(entry.domain, entry.op_type);
    for (const auto& [domain, op_type] : names) {
      if (runtime.catalogue.schemas().versions(domain, op_type).empty()) continue;
      ops.push_back(std::make_unique<CustomOp>(runtime, domain, op_type));
      check(api, api.ort->CustomOpDomain_Add(made, ops.back().get()));
    }
  }

  Runtime runtime;
  std::vector<std::unique_ptr<CustomOp>> ops;
  Owned<OrtCustomOpDomain> handle;
};

}  // namespace

void add_custom_ops(const OrtApiBase& base, const Api& api, OrtSessionOptions* options) {
  static std::mutex mutex;
  static std::map<const OrtApiBase*, std::unique_ptr<Domain>> domains;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Domain>& domain = domains[&base];
  if (domain == nullptr) domain = std::make_unique<Domain>(api);
  check(api, api.ort->AddCustomOpDomain(options, domain->handle.get()));
}

}  // namespace onnx_light_ort::reverse
