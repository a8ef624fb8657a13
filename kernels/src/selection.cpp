// NonZero (where elements are true) and Compress (the slices, or elements, that a condition selects).
#include <cstring>

#include "converted_tensor.h"
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class NonZeroKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView truths = converted(context, x, DataType::kBool);
    const auto* truth = truths.as<uint8_t>();
    int64_t count = 0;
    for (int64_t i = 0; i < x.element_count; ++i) count += truth[i] != 0;
    const int64_t dims[] = {static_cast<int64_t>(x.rank), count};
    const TensorView& y = context.output(0, dims, 2);
    Dims index(x.rank, 0);
    int64_t column = 0;
    for (int64_t i = 0; i < x.element_count; ++i) {
      if (truth[i] != 0) {
        for (size_t d = 0; d < x.rank; ++d) y.as<int64_t>()[static_cast<int64_t>(d) * count + column] = index[d];
        ++column;
      }
      for (size_t d = x.rank; d-- > 0;) {
        if (++index[d] < x.dims[d]) break;
        index[d] = 0;
      }
    }
  }
};

std::unique_ptr<Kernel> make_non_zero(const Node&) { return std::make_unique<NonZeroKernel>(); }

class CompressKernel final : public Kernel {
 public:
  explicit CompressKernel(const Node& node)
      : flat_(node.attribute("axis") == nullptr), axis_(node.attribute_or<int64_t>("axis", 0)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& condition = context.required_input(1);
    const size_t axis = flat_ ? 0 : normalized_axis("Compress", axis_, x.rank);
    const int64_t extent = flat_ ? x.element_count : x.dims[axis];
    if (condition.rank != 1 || condition.element_count > extent) {
      invalid_argument("Compress: a condition of shape " + to_string(condition) + " for " + std::to_string(extent) +
                       " slices");
    }
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < condition.element_count; ++i) {
      if (condition.as<uint8_t>()[i] != 0) chosen.push_back(i);
    }
    const auto count = static_cast<int64_t>(chosen.size());
    Dims dims(x);
    if (flat_) {
      dims = Dims(&count, 1);
    } else {
      dims[axis] = count;
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t inner = flat_ ? 1 : product(x.dims, axis + 1, x.rank);
    const int64_t outer = flat_ ? 1 : product(x.dims, 0, axis);
    const size_t block = static_cast<size_t>(inner) * byte_width(x.dtype);
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t j = 0; j < count; ++j) {
        std::memcpy(y.as<char>() + static_cast<size_t>(i * count + j) * block,
                    x.as<char>() + static_cast<size_t>(i * extent + chosen[static_cast<size_t>(j)]) * block, block);
      }
    }
  }

 private:
  bool flat_;
  int64_t axis_;
};

std::unique_ptr<Kernel> make_compress(const Node& node) { return std::make_unique<CompressKernel>(node); }

}  // namespace

void register_selection(KernelRegistry& registry) {
  add_kernel(registry, "NonZero", 9, 13, {{"T", kNumericTypes + kBoolType}}, &make_non_zero);
  add_kernel(registry, "Compress", 9, 28, {{"T", kByteTypes}, {"T1", kBoolType}}, &make_compress);
}

}  // namespace onnx_light_ort::kernels
