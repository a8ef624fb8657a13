// A kernel that is created and ready, with what it borrows: the common part of an EP's kernel and a custom op's.
#pragma once

#include "kernel_catalogue.h"
#include "node_description.h"
#include "run_context.h"

namespace onnx_light_ort::reverse {

class PreparedKernel {
 public:
  /// Throws kernels::Error, naming the node, where no kernel serves it or the kernel refuses it. What `environment`
  /// borrows must outlive the kernel.
  PreparedKernel(const CallEnvironment& environment, const KernelCatalogue& catalogue, const OperatorSchema& schema,
                 DescribedNode described);

  void compute(OrtKernelContext* context);

 private:
  CallEnvironment environment_;
  DescribedNode described_;
  std::unique_ptr<kernels::Kernel> kernel_;
};

}  // namespace onnx_light_ort::reverse
