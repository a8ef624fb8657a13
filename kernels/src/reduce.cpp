// ReduceSum, ReduceMean, ReduceProd, ReduceMax, ReduceMin, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum,
// ReduceLogSumExp.
//
// Dimensions are merged into alternating kept and reduced groups. If the innermost group is reduced, each output
// element folds contiguous runs; if it is kept, whole rows are folded into a row of the output. Integer sums wrap
// around. An empty reduction gives the neutral element; a mean of nothing is 0, as in ORT.
#include <cmath>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "axes.h"
#include "cpu_level.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

// fold(accumulator, element), merge(accumulator, accumulator), finish(accumulator, count) of each operator. Folding is
// the operator whose loops it shares, finish apart.

template <class T>
using WrappingSum =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

template <class T>
struct Sum {
  using Folding = Sum<T>;
  using Accumulator = WrappingSum<T>;
  static Accumulator neutral() { return 0; }
  [[gnu::always_inline]] static Accumulator fold(Accumulator a, T x) { return a + static_cast<Accumulator>(x); }
  [[gnu::always_inline]] static Accumulator merge(Accumulator a, Accumulator b) { return a + b; }
  static T finish(Accumulator a, int64_t) { return static_cast<T>(a); }
};

template <class T>
struct Mean : Sum<T> {
  using Accumulator = WrappingSum<T>;
  static T finish(Accumulator a, int64_t count) {
    return count == 0 ? T(0) : static_cast<T>(static_cast<T>(a) / static_cast<T>(count));
  }
};

template <class T>
struct Product {
  using Folding = Product<T>;
  using Accumulator = WrappingSum<T>;
  static Accumulator neutral() { return 1; }
  [[gnu::always_inline]] static Accumulator fold(Accumulator a, T x) { return a * static_cast<Accumulator>(x); }
  [[gnu::always_inline]] static Accumulator merge(Accumulator a, Accumulator b) { return a * b; }
  static T finish(Accumulator a, int64_t) { return static_cast<T>(a); }
};

// NaN wins over any number.
template <class T>
struct Max {
  using Folding = Max<T>;
  using Accumulator = T;
  static T neutral() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  [[gnu::always_inline]] static T fold(T a, T x) {
    const T larger = a > x ? a : x;
    return a != a ? a : larger;
  }
  [[gnu::always_inline]] static T merge(T a, T b) { return fold(a, b); }
  static T finish(T a, int64_t) { return a; }
};

template <class T>
struct Min {
  using Folding = Min<T>;
  using Accumulator = T;
  static T neutral() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  [[gnu::always_inline]] static T fold(T a, T x) {
    const T smaller = a < x ? a : x;
    return a != a ? a : smaller;
  }
  [[gnu::always_inline]] static T merge(T a, T b) { return fold(a, b); }
  static T finish(T a, int64_t) { return a; }
};

template <class T>
struct L1 : Sum<T> {
  using Folding = L1<T>;
  using A = WrappingSum<T>;
  [[gnu::always_inline]] static A fold(A a, T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return a + std::abs(x);
    } else {
      return a + (x < T(0) ? A(0) - static_cast<A>(x) : static_cast<A>(x));
    }
  }
};

template <class T>
struct SumSquare : Sum<T> {
  using Folding = SumSquare<T>;
  using A = WrappingSum<T>;
  [[gnu::always_inline]] static A fold(A a, T x) { return a + static_cast<A>(x) * static_cast<A>(x); }
};

// Integers truncate the root.
template <class T>
struct L2 : SumSquare<T> {
  static T finish(WrappingSum<T> a, int64_t) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::sqrt(a);
    } else {
      return static_cast<T>(std::sqrt(static_cast<double>(static_cast<T>(a))));
    }
  }
};

template <class T>
struct LogSum : Sum<T> {
  static T finish(T a, int64_t) { return std::log(a); }
};

