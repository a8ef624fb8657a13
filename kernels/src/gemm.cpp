#include "gemm.h"

#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "cpu_level.h"
#include "gemm_levels.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kBlockK = 256;             // steps of k between two visits of C
constexpr int64_t kBlockColumns = 256;       // columns of B that stay in the second-level cache
constexpr int64_t kMaxSlots = 16;            // threads that one product can use
constexpr int64_t kGrainProducts = 1 << 18;  // multiply-adds that are worth a thread
constexpr int64_t kReadOnceBytes = 1 << 19;  // an operand that is better not read by many ranges

// Of products whose threads pack operands together.
constexpr int64_t kSharedProducts = 1 << 21;         // multiply-adds from which on they do
constexpr int64_t kSharedProductsOfBatch = 1 << 24;  // the same where whole problems are pieces of work too
constexpr int64_t kSharedK = 384;                    // steps of k between two visits of C, about
constexpr int64_t kSharedBytes = int64_t{4} << 20;   // of one operand's block
constexpr int64_t kPackGrain = 1 << 14;              // elements packed that are worth a thread

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

#if defined(__x86_64__)
// The first steps of a panel, of rows whose steps are contiguous: 4 x 4 elements are transposed in registers. Sixteen
// steps at a time, which is a cache line of each row. Returns how many steps are done.
int64_t pack_transposed(const float* data, int64_t along, int64_t k_count, int64_t count, int64_t width, float* panel) {
  const int64_t fours = count / 4 * 4;
  int64_t k = 0;
  for (; k + 16 <= k_count; k += 16) {
    for (int64_t i = 0; i < fours; i += 4) {
      for (int64_t step = k; step < k + 16; step += 4) {
        const float* from = data + i * along + step;
        __m128 a = _mm_loadu_ps(from);
        __m128 b = _mm_loadu_ps(from + along);
        __m128 c = _mm_loadu_ps(from + 2 * along);
        __m128 d = _mm_loadu_ps(from + 3 * along);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        float* to = panel + step * width + i;
        _mm_storeu_ps(to, a);
        _mm_storeu_ps(to + width, b);
        _mm_storeu_ps(to + 2 * width, c);
        _mm_storeu_ps(to + 3 * width, d);
      }
    }
    for (int64_t i = fours; i < count; ++i) {
      for (int64_t step = k; step < k + 16; ++step) panel[step * width + i] = data[i * along + step];
    }
  }
  return k;
}
#endif

// Panel of up to `width` rows (or columns) of k_count steps: element (step, i) to panel[step * width + i], zero beyond
// `count`. `along` is the stride from one row (column) to the next, `step` the one along k.
template <class T>
void pack_panel(const T* data, int64_t along, int64_t step, int64_t k_count, int64_t count, int64_t width, T* panel) {
  if (along == 1) {
    for (int64_t k = 0; k < k_count; ++k) {
      std::memcpy(panel + k * width, data + k * step, static_cast<size_t>(count) * sizeof(T));
      for (int64_t i = count; i < width; ++i) panel[k * width + i] = T(0);
    }
    return;
  }
  int64_t k = 0;
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, float>) {
    if (step == 1) k = pack_transposed(data, along, k_count, count, width, panel);
  }
#endif
  // Eight steps of all rows at a time, so that both sides stay in few cache lines.
  constexpr int64_t kTile = 8;
  for (; k + kTile <= k_count; k += kTile) {
    for (int64_t i = 0; i < count; ++i) {
      const T* from = data + i * along + k * step;
      T* to = panel + k * width + i;
      for (int64_t t = 0; t < kTile; ++t) to[t * width] = from[t * step];
    }
  }
  for (; k < k_count; ++k) {
    for (int64_t i = 0; i < count; ++i) panel[k * width + i] = data[i * along + k * step];
  }
  if (count == width) return;
  for (k = 0; k < k_count; ++k) {
    for (int64_t i = count; i < width; ++i) panel[k * width + i] = T(0);
  }
}

