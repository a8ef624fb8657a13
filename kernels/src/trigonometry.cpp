// Tan, Asin, Acos, Atan and the hyperbolic functions, by the C library.
#include <cmath>

#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

struct Function {
  const char* op_type;
  int first_version;
  float (*in_float)(float);
  double (*in_double)(double);
};

constexpr Function kFunctions[] = {{"Tan", 7, &std::tan, &std::tan},       {"Asin", 7, &std::asin, &std::asin},
                                   {"Acos", 7, &std::acos, &std::acos},    {"Atan", 7, &std::atan, &std::atan},
                                   {"Sinh", 9, &std::sinh, &std::sinh},    {"Cosh", 9, &std::cosh, &std::cosh},
                                   {"Asinh", 9, &std::asinh, &std::asinh}, {"Acosh", 9, &std::acosh, &std::acosh},
                                   {"Atanh", 9, &std::atanh, &std::atanh}};

template <class T>
class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(T (*function)(T)) : function_(function) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    context.parallel_for(x.element_count, kCostlyGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y.as<T>()[i] = function_(x.as<T>()[i]);
    });
  }

 private:
  T (*function_)(T);
};

std::unique_ptr<Kernel> make_function(const Node& node) {
  for (const Function& function : kFunctions) {
    if (node.op_type != function.op_type) continue;
    if (input_type(node, 0) == DataType::kDouble) {
      return std::make_unique<FunctionKernel<double>>(function.in_double);
    }
    return std::make_unique<FunctionKernel<float>>(function.in_float);
  }
  decline(node, "no such function");
}

}  // namespace

void register_trigonometry(KernelRegistry& registry) {
  for (const Function& function : kFunctions) {
    add_kernel(registry, function.op_type, function.first_version, 22, {{"T", kFloatTypes}},
               &with_half<&make_function>);
  }
}

}  // namespace onnx_light_ort::kernels