// The sum of exp(x - largest so far), scaled whenever a larger one comes, so that no exponential overflows.
template <class T>
struct LogSumExp {
  using Folding = LogSumExp<T>;
  struct Accumulator {
    T largest;
    T sum;
  };
  static Accumulator neutral() { return {-std::numeric_limits<T>::infinity(), T(0)}; }
  [[gnu::always_inline]] static Accumulator fold(Accumulator a, T x) { return merge(a, {x, T(1)}); }
  [[gnu::always_inline]] static Accumulator merge(Accumulator a, Accumulator b) {
    if (b.largest > a.largest) std::swap(a, b);
    const T scale = b.largest == a.largest ? T(1) : std::exp(b.largest - a.largest);
    return {a.largest, a.sum + b.sum * scale};
  }
  static T finish(Accumulator a, int64_t) { return a.largest + std::log(a.sum); }
};

// The loops of one operator over elements stored as S and computed as T, behind untyped pointers: the kernel knows
// shapes and threads, and one class serves all.
struct ReduceLoops {
  size_t element_width;
  size_t accumulator_width;
  void (*start)(void* totals, int64_t n);
  /// Folds x[0..n) into one accumulator.
  void (*run)(const void* x, int64_t n, void* total);
  /// Folds `rows` rows of `width` elements, `stride` apart, into `width` accumulators.
  void (*rows)(const void* x, int64_t rows, int64_t stride, int64_t width, void* totals);
  void (*merge)(void* totals, const void* others, int64_t n);
  /// Results of accumulators of `count` elements each.
  void (*finish)(const void* totals, int64_t n, int64_t count, void* y);
};

template <class T>
[[gnu::always_inline]] inline T load(T x) {
  return x;
}
[[gnu::always_inline]] inline float load(BFloat16 x) { return to_float(x); }

template <class Op, class S>
[[gnu::always_inline]] inline void fold_run(const void* x_data, int64_t n, void* total_data) {
  using A = typename Op::Accumulator;
  A* total = static_cast<A*>(total_data);
  const A folded = fold_lanes(
      static_cast<const S*>(x_data), n, Op::neutral(),
      [](A a, S v) __attribute__((always_inline)) { return Op::fold(a, load(v)); },
      [](A a, A b) __attribute__((always_inline)) { return Op::merge(a, b); });
  *total = Op::merge(*total, folded);
}

// Rows that are folded in one pass over the accumulators. More would need more ways of the near cache, since rows are
// often a power of two apart.
constexpr int64_t kRowsAtOnce = 8;

template <class Op, class S, int... Row>
[[gnu::always_inline]] inline void fold_rows_at_once(const S* x, int64_t stride, int64_t width,
                                                     typename Op::Accumulator* totals,
                                                     std::integer_sequence<int, Row...>) {
#pragma GCC ivdep
  for (int64_t i = 0; i < width; ++i) {
    auto total = totals[i];
    ((total = Op::fold(total, load(x[Row * stride + i]))), ...);
    totals[i] = total;
  }
}

template <class Op, class S>
[[gnu::always_inline]] inline void fold_rows(const void* x_data, int64_t rows, int64_t stride, int64_t width,
                                             void* totals_data) {
  const S* x = static_cast<const S*>(x_data);
  auto* totals = static_cast<typename Op::Accumulator*>(totals_data);
  int64_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) {
    fold_rows_at_once<Op>(x + r * stride, stride, width, totals, std::make_integer_sequence<int, kRowsAtOnce>());
  }
  for (; r < rows; ++r) {
    fold_rows_at_once<Op>(x + r * stride, stride, width, totals, std::make_integer_sequence<int, 1>());
  }
}

// float16 by float's loops, a block at a time: the CPU converts whole vectors.
constexpr int64_t kHalfRun = 2048;

template <class Op>
void fold_half_run(const void* x_data, int64_t n, void* total) {
  static const auto loop = Versions<&fold_run<Op, float>>::best();
  alignas(64) float block[kHalfRun];
  for (int64_t i = 0; i < n; i += kHalfRun) {
    const int64_t count = std::min(kHalfRun, n - i);
    widen(static_cast<const Float16*>(x_data) + i, block, count);
    loop(block, count, total);
  }
}