template <class T>
void run_tiles(const GemmProblem<T>& p, const MicroKernels<T>& micro, const T* a, int64_t rows, int64_t row, const T* b,
               int64_t panel_stride, int64_t b_stride, int64_t column, int64_t columns, int64_t k_begin,
               int64_t k_count) {
  for (int64_t j = 0; j < columns; j += micro.nr) {
    const int64_t width = std::min<int64_t>(micro.nr, columns - j);
    const int vectors = width > micro.vector ? 2 : 1;
    T* c = p.c + row * p.ldc + column + j;
    const typename MicroKernels<T>::Start start{p.accumulate || k_begin > 0,
                                                p.row_bias != nullptr ? p.row_bias + row : nullptr,
                                                p.column_bias != nullptr ? p.column_bias + column + j : nullptr};
    micro.kernels[rows - 1][vectors - 1](k_count, a, b + (j / micro.nr) * panel_stride, b_stride, width, c, p.ldc,
                                         start);
  }
}

// Where A is one row and B is neither packed nor small, B is read once, as it lies in memory.
template <class T>
bool is_vector_product(const GemmProblem<T>& p) {
  return p.m == 1 && p.packed_b == nullptr && p.columns == nullptr && p.packed_a == nullptr &&
         (p.b.column_stride == 1 || p.b.row_stride == 1) && (p.a.column_stride == 1 || p.k == 1);
}

template <class T>
void vector_product(const GemmProblem<T>& p, const MicroKernels<T>& micro, int64_t begin, int64_t end) {
  if (p.b.column_stride != 1) {  // columns of B are contiguous
    for (int64_t j = begin; j < end; ++j) {
      const T sum = micro.dot(p.a.data, p.b.data + j * p.b.column_stride, p.k);
      const T first = p.accumulate ? p.c[j] : T(0);
      const T row_bias = p.row_bias != nullptr && !p.accumulate ? *p.row_bias : T(0);
      const T column_bias = p.column_bias != nullptr && !p.accumulate ? p.column_bias[j] : T(0);
      p.c[j] = first + sum + row_bias + column_bias;
    }
    return;
  }
  constexpr int64_t kChunk = 2048;  // of C, kept in the first-level cache
  for (int64_t j = begin; j < end; j += kChunk) {
    const int64_t n = std::min(kChunk, end - j);
    T* c = p.c + j;
    if (!p.accumulate) {
      const T row_bias = p.row_bias != nullptr ? *p.row_bias : T(0);
      for (int64_t i = 0; i < n; ++i) c[i] = row_bias + (p.column_bias != nullptr ? p.column_bias[j + i] : T(0));
    }
    int64_t k = 0;
    for (; k + 4 <= p.k; k += 4) {
      micro.axpy4(p.a.data + k, p.b.data + k * p.b.row_stride + j, p.b.row_stride, c, n);
    }
    for (; k < p.k; ++k) {
      const T x = p.a.data[k];
      const T* b = p.b.data + k * p.b.row_stride + j;
      for (int64_t i = 0; i < n; ++i) c[i] += x * b[i];
    }
  }
}

template <class T>
void fill_start(const GemmProblem<T>& p, int64_t row_begin, int64_t row_end, int64_t column_begin, int64_t column_end) {
  if (p.accumulate) return;
  for (int64_t i = row_begin; i < row_end; ++i) {
    for (int64_t j = column_begin; j < column_end; ++j) {
      p.c[i * p.ldc + j] =
          (p.row_bias != nullptr ? p.row_bias[i] : T(0)) + (p.column_bias != nullptr ? p.column_bias[j] : T(0));
    }
  }
}

}  // namespace

template <class T>
const MicroKernels<T>& micro_kernels() {
  switch (cpu_level()) {
    case CpuLevel::kAvx512:
      return avx512_micro_kernels(T());
    case CpuLevel::kAvx2:
      return avx2_micro_kernels(T());
    default:
      return baseline_micro_kernels(T());
  }
}

template <class T>
PackedOperand<T>::PackedOperand(int64_t elements)
    : data_(static_cast<T*>(::operator new(static_cast<size_t>(elements) * sizeof(T), std::align_val_t{64}))) {}

template <class T>
PackedOperand<T> PackedOperand<T>::left(const Matrix<T>& a, int64_t m, int64_t k) {
  const int64_t mr = micro_kernels<T>().mr;
  PackedOperand packed(ceil_div(m, mr) * mr * k);
  for (int64_t row = 0; row < m; row += mr) {
    pack_panel(a.data + row * a.row_stride, a.row_stride, a.column_stride, k, std::min(mr, m - row), mr,
               packed.data_.get() + row * k);
  }
  return packed;
}

