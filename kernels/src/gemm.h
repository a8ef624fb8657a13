// C = A B (+ C or + bias), blocked, packed and threaded: the one place where matrix products are computed.
//
// A is cut into panels of mr rows, stored k by k, B into panels of nr columns, stored k by k; a micro-kernel multiplies
// one panel of each into registers. The scheme is the one of Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", ACM TOMS 34(3), 2008, with the panel of A in the first-level cache and the block of B in the second.
// A BLAS could stand behind this interface; docs/kernels.md says why none does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// A strided matrix that somebody else owns; transposing is swapping the strides.
template <class T>
struct Matrix {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

/// A right-hand side that is made while it is packed, such as the columns of a convolution.
template <class T>
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  /// Writes rows [k_begin, k_begin + k_count) of columns [column, column + count), count <= width, as one panel:
  /// element (k, j) to panel[k * width + j]. Columns from count to width are to be zero.
  virtual void pack(int64_t k_begin, int64_t k_count, int64_t column, int64_t count, int64_t width, T* panel) const = 0;
};

template <class T>
struct GemmProblem {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Matrix<T> a;
  Matrix<T> b;
  const T* packed_a = nullptr;               ///< From PackedOperand::left, replaces a.
  const T* packed_b = nullptr;               ///< From PackedOperand::right, replaces b.
  const ColumnSource<T>* columns = nullptr;  ///< Replaces b.
  T* c = nullptr;                            ///< Row-major.
  int64_t ldc = 0;
  bool accumulate = false;         ///< C += A B; the biases are then not looked at.
  const T* row_bias = nullptr;     ///< m values, added to each column.
  const T* column_bias = nullptr;  ///< n values, added to each row.
};

/// An operand packed ahead of time, for a matrix that is constant.
template <class T>
class PackedOperand {
 public:
  static PackedOperand left(const Matrix<T>& a, int64_t m, int64_t k);
  static PackedOperand right(const Matrix<T>& b, int64_t k, int64_t n);
  PackedOperand() = default;
  const T* data() const noexcept { return data_.get(); }

 private:
  struct Free {
    void operator()(T* data) const noexcept { ::operator delete(data, std::align_val_t{64}); }
  };
  explicit PackedOperand(int64_t elements);
  std::unique_ptr<T, Free> data_;
};

/// Largest constant operand that is worth a packed copy besides the original.
inline constexpr int64_t kMaxPackedBytes = int64_t{4} << 20;

/// How a batch of equal-sized problems is cut into pieces of work.
struct GemmPlan {
  bool by_rows = false;      ///< A unit is a panel of rows, else a panel of columns.
  int64_t units = 0;         ///< Units of one problem.
  int64_t grain = 1;         ///< Units that one range of parallel_for has at least.
  int64_t slots = 1;         ///< Ranges at most.
  size_t scratch_bytes = 0;  ///< Of one range.
};

template <class T>
GemmPlan gemm_plan(const GemmProblem<T>& problem, int64_t batch);

/// Computes units [begin, end) of one problem, in the calling thread.
template <class T>
void gemm_units(const GemmProblem<T>& problem, const GemmPlan& plan, int64_t begin, int64_t end, void* scratch);

/// The blocks of operands that all threads pack together and then multiply.
struct SharedPanels {
  int64_t m = 0;  ///< Extents of a block, m and n in whole panels.
  int64_t n = 0;
  int64_t k = 0;
  size_t bytes = 0;  ///< Of scratch memory, for the operands that are not packed yet.
};

/// Whether that pays, for each of `batch` problems after the other; else gemm_units computes them.
template <class T>
bool shares_panels(const GemmProblem<T>& problem, int64_t batch);
template <class T>
SharedPanels shared_panels(const GemmProblem<T>& problem);

/// Computes one problem on the context's threads.
template <class T>
void gemm_of_shared_panels(RunContext& context, const GemmProblem<T>& problem, const SharedPanels& panels,
                           void* scratch);

/// Computes `batch` problems that have the dimensions of `problem`; problem_at(i) is the i-th.
template <class T, class ProblemAt>
void gemm_batch(RunContext& context, const GemmProblem<T>& problem, int64_t batch, ProblemAt&& problem_at) {
  if (shares_panels(problem, batch)) {
    const SharedPanels panels = shared_panels(problem);
    void* const scratch = context.scratch(panels.bytes);
    for (int64_t i = 0; i < batch; ++i) gemm_of_shared_panels<T>(context, problem_at(i), panels, scratch);
    return;
  }
  const GemmPlan plan = gemm_plan(problem, batch);
  if (plan.units == 0 || batch == 0) return;
  char* scratch = static_cast<char*>(context.scratch(plan.scratch_bytes * static_cast<size_t>(plan.slots)));
  context.parallel_for(plan.units * batch, plan.grain, [&](int64_t begin, int64_t end) {
    // Ranges are at least a grain apart, which makes this index unique to the range.
    char* own = scratch + static_cast<size_t>(begin / plan.grain) * plan.scratch_bytes;
    while (begin < end) {
      const int64_t index = begin / plan.units;
      const int64_t first = begin % plan.units;
      const int64_t count = std::min(plan.units - first, end - begin);
      gemm_units<T>(problem_at(index), plan, first, first + count, own);
      begin += count;
    }
  });
}

template <class T>
void gemm(RunContext& context, const GemmProblem<T>& problem) {
  gemm_batch(context, problem, 1, [&](int64_t) -> const GemmProblem<T>& { return problem; });
}

/// What one build of the micro-kernels offers.
template <class T>
struct MicroKernels {
  /// C tile (rows x columns at c) of panels a (stride mr) and b (stride b_stride per k); start says what it begins
  /// from.
  struct Start {
    bool accumulate;
    const T* row_bias;
    const T* column_bias;
  };
  using Kernel = void (*)(int64_t k, const T* a, const T* b, int64_t b_stride, int64_t columns, T* c, int64_t ldc,
                          const Start& start);
  static constexpr int kMaxRows = 12;
  int mr;
  int nr;
  int vector;                   ///< Elements of a vector; nr is two of them.
  Kernel kernels[kMaxRows][2];  ///< [rows - 1][vectors - 1]
  /// sum over k of a[k] * b[k]
  T (*dot)(const T* a, const T* b, int64_t k);
  /// y[j] += x[0] b[j] + x[1] b[ldb + j] + x[2] b[2 ldb + j] + x[3] b[3 ldb + j] for j in [0, n)
  void (*axpy4)(const T* x, const T* b, int64_t ldb, T* y, int64_t n);
  /// y[j] = bias + sum over taps of weights[tap] * x[offsets[tap] + j] for j in [0, n). Every tap must be readable up
  /// to the next multiple of a vector.
  void (*convolve_row)(const T* x, const int64_t* offsets, const T* weights, int64_t taps, T bias, int64_t n, T* y);
};

/// The build for this CPU.
template <class T>
const MicroKernels<T>& micro_kernels();

}  // namespace onnx_light_ort::kernels