template <class Op>
void fold_half_rows(const void* x_data, int64_t rows, int64_t stride, int64_t width, void* totals) {
  static const auto loop = Versions<&fold_rows<Op, float>>::best();
  constexpr int64_t kColumns = kHalfRun / kRowsAtOnce;
  alignas(64) float block[kRowsAtOnce * kColumns];
  const auto* x = static_cast<const Float16*>(x_data);
  for (int64_t r = 0; r < rows; r += kRowsAtOnce) {
    const int64_t few = std::min(kRowsAtOnce, rows - r);
    for (int64_t column = 0; column < width; column += kColumns) {
      const int64_t n = std::min(kColumns, width - column);
      for (int64_t i = 0; i < few; ++i) widen(x + (r + i) * stride + column, block + i * kColumns, n);
      loop(block, few, kColumns, n, static_cast<typename Op::Accumulator*>(totals) + column);
    }
  }
}

#if defined(__x86_64__)
// Sums without a block in between: eight elements are converted and added in registers, in the same order.
ONNX_LIGHT_TARGET_AVX2 void add_half_run(const void* x_data, int64_t n, void* total_data) {
  const auto* x = static_cast<const Float16*>(x_data);
  auto* total = static_cast<float*>(total_data);
  for (int64_t first = 0; first < n; first += kHalfRun) {
    const int64_t end = std::min(first + kHalfRun, n);
    int64_t i = first;
    float sum = 0;
    if (i + 32 <= end) {
      __m256 lanes[4] = {};
      for (; i + 32 <= end; i += 32) {
#pragma GCC unroll 4
        for (int part = 0; part < 4; ++part) {
          const auto* from = reinterpret_cast<const __m128i*>(x + i + 8 * part);
          lanes[part] = _mm256_add_ps(lanes[part], _mm256_cvtph_ps(_mm_loadu_si128(from)));
        }
      }
      alignas(32) float folded[8];
      _mm256_store_ps(folded, _mm256_add_ps(_mm256_add_ps(lanes[0], lanes[2]), _mm256_add_ps(lanes[1], lanes[3])));
      for (int lane = 0; lane < 4; ++lane) folded[lane] += folded[lane + 4];
      sum = (folded[0] + folded[2]) + (folded[1] + folded[3]);
    }
    for (; i < end; ++i) sum += to_float(x[i]);
    *total += sum;
  }
}

ONNX_LIGHT_TARGET_AVX2 void add_half_rows(const void* x_data, int64_t rows, int64_t stride, int64_t width,
                                          void* totals_data) {
  const auto* x = static_cast<const Float16*>(x_data);
  auto* totals = static_cast<float*>(totals_data);
  int64_t r = 0;
  for (; r + kRowsAtOnce <= rows; r += kRowsAtOnce) {
    const Float16* row = x + r * stride;
    int64_t i = 0;
    for (; i + 8 <= width; i += 8) {
      __m256 total = _mm256_loadu_ps(totals + i);
#pragma GCC unroll 8
      for (int64_t q = 0; q < kRowsAtOnce; ++q) {
        const auto* from = reinterpret_cast<const __m128i*>(row + q * stride + i);
        total = _mm256_add_ps(total, _mm256_cvtph_ps(_mm_loadu_si128(from)));
      }
      _mm256_storeu_ps(totals + i, total);
    }
    for (; i < width; ++i) {
      for (int64_t q = 0; q < kRowsAtOnce; ++q) totals[i] += to_float(row[q * stride + i]);
    }
  }
  fold_half_rows<Sum<float>>(x + r * stride, rows - r, stride, width, totals);
}
#endif

template <class Op>
void start_totals(void* totals, int64_t n) {
  std::fill_n(static_cast<typename Op::Accumulator*>(totals), n, Op::neutral());
}

template <class Op>
void merge_totals(void* totals_data, const void* others_data, int64_t n) {
  using A = typename Op::Accumulator;
  A* totals = static_cast<A*>(totals_data);
  const A* others = static_cast<const A*>(others_data);
  for (int64_t i = 0; i < n; ++i) totals[i] = Op::merge(totals[i], others[i]);
}

template <class Op, class S>
void finish_totals(const void* totals_data, int64_t n, int64_t count, void* y_data) {
  const auto* totals = static_cast<const typename Op::Accumulator*>(totals_data);
  S* y = static_cast<S*>(y_data);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kIsHalf<S>) {
      from_float(Op::finish(totals[i], count), y[i]);
    } else {
      y[i] = Op::finish(totals[i], count);
    }
  }
}

