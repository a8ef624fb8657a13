// MatMul (numpy's rules for ranks and batches) and Gemm. Integers wrap around.
#include <optional>

#include "broadcast.h"
#include "gemm.h"
#include "matmul_shape.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// The last two dimensions of a view of rank 2 or more.
template <class T>
Matrix<T> matrix_of(const TensorView& view) {
  const int64_t columns = view.dims[view.rank - 1];
  if (view.is_dense()) return {view.as<T>(), columns, 1};
  return {view.as<T>(), view.strides[view.rank - 2], columns == 1 ? 1 : view.strides[view.rank - 1]};
}

// Whether the matrices of a batch lie below each other as one matrix.
bool is_one_matrix(const TensorView& view) {
  if (view.is_dense() || view.rank <= 2) return true;
  int64_t stride = view.strides[view.rank - 2] * view.dims[view.rank - 2];
  for (size_t d = view.rank - 2; d-- > 0;) {
    if (view.dims[d] != 1 && view.strides[d] != stride) return false;
    stride *= view.dims[d];
  }
  return true;
}

template <class T>
class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(const Node& node) {
    const TensorView* b = constant_input(node, 1);
    if (b == nullptr || b->rank != 2 || b->element_count == 0) return;
    if (b->element_count * static_cast<int64_t>(sizeof(T)) > kMaxPackedBytes) return;
    packed_b_ = PackedOperand<T>::right({b->as<T>(), b->dims[1], 1}, b->dims[0], b->dims[1]);
  }

  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    const MatMulShape shape("MatMul", a, b);
    const TensorView& out = context.output(0, shape.out.data(), shape.out.size());
    GemmProblem<T> problem;
    problem.m = shape.m;
    problem.n = shape.n;
    problem.k = shape.k;
    problem.a = left(a);
    problem.b = right(b);
    problem.packed_b = packed_b_.data();
    problem.c = out.as<T>();
    problem.ldc = shape.n;
    int64_t batch = shape.batch_count();
    if (b.rank <= 2 && is_one_matrix(a)) {  // fast path: the rows of all matrices are the rows of one
      problem.m *= batch;
      batch = 1;
    }
    gemm_batch(context, problem, batch, [&](int64_t i) {
      GemmProblem<T> one = problem;
      if (batch > 1) {
        one.a.data += shape.offset_of(a, i);
        one.b.data += shape.offset_of(b, i);
      }
      one.c += i * shape.m * shape.n;
      return one;
    });
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  // A vector on the left is a row, one on the right a column.
  static Matrix<T> left(const TensorView& a) {
    if (a.rank > 1) return matrix_of<T>(a);
    return {a.as<T>(), 0, a.is_dense() || a.dims[0] == 1 ? 1 : a.strides[0]};
  }
  static Matrix<T> right(const TensorView& b) {
    if (b.rank > 1) return matrix_of<T>(b);
    return {b.as<T>(), b.is_dense() ? 1 : b.strides[0], 1};
  }

  PackedOperand<T> packed_b_;
};

// T is unsigned, so that overflow wraps around; signed tensors have the same bits.
template <class T>
class IntegerMatMulKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    const MatMulShape shape("MatMul", a, b);
    const TensorView& out = context.output(0, shape.out.data(), shape.out.size());
    context.parallel_for(shape.batch_count() * shape.m, 16, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row / shape.m;
        const T* from_a = a.as<T>() + shape.offset_of(a, i) + row % shape.m * shape.k;
        const T* from_b = b.as<T>() + shape.offset_of(b, i);
        T* to = out.as<T>() + row * shape.n;
        std::fill_n(to, shape.n, T(0));
        for (int64_t k = 0; k < shape.k; ++k) {
          for (int64_t j = 0; j < shape.n; ++j) to[j] += from_a[k] * from_b[k * shape.n + j];
        }
      }
    });
  }
};