template <class T>
PackedOperand<T> PackedOperand<T>::right(const Matrix<T>& b, int64_t k, int64_t n) {
  const int64_t nr = micro_kernels<T>().nr;
  PackedOperand packed(ceil_div(n, nr) * nr * k);
  for (int64_t column = 0; column < n; column += nr) {
    pack_panel(b.data + column * b.column_stride, b.column_stride, b.row_stride, k, std::min(nr, n - column), nr,
               packed.data_.get() + column * k);
  }
  return packed;
}

template <class T>
GemmPlan gemm_plan(const GemmProblem<T>& p, int64_t batch) {
  const MicroKernels<T>& micro = micro_kernels<T>();
  GemmPlan plan;
  if (p.m == 0 || p.n == 0) return plan;
  const int64_t row_panels = ceil_div(p.m, micro.mr);
  const int64_t column_panels = ceil_div(p.n, micro.nr);
  // Cut by rows, every range packs all of B for itself, by columns all of A: the cheaper of both, unless that leaves
  // too few pieces. Columns that are made while they are packed cost more than those that are copied.
  const int64_t repeated_by_rows = p.packed_b != nullptr ? 0 : p.n * (p.columns != nullptr ? 8 : 1);
  const int64_t repeated_by_columns = p.packed_a != nullptr ? 0 : p.m;
  plan.by_rows =
      repeated_by_rows == repeated_by_columns ? row_panels > column_panels : repeated_by_rows < repeated_by_columns;
  if ((plan.by_rows ? row_panels : column_panels) < 4) plan.by_rows = row_panels > column_panels;
  plan.units = plan.by_rows ? row_panels : column_panels;
  const int64_t unit_products = std::max<int64_t>(1, p.k) * (plan.by_rows ? p.n * micro.mr : p.m * micro.nr);
  const int64_t total = plan.units * std::max<int64_t>(1, batch);
  // So does reading the other operand again from beyond the second-level cache.
  const int64_t reread_bytes = (plan.by_rows ? p.n : p.m) * p.k * static_cast<int64_t>(sizeof(T));
  const bool repeats = (plan.by_rows ? repeated_by_rows : repeated_by_columns) > 0 || reread_bytes > kReadOnceBytes;
  const int64_t repaying = repeats ? std::min<int64_t>(plan.by_rows ? 8 : 4, ceil_div(plan.units, 4)) : 1;
  plan.grain = std::max({ceil_div(total, kMaxSlots), ceil_div(kGrainProducts, unit_products), repaying});
  plan.grain = std::min(plan.grain, total);
  plan.slots = ceil_div(total, plan.grain);
  const int64_t block_k = std::min(p.k, kBlockK);
  const int64_t a_elements = p.packed_a != nullptr ? 0 : block_k * micro.mr;
  const int64_t b_columns = std::min(ceil_div(p.n, micro.nr) * micro.nr, kBlockColumns);
  const int64_t b_elements = p.packed_b != nullptr || is_vector_product(p) ? 0 : block_k * b_columns;
  plan.scratch_bytes = (static_cast<size_t>(a_elements + b_elements) * sizeof(T) + 64 + 63) / 64 * 64;
  return plan;
}