template <template <class> class Op, class S>
ReduceLoops loops_of() {
  using Operator = Op<std::conditional_t<kIsHalf<S>, float, S>>;
  using Folding = typename Operator::Folding;
  decltype(ReduceLoops::run) run;
  decltype(ReduceLoops::rows) rows;
  if constexpr (std::is_same_v<S, Float16>) {
    run = &fold_half_run<Folding>;
    rows = &fold_half_rows<Folding>;
#if defined(__x86_64__)
    if (std::is_same_v<Folding, Sum<float>> && cpu_level() >= CpuLevel::kAvx2) {
      run = &add_half_run;
      rows = &add_half_rows;
    }
#endif
  } else {
    run = Versions<&fold_run<Folding, S>>::best();
    rows = Versions<&fold_rows<Folding, S>>::best();
  }
  return {sizeof(S),
          sizeof(typename Operator::Accumulator),
          &start_totals<Folding>,
          run,
          rows,
          &merge_totals<Folding>,
          &finish_totals<Operator, S>};
}

// Extents and input strides of one kind of group, outermost first.
struct Groups {
  Dims extents;
  Dims strides;

  int64_t count() const { return product(extents.data(), 0, extents.size()); }

  int64_t offset(int64_t index) const {
    int64_t sum = 0;
    for (size_t d = extents.size(); d-- > 0;) {
      sum += index % extents[d] * strides[d];
      index /= extents[d];
    }
    return sum;
  }
};

