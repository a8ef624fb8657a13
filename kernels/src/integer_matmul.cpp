// MatMulInteger and QLinearMatMul: products of 8-bit integers with zero points.
#include <algorithm>

#include "converted_tensor.h"
#include "gemm.h"
#include "matmul_shape.h"
#include "native_kernels.h"
#include "registration.h"
#include "requantize.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrain = 16384;

// Which of an operand's parameters an element takes: one for all, or one for each row (of the left operand) or column
// (of the right one), of one matrix or of all.
class ParameterIndex {
 public:
  ParameterIndex(const char* op, const char* name, const TensorView* parameters, int64_t lines, int64_t matrices) {
    const int64_t count = parameters != nullptr ? parameters->element_count : 1;
    if (count != 1 && count != lines && count != lines * matrices) {
      invalid_argument(std::string(op) + ": " + name + " has shape " + to_string(*parameters) +
                       ", expected one element or " + std::to_string(lines));
    }
    line_step_ = count == 1 ? 0 : 1;
    matrix_step_ = count == lines || count == 1 ? 0 : lines;
  }

  size_t at(int64_t matrix, int64_t line) const {
    return static_cast<size_t>(matrix * matrix_step_ + line * line_step_);
  }

 private:
  int64_t line_step_;
  int64_t matrix_step_;
};

int64_t matrices_of(const TensorView& operand) {
  return operand.rank > 2 ? product(operand.dims, 0, operand.rank - 2) : 1;
}

// Sums (A - a_zero)(B - b_zero) in int32. Differences lie in [-255, 255], so that sums of up to 256 products stay below
// 2^24 and are exact in float: the products are float's, and only the blocks of k are added as integers.
class IntegerProduct {
 public:
  /// Positions of the inputs.
  struct Inputs {
    size_t a;
    size_t b;
    size_t a_zero;
    size_t b_zero;
  };

  IntegerProduct(const Node& node, const Inputs& inputs) : op_(node.op_type), inputs_(inputs) {
    const TensorView* b = constant_input(node, inputs.b);
    const TensorView* zero = constant_input(node, inputs.b_zero);
    if (b == nullptr || (zero == nullptr && has_input(node, inputs.b_zero))) return;
    if (b->rank != 2 || b->element_count == 0) return;
    if (b->element_count * static_cast<int64_t>(sizeof(float)) > kMaxPackedBytes) return;
    const int64_t k = b->dims[0];
    const int64_t n = b->dims[1];
    std::vector<float> shifted = elements_as<float>(*b);
    const Zeros zeros(op_.c_str(), "b_zero_point", zero, n, 1);
    for (int64_t i = 0; i < b->element_count; ++i) shifted[static_cast<size_t>(i)] -= zeros.at(0, i % n);
    for (int64_t begin = 0; begin < k; begin += kExact) {
      packed_b_.push_back(
          PackedOperand<float>::right({shifted.data() + begin * n, n, 1}, std::min(kExact, k - begin), n));
    }
  }

  const char* op() const { return op_.c_str(); }

  MatMulShape shape(const RunContext& context) const {
    return MatMulShape(op_.c_str(), context.required_input(inputs_.a), context.required_input(inputs_.b));
  }

