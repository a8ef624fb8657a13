// CumSum and CumProd along an axis, and Trilu (one triangle of each matrix). Integers wrap around.
#include <cstring>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// T is unsigned for integers, so that sums and products wrap around.
template <class T, bool kProduct>
class CumulativeKernel final : public Kernel {
 public:
  explicit CumulativeKernel(const Node& node)
      : exclusive_(node.attribute_or<int64_t>("exclusive", 0) != 0),
        reverse_(node.attribute_or<int64_t>("reverse", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const std::vector<int64_t> axes = integers(context.required_input(1));
    if (axes.size() != 1)
      invalid_argument(std::string(kName) + ": axis has " + std::to_string(axes.size()) + " elements");
    const size_t axis = normalized_axis(kName, axes[0], x.rank);
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (y.element_count == 0) return;
    const int64_t n = x.dims[axis];
    const int64_t inner = product(x.dims, axis + 1, x.rank);
    context.parallel_for(x.element_count / n, std::max<int64_t>(1, 16384 / n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t offset = i / inner * n * inner + i % inner;
        T total(kProduct ? 1 : 0);
        for (int64_t j = 0; j < n; ++j) {
          const int64_t at = offset + (reverse_ ? n - 1 - j : j) * inner;
          const T value = x.as<T>()[at];
          const T next = kProduct ? total * value : total + value;
          y.as<T>()[at] = exclusive_ ? total : next;
          total = next;
        }
      }
    });
  }

 private:
  static constexpr const char* kName = kProduct ? "CumProd" : "CumSum";

  bool exclusive_;
  bool reverse_;
};

template <bool kProduct>
std::unique_ptr<Kernel> make_cumulative(const Node& node) {
  switch (input_type(node, 0)) {
    case DataType::kDouble:
      return std::make_unique<CumulativeKernel<double, kProduct>>(node);
    case DataType::kInt32:
    case DataType::kUInt32:
      return std::make_unique<CumulativeKernel<uint32_t, kProduct>>(node);
    case DataType::kInt64:
    case DataType::kUInt64:
      return std::make_unique<CumulativeKernel<uint64_t, kProduct>>(node);
    default:
      return std::make_unique<CumulativeKernel<float, kProduct>>(node);
  }
}

class TriluKernel final : public Kernel {
 public:
  explicit TriluKernel(const Node& node) : upper_(node.attribute_or<int64_t>("upper", 1) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView* diagonal = context.input(1);
    const int64_t k = diagonal != nullptr ? *diagonal->as<int64_t>() : 0;
    if (x.rank < 2) invalid_argument("Trilu: the input has shape " + to_string(x) + ", expected matrices");
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (y.element_count == 0) return;
    const int64_t rows = x.dims[x.rank - 2];
    const int64_t columns = x.dims[x.rank - 1];
    const auto width = static_cast<int64_t>(byte_width(x.dtype));
    context.parallel_for(
        x.element_count / columns, std::max<int64_t>(1, 16384 / columns), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            // Columns before `border` lie strictly below the k-th diagonal.
            const int64_t r = row % rows;
            const int64_t border = k > columns ? columns
                                   : k < -rows ? 0
                                               : std::clamp<int64_t>(r + k + (upper_ ? 0 : 1), 0, columns);
            const char* from = x.as<char>() + row * columns * width;
            char* to = y.as<char>() + row * columns * width;
            const auto head = static_cast<size_t>(border * width);
            const auto tail = static_cast<size_t>((columns - border) * width);
            if (upper_) {
              std::memset(to, 0, head);
              std::memcpy(to + head, from + head, tail);
            } else {
              std::memcpy(to, from, head);
              std::memset(to + head, 0, tail);
            }
          }
        });
  }

 private:
  bool upper_;
};

std::unique_ptr<Kernel> make_trilu(const Node& node) { return std::make_unique<TriluKernel>(node); }

}  // namespace

void register_cumulative(KernelRegistry& registry) {
  add_kernel(registry, "CumSum", 11, 14, {{"T", kFloatTypes + kWideIntegerTypes}, {"T2", kIndexTypes}},
             &with_half<&make_cumulative<false>>);
  add_kernel(registry, "CumProd", 26, 26, {{"T", kFloatTypes + kWideIntegerTypes}, {"T2", kIndexTypes}},
             &with_half<&make_cumulative<true>>);
  add_kernel(registry, "Trilu", 14, 14, {{"T", kByteTypes}}, &make_trilu);
}

}  // namespace onnx_light_ort::kernels