class ReduceKernel final : public Kernel {
 public:
  ReduceKernel(const Node& node, int first_input_version, const ReduceLoops& loops)
      : loops_(loops),
        axes_(node, first_input_version, 1),
        keep_dims_(node.attribute_or<int64_t>("keepdims", 1) != 0),
        no_axes_is_identity_(node.attribute_or<int64_t>("noop_with_empty_axes", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    std::optional<Dims> named = axes_.flags(context, std::max<size_t>(x.rank, 1));  // a scalar has one axis
    const bool none = !named.has_value() || std::find(named->begin(), named->end(), 1) == named->end();
    if (none && no_axes_is_identity_) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const Dims reduced = none ? Dims(x.rank, 1) : *named;

    Dims out_dims;
    Groups kept;
    Groups folded;
    int64_t stride = x.element_count;
    bool last_reduced = false;
    for (size_t d = 0; d < x.rank; ++d) {
      const bool reduce = reduced[d] != 0;
      if (!reduce) {
        out_dims.push_back(x.dims[d]);
      } else if (keep_dims_) {
        out_dims.push_back(1);
      }
      if (x.element_count == 0) continue;
      stride /= x.dims[d];
      if (x.dims[d] == 1) continue;
      Groups& groups = reduce ? folded : kept;
      const size_t size = groups.extents.size();
      if (size > 0 && last_reduced == reduce) {
        groups.extents[size - 1] *= x.dims[d];
        groups.strides[size - 1] = stride;
      } else {
        groups.extents.push_back(x.dims[d]);
        groups.strides.push_back(stride);
      }
      last_reduced = reduce;
    }
    const TensorView& y = context.output(0, out_dims.data(), out_dims.size());
    if (y.element_count == 0) return;
    if (x.element_count == 0) {
      alignas(16) char neutral[16];
      loops_.start(neutral, 1);
      for (int64_t i = 0; i < y.element_count; ++i) loops_.finish(neutral, 1, 0, at(y.data, i));
      return;
    }
    const int64_t count = x.element_count / y.element_count;
    if (folded.extents.size() == 0) {  // axes of extent 1 only
      folded.extents.push_back(1);
      folded.strides.push_back(0);
    }
    if (kept.extents.size() == 0 || last_reduced) {
      fold_runs(context, x, y, kept, folded, count);
    } else {
      fold_rows(context, x, y, kept, folded, count);
    }
  }

 private:
  static constexpr int64_t kGrain = 32768;
  static constexpr size_t kTotalsBytes = 32768;  // accumulators that stay in a near cache
  static constexpr int64_t kMaxParts = 16;

  void* at(void* elements, int64_t i) const {
    return static_cast<char*>(elements) + static_cast<size_t>(i) * loops_.element_width;
  }
  const void* at(const TensorView& x, int64_t i) const { return at(x.data, i); }
  char* total_at(char* totals, int64_t i) const { return totals + static_cast<size_t>(i) * loops_.accumulator_width; }

  // The innermost group is reduced: its runs are contiguous.
  void fold_runs(RunContext& context, const TensorView& x, const TensorView& y, const Groups& kept, Groups folded,
                 int64_t count) const {
    int64_t run = 1;
    if (const size_t size = folded.extents.size(); size > 0) {
      run = folded.extents[size - 1];
      folded.extents[size - 1] = 1;
    }
    if (y.element_count == 1 && run > 2 * kGrain && folded.count() == 1) {  // fast path: chunks of one long run
      const int64_t chunks = (run + kGrain - 1) / kGrain;
      auto* partial = static_cast<char*>(context.scratch(static_cast<size_t>(chunks) * loops_.accumulator_width));
      loops_.start(partial, chunks);
      context.parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          loops_.run(at(x, i * kGrain), std::min(kGrain, run - i * kGrain), total_at(partial, i));
        }
      });
      for (int64_t i = 1; i < chunks; ++i) loops_.merge(partial, total_at(partial, i), 1);
      loops_.finish(partial, 1, count, y.data);
      return;
    }
    const int64_t runs = folded.count();
    context.parallel_for(y.element_count, std::max<int64_t>(1, kGrain / count), [&](int64_t begin, int64_t end) {
      alignas(16) char total[16];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = kept.offset(i);
        loops_.start(total, 1);
        for (int64_t r = 0; r < runs; ++r) loops_.run(at(x, first + folded.offset(r)), run, total);
        loops_.finish(total, 1, count, at(y.data, i));
      }
    });
  }

  // The innermost group is kept: rows of it are folded element by element, a block of columns at a time. Where that
  // leaves few pieces of work, the folded rows are cut into parts too; how many depends on the shape alone, and so does
  // the result.
  void fold_rows(RunContext& context, const TensorView& x, const TensorView& y, Groups kept, const Groups& folded,
                 int64_t count) const {
    const int64_t row = kept.extents[kept.extents.size() - 1];
    kept.extents[kept.extents.size() - 1] = 1;
    const auto block = static_cast<int64_t>(kTotalsBytes / loops_.accumulator_width);
    const int64_t blocks = (row + block - 1) / block;
    const int64_t pieces = kept.count() * blocks;
    const size_t last = folded.extents.size() - 1;
    const int64_t lines = folded.extents[last];  // rows at one stride
    Groups outer = folded;
    outer.extents[last] = 1;
    const int64_t sets = outer.count();
    const int64_t most = std::min(lines / kRowsAtOnce, x.element_count / pieces / (8 * kGrain));
    const int64_t parts = std::clamp<int64_t>(most, 1, (kMaxParts + pieces - 1) / pieces);
    const int64_t lines_of_part = (lines + parts - 1) / parts;
    char* partial = nullptr;
    if (parts > 1) {
      partial =
          static_cast<char*>(context.scratch(static_cast<size_t>(parts * y.element_count) * loops_.accumulator_width));
    }
    const auto for_piece = [&](int64_t piece, auto&& visit) {
      const int64_t column = piece % blocks * block;
      visit(piece / blocks, column, std::min(block, row - column));
    };
    const int64_t work = count / parts * std::min(row, block);
    context.parallel_for(
        pieces * parts, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
          alignas(64) char own[kTotalsBytes];
          for (int64_t i = begin; i < end; ++i) {
            const int64_t part = i / pieces;
            const int64_t first = std::min(lines, part * lines_of_part);
            const int64_t part_lines = std::min(lines_of_part, lines - first);
            for_piece(i % pieces, [&](int64_t k, int64_t column, int64_t width) {
              const int64_t to = k * row + column;
              char* totals = parts > 1 ? total_at(partial, part * y.element_count + to) : own;
              loops_.start(totals, width);
              const int64_t from = kept.offset(k) + column + first * folded.strides[last];
              for (int64_t s = 0; s < sets; ++s) {
                loops_.rows(at(x, from + outer.offset(s)), part_lines, folded.strides[last], width, totals);
              }
              if (parts == 1) loops_.finish(totals, width, count, at(y.data, to));
            });
          }
        });
    if (parts == 1) return;
    context.parallel_for(y.element_count, kGrain / parts, [&](int64_t begin, int64_t end) {
      for (int64_t part = 1; part < parts; ++part) {
        loops_.merge(total_at(partial, begin), total_at(partial, part * y.element_count + begin), end - begin);
      }
      loops_.finish(total_at(partial, begin), end - begin, count, at(y.data, begin));
    });
  }

  ReduceLoops loops_;
  Axes axes_;
  bool keep_dims_;
  bool no_axes_is_identity_;
};