  void run(RunContext& context, const MatMulShape& shape, int32_t* out) const {
    const TensorView& a = context.required_input(inputs_.a);
    const TensorView& b = context.required_input(inputs_.b);
    const Zeros a_zeros(op(), "a_zero_point", context.input(inputs_.a_zero), shape.m, matrices_of(a));
    const Zeros b_zeros(op(), "b_zero_point", context.input(inputs_.b_zero), shape.n, matrices_of(b));
    float* left = shifted(context, a, a_zeros,
                          [&](int64_t i) { return a_zeros.at(i / shape.k / shape.m, i / shape.k % shape.m); });
    float* right = nullptr;
    if (packed_b_.empty()) {
      right = shifted(context, b, b_zeros, [&](int64_t i) { return b_zeros.at(i / shape.n / shape.k, i % shape.n); });
    }
    const bool is_one = b.rank <= 2;  // the rows of all matrices are the rows of one
    const int64_t batch = is_one ? 1 : shape.batch_count();
    const int64_t m = is_one ? shape.m * shape.batch_count() : shape.m;
    const int64_t total = m * shape.n;
    auto* sums = static_cast<float*>(context.scratch(static_cast<size_t>(total) * sizeof(float)));
    for (int64_t i = 0; i < batch; ++i, out += total) {
      const float* own_left = left + (is_one ? 0 : shape.offset_of(a, i));
      const float* own_right = packed_b_.empty() ? right + (is_one ? 0 : shape.offset_of(b, i)) : nullptr;
      std::fill_n(out, total, 0);
      for (int64_t begin = 0; begin < shape.k; begin += kExact) {
        GemmProblem<float> problem;
        problem.m = m;
        problem.n = shape.n;
        problem.k = std::min(kExact, shape.k - begin);
        problem.a = {own_left + begin, shape.k, 1};
        if (packed_b_.empty()) {
          problem.b = {own_right + begin * shape.n, shape.n, 1};
        } else {
          problem.packed_b = packed_b_[static_cast<size_t>(begin / kExact)].data();
        }
        problem.c = sums;
        problem.ldc = shape.n;
        gemm(context, problem);
        context.parallel_for(total, kGrain, [&](int64_t first, int64_t last) {
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

  class Zeros {
   public:
    Zeros(const char* op, const char* name, const TensorView* zero, int64_t lines, int64_t matrices)
        : index_(op, name, zero, lines, matrices),
          values_(zero != nullptr ? elements_as<float>(*zero) : std::vector<float>{0.0f}) {}
    float at(int64_t matrix, int64_t line) const { return values_[index_.at(matrix, line)]; }
    bool is_one() const { return values_.size() == 1; }

   private:
    ParameterIndex index_;
    std::vector<float> values_;
  };

  // x - zero as float; zero_at(i) is the zero point of element i where there are several.
  template <class ZeroAt>
  static float* shifted(RunContext& context, const TensorView& x, const Zeros& zeros, ZeroAt&& zero_at) {
    auto* to = static_cast<float*>(context.scratch(static_cast<size_t>(x.element_count) * sizeof(float)));
    const ElementConversion conversion(x.dtype, DataType::kFloat);
    context.parallel_for((x.element_count + kCarriedBlock - 1) / kCarriedBlock, kGrain / kCarriedBlock,
                         [&](int64_t begin, int64_t end) {
                           const int64_t first = begin * kCarriedBlock;
                           const int64_t last = std::min(end * kCarriedBlock, x.element_count);
                           conversion.run(x.data, to, first, last - first);
                           if (zeros.is_one()) {
                             const float zero = zeros.at(0, 0);
                             for (int64_t i = first; i < last; ++i) to[i] -= zero;
                           } else {
                             for (int64_t i = first; i < last; ++i) to[i] -= zero_at(i);
                           }
                         });
    return to;
  }

  std::string op_;
  Inputs inputs_;
  std::vector<PackedOperand<float>> packed_b_;  ///< A constant right operand less its zero points, in blocks of k.
};

class MatMulIntegerKernel final : public Kernel {
 public:
  explicit MatMulIntegerKernel(const Node& node) : product_(node, {0, 1, 2, 3}) {}

  void compute(RunContext& context) override {
    const MatMulShape shape = product_.shape(context);
    const TensorView& y = context.output(0, shape.out.data(), shape.out.size());
    if (y.element_count != 0) product_.run(context, shape, y.as<int32_t>());
  }

 private:
  IntegerProduct product_;
};

class QLinearMatMulKernel final : public Kernel {
 public:
  explicit QLinearMatMulKernel(const Node& node) : product_(node, {0, 3, 2, 5}) {}

  void compute(RunContext& context) override {
    const MatMulShape shape = product_.shape(context);
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(3);
    const TensorView& a_scale = context.required_input(1);
    const TensorView& b_scale = context.required_input(4);
    const TensorView& y_scale = context.required_input(6);
    const TensorView* y_zero = context.input(7);
    const char* op = product_.op();
    const ParameterIndex a_index(op, "a_scale", &a_scale, shape.m, matrices_of(a));
    const ParameterIndex b_index(op, "b_scale", &b_scale, shape.n, matrices_of(b));
    if (y_scale.element_count != 1 || (y_zero != nullptr && y_zero->element_count != 1)) {
      fail(ErrorKind::kNotImplemented, "QLinearMatMul: y_scale and y_zero_point of more than one element");
    }
    const std::vector<float> a_scales = elements_as<float>(a_scale);
    const std::vector<float> b_scales = elements_as<float>(b_scale);
    const float to = elements_as<float>(y_scale)[0];
    const int32_t zero = y_zero != nullptr ? elements_as<int32_t>(*y_zero)[0] : 0;
    const TensorView& y = context.output(0, shape.out.data(), shape.out.size());
    if (y.element_count == 0) return;
    auto* sums = static_cast<int32_t*>(context.scratch(static_cast<size_t>(y.element_count) * sizeof(int32_t)));
    product_.run(context, shape, sums);
    const int64_t n = shape.n;
    // Which of an operand's own matrices belongs to the index-th of the batch.
    const auto matrix_of = [&shape](const TensorView& operand, int64_t index) {
      const int64_t size = operand.rank > 1 ? operand.dims[operand.rank - 2] * operand.dims[operand.rank - 1] : 1;
      return shape.offset_of(operand, index) / std::max<int64_t>(1, size);
    };
    context.parallel_for(y.element_count / n, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
      std::vector<float> scales(static_cast<size_t>(n));
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row / shape.m;
        const float left = a_scales[a_index.at(matrix_of(a, i), row % shape.m)];
        const int64_t matrix = matrix_of(b, i);
        for (int64_t j = 0; j < n; ++j) scales[static_cast<size_t>(j)] = left * b_scales[b_index.at(matrix, j)] / to;
        requantize<true>(sums + row * n, y, row * n, n, scales.data(), zero);
      }
    });
  }

 private:
  IntegerProduct product_;
};

std::unique_ptr<Kernel> make_matmul_integer(const Node& node) { return std::make_unique<MatMulIntegerKernel>(node); }
std::unique_ptr<Kernel> make_qlinear_matmul(const Node& node) { return std::make_unique<QLinearMatMulKernel>(node); }

}  // namespace

void register_integer_matmul(KernelRegistry& registry) {
  const TypeList bytes = {DataType::kInt8, DataType::kUInt8};
  const TypeList scales = {DataType::kFloat, DataType::kFloat16, DataType::kBFloat16};
  add_kernel(registry, "MatMulInteger", 10, 10, {{"T1", bytes}, {"T2", bytes}}, &make_matmul_integer);
  add_kernel(registry, "QLinearMatMul", 10, 10, {{"T1", bytes}, {"T2", bytes}, {"T3", bytes}}, &make_qlinear_matmul);
  add_kernel(registry, "QLinearMatMul", 21, 21, {{"TS", scales}, {"T1", bytes}, {"T2", bytes}, {"T3", bytes}},
             &make_qlinear_matmul);
}

}  // namespace onnx_light_ort::kernels