std::unique_ptr<Kernel> make_matmul(const Node& node) {
  switch (input_type(node, 0)) {
    case DataType::kDouble:
      return std::make_unique<MatMulKernel<double>>(node);
    case DataType::kInt32:
    case DataType::kUInt32:
      return std::make_unique<IntegerMatMulKernel<uint32_t>>();
    case DataType::kInt64:
    case DataType::kUInt64:
      return std::make_unique<IntegerMatMulKernel<uint64_t>>();
    default:
      return std::make_unique<MatMulKernel<float>>(node);
  }
}

// Dimensions of Y = alpha A' B' + beta C.
struct GemmShape {
  int64_t m;
  int64_t n;
  int64_t k;

  GemmShape(const TensorView& a, const TensorView& b, const TensorView* c, bool transpose_a, bool transpose_b) {
    if (a.rank != 2 || b.rank != 2) {
      invalid_argument("Gemm: A and B have shapes " + to_string(a) + " and " + to_string(b) + ", expected matrices");
    }
    m = a.dims[transpose_a ? 1 : 0];
    k = a.dims[transpose_a ? 0 : 1];
    n = b.dims[transpose_b ? 0 : 1];
    if (k != b.dims[transpose_b ? 1 : 0]) {
      invalid_argument("Gemm: shapes " + to_string(a) + " and " + to_string(b) + " do not agree");
    }
    if (c == nullptr) return;
    bool fits = c->rank <= 2;
    for (size_t from_back = 0; fits && from_back < c->rank; ++from_back) {
      const int64_t own = c->dims[c->rank - 1 - from_back];
      fits = own == 1 || own == (from_back == 0 ? n : m);
    }
    if (!fits) {
      invalid_argument("Gemm: C has shape " + to_string(*c) + ", which does not broadcast to " + to_string(dims()));
    }
  }

  Dims dims() const { return Dims(std::array<int64_t, 2>{m, n}.data(), 2); }
};

// C is broadcast to Y from the right.
template <class T>
class GemmKernel final : public Kernel {
 public:
  explicit GemmKernel(const Node& node)
      : alpha_(static_cast<T>(node.attribute_or("alpha", 1.0f))),
        beta_(static_cast<T>(node.attribute_or("beta", 1.0f))),
        transpose_a_(node.attribute_or<int64_t>("transA", 0) != 0),
        transpose_b_(node.attribute_or<int64_t>("transB", 0) != 0) {
    const TensorView* b = constant_input(node, 1);
    if (b == nullptr || b->rank != 2 || b->element_count == 0) return;
    if (b->element_count * static_cast<int64_t>(sizeof(T)) > kMaxPackedBytes) return;
    packed_b_ = PackedOperand<T>::right(operand(*b, transpose_b_), b->dims[transpose_b_ ? 1 : 0],
                                        b->dims[transpose_b_ ? 0 : 1]);
  }

  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    const TensorView* c = beta_ == T(0) ? nullptr : context.input(2);
    const GemmShape shape(a, b, c, transpose_a_, transpose_b_);
    GemmProblem<T> problem;
    problem.m = shape.m;
    problem.k = shape.k;
    problem.n = shape.n;
    const Dims dims = shape.dims();
    const TensorView& y = context.output(0, dims.data(), dims.size());
    problem.a = operand(a, transpose_a_);
    problem.b = operand(b, transpose_b_);
    problem.packed_b = packed_b_.data();
    problem.c = y.as<T>();
    problem.ldc = problem.n;

    const bool is_row = c != nullptr && c->is_dense() && c->element_count == problem.n && c->rank > 0 &&
                        c->dims[c->rank - 1] == problem.n;
    if (is_row && alpha_ == T(1) && beta_ == T(1)) {  // fast path: a bias
      problem.column_bias = c->as<T>();
      gemm(context, problem);
      return;
    }
    if (c != nullptr && alpha_ == T(1)) {
      fill_with_c(*c, y, dims);
      problem.accumulate = true;
      gemm(context, problem);
      return;
    }
    gemm(context, problem);
    if (alpha_ == T(1)) return;
    for (int64_t i = 0; i < y.element_count; ++i) y.as<T>()[i] *= alpha_;
    if (c == nullptr) return;
    for_c(*c, dims, y.element_count, [&](int64_t position, T value) { y.as<T>()[position] += beta_ * value; });
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  static Matrix<T> operand(const TensorView& view, bool transpose) {
    const Matrix<T> matrix = matrix_of<T>(view);
    return transpose ? Matrix<T>{matrix.data, matrix.column_stride, matrix.row_stride} : matrix;
  }

