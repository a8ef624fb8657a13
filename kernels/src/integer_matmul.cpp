// MatMulInteger: products of 8-bit integers with zero points.
#include <algorithm>

#include "dims.h"
#include "gemm.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrain = 16384;

// Y = (A - a_zero)(B - b_zero) in int32. Differences lie in [-255, 255], so that sums of up to 256 products stay below
// 2^24 and are exact in float: the products are float's, and only the blocks of k are added as integers.
class MatMulIntegerKernel final : public Kernel {
 public:
  explicit MatMulIntegerKernel(const Node& node)
      : a_signed_(input_type(node, 0) == DataType::kInt8), b_signed_(input_type(node, 1) == DataType::kInt8) {}

  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    if (a.rank < 1 || b.rank < 1 || (b.rank > 2 && a.rank != b.rank)) {
      fail(ErrorKind::kNotImplemented, "MatMulInteger: shapes " + to_string(a) + " and " + to_string(b));
    }
    const int64_t k = a.dims[a.rank - 1];
    const int64_t n = b.rank > 1 ? b.dims[b.rank - 1] : 1;
    const int64_t batch = b.rank > 2 ? product(b.dims, 0, b.rank - 2) : 1;
    bool fits = k == b.dims[b.rank > 1 ? b.rank - 2 : 0];
    for (size_t d = 0; fits && b.rank > 2 && d + 2 < b.rank; ++d) fits = a.dims[d] == b.dims[d];
    if (!fits) invalid_argument("MatMulInteger: shapes " + to_string(a) + " and " + to_string(b) + " do not agree");
    Dims dims(a.dims, a.rank - 1);
    if (b.rank > 1) dims.push_back(n);
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t m = y.element_count / n / batch;
    const auto allocate = [&](int64_t count) {
      return static_cast<float*>(context.scratch(static_cast<size_t>(count) * sizeof(float)));
    };
    float* left = allocate(a.element_count);
    float* right = allocate(b.element_count);
    float* sums = allocate(m * n);
    // The zero point of A is one, or one a row; that of B one, or one a column.
    shift(context, a, context.input(2), a_signed_, m * batch, k, left);
    shift(context, b, context.input(3), b_signed_, n, 1, right);
    for (int64_t i = 0; i < batch; ++i) {
      int32_t* out = y.as<int32_t>() + i * m * n;
      std::fill_n(out, m * n, 0);
      for (int64_t begin = 0; begin < k; begin += kExact) {
        GemmProblem<float> problem;
        problem.m = m;
        problem.n = n;
        problem.k = std::min(kExact, k - begin);
        problem.a = {left + i * m * k + begin, k, 1};
        problem.b = {right + (i * k + begin) * n, n, 1};
        problem.c = sums;
        problem.ldc = n;
        gemm(context, problem);
        context.parallel_for(m * n, kGrain, [&](int64_t first, int64_t last) {
          for (int64_t j = first; j < last; ++j) {
            out[j] = static_cast<int32_t>(static_cast<uint32_t>(out[j]) +
                                          static_cast<uint32_t>(static_cast<int32_t>(sums[j])));
          }
        });
      }
    }
  }

 private:
  static constexpr int64_t kExact = 256;

  // x - zero as float; element i takes zero point i / run % lines of `lines`.
  static void shift(RunContext& context, const TensorView& x, const TensorView* zero, bool is_signed, int64_t lines,
                    int64_t run, float* to) {
    if (zero != nullptr && zero->element_count != 1 && zero->element_count != lines) {
      fail(ErrorKind::kNotImplemented, "MatMulInteger: a zero point of shape " + to_string(*zero));
    }
    const auto value = [is_signed](const TensorView& view, int64_t i) {
      return static_cast<float>(is_signed ? static_cast<int32_t>(view.as<int8_t>()[i])
                                          : static_cast<int32_t>(view.as<uint8_t>()[i]));
    };
    const bool single = zero == nullptr || zero->element_count == 1;
    const float only = zero == nullptr ? 0.0f : value(*zero, 0);
    context.parallel_for(x.element_count, kGrain, [&](int64_t begin, int64_t end) {
      if (single && is_signed) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(x.as<int8_t>()[i]) - only;
      } else if (single) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(x.as<uint8_t>()[i]) - only;
      } else {
        for (int64_t i = begin; i < end; ++i) to[i] = value(x, i) - value(*zero, i / run % lines);
      }
    });
  }

  bool a_signed_;
  bool b_signed_;
};

std::unique_ptr<Kernel> make_matmul_integer(const Node& node) { return std::make_unique<MatMulIntegerKernel>(node); }

}  // namespace

void register_integer_matmul(KernelRegistry& registry) {
  const TypeList bytes = {DataType::kInt8, DataType::kUInt8};
  add_kernel(registry, "MatMulInteger", 10, 10, {{"T1", bytes}, {"T2", bytes}}, &make_matmul_integer);
}

}  // namespace onnx_light_ort::kernels