template <class T>
void gemm_units(const GemmProblem<T>& p, const GemmPlan& plan, int64_t begin, int64_t end, void* scratch) {
  const MicroKernels<T>& micro = micro_kernels<T>();
  const int64_t mr = micro.mr;
  const int64_t nr = micro.nr;
  const int64_t row_begin = plan.by_rows ? begin * mr : 0;
  const int64_t row_end = plan.by_rows ? std::min(p.m, end * mr) : p.m;
  const int64_t column_begin = plan.by_rows ? 0 : begin * nr;
  const int64_t column_end = plan.by_rows ? p.n : std::min(p.n, end * nr);
  if (p.k == 0) {
    fill_start(p, row_begin, row_end, column_begin, column_end);
    return;
  }
  if (is_vector_product(p)) {
    vector_product(p, micro, column_begin, column_end);
    return;
  }
  T* a_scratch = static_cast<T*>(scratch);
  T* b_scratch = a_scratch + (p.packed_a != nullptr ? 0 : std::min(p.k, kBlockK) * mr);
  // Few rows do not repay packing B: its rows are read where they are, but for the last, partial panel.
  const bool direct =
      p.packed_b == nullptr && p.columns == nullptr && p.b.column_stride == 1 && row_end - row_begin <= 2 * mr;
  for (int64_t column = column_begin; column < column_end; column += kBlockColumns) {
    const int64_t columns = std::min(kBlockColumns, column_end - column);
    const int64_t whole = columns / nr * nr;
    for (int64_t k = 0; k < p.k; k += kBlockK) {
      const int64_t k_count = std::min(kBlockK, p.k - k);
      if (p.packed_b == nullptr) {
        for (int64_t j = direct ? whole : 0; j < columns; j += nr) {
          const int64_t width = std::min(nr, columns - j);
          T* panel = b_scratch + (direct ? 0 : j * k_count);
          if (p.columns != nullptr) {
            p.columns->pack(k, k_count, column + j, width, nr, panel);
          } else {
            pack_panel(p.b.data + k * p.b.row_stride + (column + j) * p.b.column_stride, p.b.column_stride,
                       p.b.row_stride, k_count, width, nr, panel);
          }
        }
      }
      for (int64_t row = row_begin; row < row_end; row += mr) {
        const int64_t rows = std::min(mr, row_end - row);
        const T* a = p.packed_a != nullptr ? p.packed_a + row * p.k + k * mr : a_scratch;
        if (p.packed_a == nullptr) {
          pack_panel(p.a.data + row * p.a.row_stride + k * p.a.column_stride, p.a.row_stride, p.a.column_stride,
                     k_count, rows, mr, a_scratch);
        }
        if (p.packed_b != nullptr) {
          run_tiles(p, micro, a, rows, row, p.packed_b + column * p.k + k * nr, p.k * nr, nr, column, columns, k,
                    k_count);
        } else if (direct) {
          run_tiles(p, micro, a, rows, row, p.b.data + k * p.b.row_stride + column, nr, p.b.row_stride, column, whole,
                    k, k_count);
          run_tiles(p, micro, a, rows, row, b_scratch, nr, nr, column + whole, columns - whole, k, k_count);
        } else {
          run_tiles(p, micro, a, rows, row, b_scratch, k_count * nr, nr, column, columns, k, k_count);
        }
      }
    }
  }
}

template <class T>
bool shares_panels(const GemmProblem<T>& p, int64_t batch) {
  const MicroKernels<T>& micro = micro_kernels<T>();
  return p.columns == nullptr && p.m > 2 * micro.mr && p.n > micro.vector &&
         p.m * p.n * p.k >= (batch > 1 ? kSharedProductsOfBatch : kSharedProducts);
}

template <class T>
SharedPanels shared_panels(const GemmProblem<T>& p) {
  const MicroKernels<T>& micro = micro_kernels<T>();
  SharedPanels panels;
  // Up to a third of a block joins the others: each block costs two waits of all threads.
  panels.k = ceil_div(p.k, ceil_div(std::max<int64_t>(p.k - kSharedK / 3, 1), kSharedK));
  const int64_t most = kSharedBytes / (panels.k * static_cast<int64_t>(sizeof(T)));
  panels.m = std::min(ceil_div(p.m, micro.mr), most / micro.mr) * micro.mr;
  panels.n = std::min(ceil_div(p.n, micro.nr), most / micro.nr) * micro.nr;
  const int64_t extent = (p.packed_a != nullptr ? 0 : panels.m) + (p.packed_b != nullptr ? 0 : panels.n);
  panels.bytes = static_cast<size_t>(extent * panels.k) * sizeof(T);
  return panels;
}