template <template <class> class Op, int kFirstInputVersion, class... Types>
std::unique_ptr<Kernel> make_reduction(const Node& node, DataType type) {
  const ReduceLoops loops =
      dispatch<Types...>(type, [](auto tag) { return loops_of<Op, typename decltype(tag)::type>(); });
  return std::make_unique<ReduceKernel>(node, kFirstInputVersion, loops);
}

// Sums and products of integers have the same bits for both signs.
template <template <class> class Op, int kFirstInputVersion>
std::unique_ptr<Kernel> make_sum(const Node& node) {
  const DataType type = input_type(node, 0);
  return make_reduction<Op, kFirstInputVersion, float, double, Float16, BFloat16, int32_t, int64_t>(
      node, type == DataType::kUInt32   ? DataType::kInt32
            : type == DataType::kUInt64 ? DataType::kInt64
                                        : type);
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_mean(const Node& node) {
  return make_reduction<Op, 18, float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(
      node, input_type(node, 0));
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_extremum(const Node& node) {
  // false < true, as bytes.
  const DataType type = input_type(node, 0) == DataType::kBool ? DataType::kUInt8 : input_type(node, 0);
  return make_reduction<Op, 18, float, double, Float16, BFloat16, int8_t, uint8_t, int32_t, int64_t, uint32_t,
                        uint64_t>(node, type);
}

void decline_no_reduction(const Node& node) {
  if (node.attribute_or<int64_t>("noop_with_empty_axes", 0) != 0) {
    decline(node, "noop_with_empty_axes is not implemented for this reduction");
  }
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_norm(const Node& node) {
  decline_no_reduction(node);
  return make_reduction<Op, 18, float, double, Float16, BFloat16, int32_t, int64_t, uint32_t, uint64_t>(
      node, input_type(node, 0));
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_logarithm(const Node& node) {
  decline_no_reduction(node);
  return make_reduction<Op, 18, float, double, Float16, BFloat16>(node, input_type(node, 0));
}

}  // namespace

void register_reduce(KernelRegistry& registry) {
  const TypeList numbers = kFloatTypes + kWideIntegerTypes;
  const TypeList ordered = numbers + TypeList{DataType::kInt8, DataType::kUInt8, DataType::kBool};
  add_kernel(registry, "ReduceSum", 1, 13, {{"T", numbers}}, &make_sum<Sum, 13>);
  add_kernel(registry, "ReduceMean", 1, 18, {{"T", numbers}}, &make_mean<Mean>);
  add_kernel(registry, "ReduceProd", 1, 18, {{"T", numbers}}, &make_sum<Product, 18>);
  add_kernel(registry, "ReduceMax", 1, 20, {{"T", ordered}}, &make_extremum<Max>);
  add_kernel(registry, "ReduceMin", 1, 20, {{"T", ordered}}, &make_extremum<Min>);
  add_kernel(registry, "ReduceL1", 1, 18, {{"T", numbers}}, &make_norm<L1>);
  add_kernel(registry, "ReduceL2", 1, 18, {{"T", numbers}}, &make_norm<L2>);
  add_kernel(registry, "ReduceSumSquare", 1, 18, {{"T", numbers}}, &make_norm<SumSquare>);
  // Before 28 also for integers, whose logarithms nobody takes.
  add_kernel(registry, "ReduceLogSum", 1, 28, {{"T", kFloatTypes}}, &make_logarithm<LogSum>);
  add_kernel(registry, "ReduceLogSumExp", 1, 28, {{"T", kFloatTypes}}, &make_logarithm<LogSumExp>);
}

}  // namespace onnx_light_ort::kernels