  template <class Visit>
  static void for_c(const TensorView& c, const Dims& dims, int64_t total, Visit&& visit) {
    if (total == 0) return;
    const BroadcastPlan<1> plan(dims, {&c});
    plan.for_each_run(0, total, [&](const std::array<int64_t, 1>& offsets, int64_t position, int64_t n) {
      const T* from = c.as<T>() + offsets[0];
      for (int64_t i = 0; i < n; ++i) visit(position + i, from[i * plan.inner_stride(0)]);
    });
  }

  void fill_with_c(const TensorView& c, const TensorView& y, const Dims& dims) const {
    for_c(c, dims, y.element_count, [&](int64_t position, T value) { y.as<T>()[position] = beta_ * value; });
  }

  T alpha_;
  T beta_;
  bool transpose_a_;
  bool transpose_b_;
  PackedOperand<T> packed_b_;
};

// Gemm of integers, alpha and beta in double and each term truncated. T is unsigned: overflow wraps around.
template <class T>
class IntegerGemmKernel final : public Kernel {
 public:
  explicit IntegerGemmKernel(const Node& node)
      : alpha_(node.attribute_or("alpha", 1.0f)),
        beta_(node.attribute_or("beta", 1.0f)),
        transpose_a_(node.attribute_or<int64_t>("transA", 0) != 0),
        transpose_b_(node.attribute_or<int64_t>("transB", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    const TensorView* c = beta_ == 0 ? nullptr : context.input(2);
    const GemmShape shape(a, b, c, transpose_a_, transpose_b_);
    const Dims dims = shape.dims();
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    context.parallel_for(shape.m, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* to = y.as<T>() + i * shape.n;
        std::fill_n(to, shape.n, T(0));
        for (int64_t k = 0; k < shape.k; ++k) {
          const T left = a.as<T>()[transpose_a_ ? k * shape.m + i : i * shape.k + k];
          for (int64_t j = 0; j < shape.n; ++j) {
            to[j] += left * b.as<T>()[transpose_b_ ? j * shape.k + k : k * shape.n + j];
          }
        }
        for (int64_t j = 0; j < shape.n; ++j) to[j] = scaled(to[j], alpha_);
      }
    });
    if (c == nullptr) return;
    const BroadcastPlan<1> plan(dims, {c});
    plan.for_each_run(0, y.element_count, [&](const std::array<int64_t, 1>& offsets, int64_t position, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        y.as<T>()[position + i] += scaled(c->as<T>()[offsets[0] + i * plan.inner_stride(0)], beta_);
      }
    });
  }

 private:
  static T scaled(T value, double factor) {
    if (factor == 1) return value;
    return static_cast<T>(
        static_cast<int64_t>(factor * static_cast<double>(static_cast<std::make_signed_t<T>>(value))));
  }

  double alpha_;
  double beta_;
  bool transpose_a_;
  bool transpose_b_;
};

std::unique_ptr<Kernel> make_gemm(const Node& node) {
  switch (input_type(node, 0)) {
    case DataType::kInt32:
    case DataType::kUInt32:
      return std::make_unique<IntegerGemmKernel<uint32_t>>(node);
    case DataType::kInt64:
    case DataType::kUInt64:
      return std::make_unique<IntegerGemmKernel<uint64_t>>(node);
    default:
      break;
  }
  if (input_type(node, 0) == DataType::kDouble) return std::make_unique<GemmKernel<double>>(node);
  return std::make_unique<GemmKernel<float>>(node);
}

}  // namespace

void register_matmul(KernelRegistry& registry) {
  add_kernel(registry, "MatMul", 1, 13, {{"T", kFloatTypes + kWideIntegerTypes}}, &with_half<&make_matmul>);
  add_kernel(registry, "Gemm", 7, 13, {{"T", kFloatTypes + kWideIntegerTypes}}, &with_half<&make_gemm>);
}

}  // namespace onnx_light_ort::kernels