template <class T>
void gemm_of_shared_panels(RunContext& context, const GemmProblem<T>& p, const SharedPanels& panels, void* scratch) {
  const MicroKernels<T>& micro = micro_kernels<T>();
  const int64_t mr = micro.mr;
  const int64_t nr = micro.nr;
  const int64_t block_m = panels.m;
  const int64_t block_n = panels.n;
  const int64_t block_k = panels.k;
  T* const block_of_a = static_cast<T*>(scratch);
  T* const block_of_b = block_of_a + (p.packed_a != nullptr ? 0 : block_m * block_k);

  for (int64_t column = 0; column < p.n; column += block_n) {
    const int64_t columns = std::min(block_n, p.n - column);
    for (int64_t k = 0; k < p.k; k += block_k) {
      const int64_t k_count = std::min(block_k, p.k - k);
      for (int64_t row = 0; row < p.m; row += block_m) {
        const int64_t rows = std::min(block_m, p.m - row);
        const int64_t a_panels = p.packed_a != nullptr ? 0 : ceil_div(rows, mr);
        const int64_t b_panels = p.packed_b != nullptr || row > 0 ? 0 : ceil_div(columns, nr);
        context.parallel_for(a_panels + b_panels, ceil_div(kPackGrain, mr * k_count), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            if (i < a_panels) {
              const T* from = p.a.data + (row + i * mr) * p.a.row_stride + k * p.a.column_stride;
              pack_panel(from, p.a.row_stride, p.a.column_stride, k_count, std::min(mr, rows - i * mr), mr,
                         block_of_a + i * mr * k_count);
            } else {
              const int64_t j = (i - a_panels) * nr;
              const T* from = p.b.data + k * p.b.row_stride + (column + j) * p.b.column_stride;
              pack_panel(from, p.b.column_stride, p.b.row_stride, k_count, std::min(nr, columns - j), nr,
                         block_of_b + j * k_count);
            }
          }
        });

        // Units: groups of row panels times groups of column panels, which stay in the second-level cache from one unit
        // to the next.
        int64_t row_group = 8 * mr;
        int64_t column_group = kBlockColumns;
        const auto units = [&] { return ceil_div(rows, row_group) * ceil_div(columns, column_group); };
        while (units() < kMaxSlots && column_group > 2 * nr) column_group /= 2;
        while (units() < kMaxSlots && row_group > mr) row_group /= 2;
        const int64_t row_groups = ceil_div(rows, row_group);
        const int64_t unit_products = std::min(row_group, rows) * std::min(column_group, columns) * k_count;
        context.parallel_for(units(), ceil_div(kGrainProducts, unit_products), [&](int64_t begin, int64_t end) {
          for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t first_column = unit / row_groups * column_group;
            const int64_t width = std::min(column_group, columns - first_column);
            const T* b = p.packed_b != nullptr ? p.packed_b + (column + first_column) * p.k + k * nr
                                               : block_of_b + first_column * k_count;
            const int64_t panel_stride = (p.packed_b != nullptr ? p.k : k_count) * nr;
            const int64_t first_row = unit % row_groups * row_group;
            const int64_t last_row = std::min(first_row + row_group, rows);
            for (int64_t r = first_row; r < last_row; r += mr) {
              const T* a = p.packed_a != nullptr ? p.packed_a + (row + r) * p.k + k * mr : block_of_a + r * k_count;
              run_tiles(p, micro, a, std::min(mr, rows - r), row + r, b, panel_stride, nr, column + first_column, width,
                        k, k_count);
            }
          }
        });
      }
    }
  }
}

template class PackedOperand<float>;
template class PackedOperand<double>;
template const MicroKernels<float>& micro_kernels<float>();
template const MicroKernels<double>& micro_kernels<double>();
template bool shares_panels<float>(const GemmProblem<float>&, int64_t);
template bool shares_panels<double>(const GemmProblem<double>&, int64_t);
template SharedPanels shared_panels<float>(const GemmProblem<float>&);
template SharedPanels shared_panels<double>(const GemmProblem<double>&);
template void gemm_of_shared_panels<float>(RunContext&, const GemmProblem<float>&, const SharedPanels&, void*);
template void gemm_of_shared_panels<double>(RunContext&, const GemmProblem<double>&, const SharedPanels&, void*);
template GemmPlan gemm_plan<float>(const GemmProblem<float>&, int64_t);
template GemmPlan gemm_plan<double>(const GemmProblem<double>&, int64_t);
template void gemm_units<float>(const GemmProblem<float>&, const GemmPlan&, int64_t, int64_t, void*);
template void gemm_units<double>(const GemmProblem<double>&, const GemmPlan&, int64_t, int64_t, void*);

}  // namespace onnx_light_ort::kernels
