// TopK along one axis. Of equal elements, the one with the lower index comes first; NaN is larger than any number.
#include <algorithm>
#include <cstring>

#include "converted_tensor.h"
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

// Unsigned integers in the order of the values, -0 with 0.
uint64_t key_of(float x) {
  if (x != x) return ~uint64_t{0};
  const auto bits = bits_as<uint32_t>(x + 0.0f);
  return (bits >> 31) != 0 ? static_cast<uint32_t>(~bits) : bits | 0x80000000u;
}

uint64_t key_of(double x) {
  if (x != x) return ~uint64_t{0};
  const auto bits = bits_as<uint64_t>(x + 0.0);
  return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
}

uint64_t key_of(int64_t x) { return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63); }
uint64_t key_of(uint64_t x) { return x; }

struct Candidate {
  uint64_t key;
  int64_t index;
  bool operator<(const Candidate& other) const { return key != other.key ? key < other.key : index < other.index; }
};

template <class T>
void list_candidates(const void* data, int64_t first, int64_t stride, int64_t n, bool largest, Candidate* out) {
  const T* x = static_cast<const T*>(data) + first;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = key_of(x[i * stride]);
    out[i] = {largest ? ~key : key, i};
  }
}

// A type with a key that holds every value of `type`.
DataType comparable(DataType type) {
  switch (carrier_of(type)) {
    case DataType::kFloat:
    case DataType::kDouble:
    case DataType::kUInt64:
      return carrier_of(type);
    default:
      return DataType::kInt64;
  }
}

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const Node& node)
      : axis_(node.attribute_or<int64_t>("axis", -1)),
        largest_(node.attribute_or<int64_t>("largest", 1) != 0),
        count_(node.since_version < 10 ? node.attribute_or<int64_t>("k", -1) : -1) {
    list_ = dispatch<float, double, int64_t, uint64_t>(
        comparable(input_type(node, 0)), [](auto tag) { return &list_candidates<typename decltype(tag)::type>; });
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const size_t axis = normalized_axis("TopK", axis_, x.rank);
    const int64_t n = x.dims[axis];
    int64_t k = count_;
    if (const TensorView* given = context.input(1)) {
      if (given->element_count != 1) invalid_argument("TopK: K has shape " + to_string(*given) + ", expected [1]");
      k = *given->as<int64_t>();
    }
    if (k < 0 || k > n) {
      invalid_argument("TopK: K is " + std::to_string(k) + " for " + std::to_string(n) + " elements along axis " +
                       std::to_string(axis));
    }
    Dims dims(x);
    dims[axis] = k;
    const TensorView& values = context.output(0, dims.data(), dims.size());
    const TensorView& indices = context.output(1, dims.data(), dims.size());
    if (values.element_count == 0) return;
    const TensorView keys = converted(context, x, comparable(x.dtype));
    const int64_t inner = product(x.dims, axis + 1, x.rank);
    const size_t width = byte_width(x.dtype);
    const int64_t lines = x.element_count / n;
    const int64_t grain = std::max<int64_t>({1, 2048 / n, (lines + 15) / 16});  // at most 16 ranges
    const int64_t slots = (lines + grain - 1) / grain;
    auto* scratch = static_cast<Candidate*>(context.scratch(static_cast<size_t>(slots * n) * sizeof(Candidate)));
    context.parallel_for(lines, grain, [&](int64_t begin, int64_t end) {
      Candidate* candidates = scratch + begin / grain * n;
      for (int64_t line = begin; line < end; ++line) {
        const int64_t first = line / inner * n * inner + line % inner;
        list_(keys.data, first, inner, n, largest_, candidates);
        if (k < n) std::nth_element(candidates, candidates + k, candidates + n);
        std::sort(candidates, candidates + k);
        const int64_t to = line / inner * k * inner + line % inner;
        for (int64_t i = 0; i < k; ++i) {
          const int64_t index = candidates[i].index;
          indices.as<int64_t>()[to + i * inner] = index;
          std::memcpy(values.as<char>() + static_cast<size_t>(to + i * inner) * width,
                      x.as<char>() + static_cast<size_t>(first + index * inner) * width, width);
        }
      }
    });
  }

 private:
  int64_t axis_;
  bool largest_;
  int64_t count_;
  void (*list_)(const void*, int64_t, int64_t, int64_t, bool, Candidate*);
};

std::unique_ptr<Kernel> make_top_k(const Node& node) { return std::make_unique<TopKKernel>(node); }

}  // namespace

void register_top_k(KernelRegistry& registry) {
  add_kernel(registry, "TopK", 1, 24, {{"T", kNumericTypes}}, &make_top_k);
}

}  // namespace onnx_light_ort::kernels
