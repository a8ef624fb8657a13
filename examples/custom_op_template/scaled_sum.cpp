// The operator my.domain::ScaledSum(a, b) = scale * (a + b), elementwise, over float tensors of one shape.
#include <onnx_light_ort/ort_abi.h>

#include <exception>
#include <vector>

namespace {

// Every function of the C API that can fail returns a status, null for success. A callback hands a status on by
// returning it; this carries it out of helper functions. No exception may leave a callback.
struct StatusError {
  OrtStatus* status;
};

void check(OrtStatus* status) {
  if (status != nullptr) throw StatusError{status};
}

// What is made once for each node, and computes any number of times, perhaps on several threads at once.
class ScaledSum {
 public:
  // Attributes are read here, not in each run. A missing one is an error status that ends up at the caller's.
  ScaledSum(const OrtApi& api, const OrtKernelInfo* info) : api_(api) {
    check(api_.KernelInfoGetAttribute_float(info, "scale", &scale_));
  }

  // The context and all that it lends end with this call.
  void compute(OrtKernelContext* context) const {
    const OrtValue *a = nullptr, *b = nullptr;
    check(api_.KernelContext_GetInput(context, 0, &a));
    check(api_.KernelContext_GetInput(context, 1, &b));
    const std::vector<int64_t> shape = shape_of(a);
    if (shape != shape_of(b)) {
      throw StatusError{api_.CreateStatus(ORT_INVALID_ARGUMENT, "ScaledSum: a and b must have one shape")};
    }
    OrtValue* y = nullptr;
    check(api_.KernelContext_GetOutput(context, 0, shape.data(), shape.size(), &y));
    const float *left = data_of(a), *right = data_of(b);
    float* sum = data_of(y);
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    for (size_t i = 0; i < count; ++i) sum[i] = scale_ * (left[i] + right[i]);
  }

 private:
  std::vector<int64_t> shape_of(const OrtValue* value) const {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    check(api_.GetTensorTypeAndShape(value, &info));
    size_t rank = 0;
    OrtStatus* status = api_.GetDimensionsCount(info, &rank);
    std::vector<int64_t> shape(rank);
    if (status == nullptr) status = api_.GetDimensions(info, shape.data(), rank);
    api_.ReleaseTensorTypeAndShapeInfo(info);
    check(status);
    return shape;
  }

  // Inputs are lent to be read only, although the function's name says otherwise.
  float* data_of(const OrtValue* value) const {
    void* data = nullptr;
    check(api_.GetTensorMutableData(const_cast<OrtValue*>(value), &data));
    return static_cast<float*>(data);
  }

  const OrtApi& api_;
  float scale_ = 0;
};

template <class Body>
OrtStatus* guarded(const OrtApi* api, Body&& body) {
  try {
    body();
    return nullptr;
  } catch (const StatusError& error) {
    return error.status;
  } catch (const std::exception& error) {
    return api->CreateStatus(ORT_RUNTIME_EXCEPTION, error.what());
  }
}

const OrtApi* the_api = nullptr;

// The descriptor says what the operator takes and gives. It has to live as long as the library.
struct Descriptor : OrtCustomOp {
  Descriptor() : OrtCustomOp{} {
    version = ORT_API_VERSION;
    GetName = [](const OrtCustomOp*) { return "ScaledSum"; };
    GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };  // the CPU
    GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 2; };
    GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
    GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
    GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
    GetOutputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
    GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    // Prefer the callbacks of version 2: those before them cannot report a failure.
    CreateKernelV2 = [](const OrtCustomOp*, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
      return guarded(api, [&] { *kernel = new ScaledSum(*api, info); });
    };
    KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
      return guarded(the_api, [&] { static_cast<const ScaledSum*>(kernel)->compute(context); });
    };
    KernelDestroy = [](void* kernel) { delete static_cast<ScaledSum*>(kernel); };
  }
};

const Descriptor scaled_sum;

// Released when the library is unloaded, after the last session that used it.
struct Domain {
  ~Domain() {
    if (handle != nullptr) the_api->ReleaseCustomOpDomain(handle);
  }
  OrtCustomOpDomain* handle = nullptr;
} domain;

}  // namespace

// Called each time that the library is registered with session options.
extern "C" ORT_EXPORT OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  the_api = base->GetApi(ORT_API_VERSION);
  if (the_api == nullptr) return nullptr;  // a host of another version, which says so itself
  return guarded(the_api, [&] {
    if (domain.handle == nullptr) {
      check(the_api->CreateCustomOpDomain("my.domain", &domain.handle));
      check(the_api->CustomOpDomain_Add(domain.handle, &scaled_sum));
    }
    check(the_api->AddCustomOpDomain(options, domain.handle));
  });
}
