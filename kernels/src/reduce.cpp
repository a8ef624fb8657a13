// ReduceSum, ReduceMean, ReduceProd, ReduceMax, ReduceMin, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum,
// ReduceLogSumExp.
//
// Dimensions are merged into alternating kept and reduced groups. If the innermost group is reduced, each output
// element folds contiguous runs; if it is kept, whole rows are folded into a row of the output. Integer sums wrap
// around. An empty reduction gives the neutral element; a mean of nothing is 0, as in ORT.
#include <cmath>
#include <limits>

#include "axes.h"
#include "cpu_level.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// fold(accumulator, element), merge(accumulator, accumulator), finish(accumulator, count) of each operator.

template <class T>
using WrappingSum =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

template <class T>
struct Sum {
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
  using Accumulator = WrappingSum<T>;
  static Accumulator neutral() { return 1; }
  [[gnu::always_inline]] static Accumulator fold(Accumulator a, T x) { return a * static_cast<Accumulator>(x); }
  [[gnu::always_inline]] static Accumulator merge(Accumulator a, Accumulator b) { return a * b; }
  static T finish(Accumulator a, int64_t) { return static_cast<T>(a); }
};

// NaN wins over any number.
template <class T>
struct Max {
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

template <class Op, class T>
[[gnu::always_inline]] inline void fold_run(const T* x, int64_t n, typename Op::Accumulator* total) {
  using A = typename Op::Accumulator;
  *total =
      Op::merge(*total, fold_lanes(
                            x, n, Op::neutral(), [](A a, T v) __attribute__((always_inline)) { return Op::fold(a, v); },
                            [](A a, A b) __attribute__((always_inline)) { return Op::merge(a, b); }));
}

template <class Op, class T>
[[gnu::always_inline]] inline void fold_row(const T* x, int64_t n, typename Op::Accumulator* row) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) row[i] = Op::fold(row[i], x[i]);
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

template <class Op, class T>
class ReduceKernel final : public Kernel {
 public:
  using A = typename Op::Accumulator;

  ReduceKernel(const Node& node, int first_input_version)
      : axes_(node, first_input_version, 1),
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
      std::fill_n(y.as<T>(), y.element_count, Op::finish(Op::neutral(), 0));
      return;
    }
    const int64_t count = x.element_count / y.element_count;
    if (kept.extents.size() == 0 || last_reduced) {
      fold_runs(context, x, y, kept, folded, count);
    } else {
      fold_rows(context, x, y, kept, folded, count);
    }
  }

 private:
  static constexpr int64_t kGrain = 32768;

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
      auto* partial = static_cast<A*>(context.scratch(static_cast<size_t>(chunks) * sizeof(A)));
      context.parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          partial[i] = Op::neutral();
          run_(x.as<T>() + i * kGrain, std::min(kGrain, run - i * kGrain), &partial[i]);
        }
      });
      A total = Op::neutral();
      for (int64_t i = 0; i < chunks; ++i) total = Op::merge(total, partial[i]);
      *y.as<T>() = Op::finish(total, count);
      return;
    }
    const int64_t runs = folded.count();
    context.parallel_for(y.element_count, std::max<int64_t>(1, kGrain / count), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* from = x.as<T>() + kept.offset(i);
        A total = Op::neutral();
        for (int64_t r = 0; r < runs; ++r) run_(from + folded.offset(r), run, &total);
        y.as<T>()[i] = Op::finish(total, count);
      }
    });
  }

  // The innermost group is kept: rows of it are folded element by element.
  void fold_rows(RunContext& context, const TensorView& x, const TensorView& y, Groups kept, const Groups& folded,
                 int64_t count) const {
    constexpr int64_t kBlock = 1024;
    const int64_t row = kept.extents[kept.extents.size() - 1];
    kept.extents[kept.extents.size() - 1] = 1;
    const int64_t blocks = (row + kBlock - 1) / kBlock;
    const int64_t rows = folded.count();
    context.parallel_for(kept.count() * blocks, std::max<int64_t>(1, kGrain / (rows * std::min(row, kBlock))),
                         [&](int64_t begin, int64_t end) {
                           A totals[kBlock];
                           for (int64_t i = begin; i < end; ++i) {
                             const int64_t column = i % blocks * kBlock;
                             const int64_t width = std::min(kBlock, row - column);
                             const T* from = x.as<T>() + kept.offset(i / blocks) + column;
                             std::fill_n(totals, width, Op::neutral());
                             for (int64_t r = 0; r < rows; ++r) row_(from + folded.offset(r), width, totals);
                             T* to = y.as<T>() + i / blocks * row + column;
                             for (int64_t j = 0; j < width; ++j) to[j] = Op::finish(totals[j], count);
                           }
                         });
  }

  Axes axes_;
  bool keep_dims_;
  bool no_axes_is_identity_;
  void (*run_)(const T*, int64_t, A*) = Versions<&fold_run<Op, T>>::best();
  void (*row_)(const T*, int64_t, A*) = Versions<&fold_row<Op, T>>::best();
};

template <template <class> class Op, int kFirstInputVersion, class... Types>
std::unique_ptr<Kernel> make_reduction(const Node& node, DataType type) {
  return dispatch<Types...>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::unique_ptr<Kernel>(std::make_unique<ReduceKernel<Op<T>, T>>(node, kFirstInputVersion));
  });
}

// Sums and products of integers have the same bits for both signs.
template <template <class> class Op, int kFirstInputVersion>
std::unique_ptr<Kernel> make_sum(const Node& node) {
  const DataType type = input_type(node, 0);
  return make_reduction<Op, kFirstInputVersion, float, double, int32_t, int64_t>(
      node, type == DataType::kUInt32   ? DataType::kInt32
            : type == DataType::kUInt64 ? DataType::kInt64
                                        : type);
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_mean(const Node& node) {
  return make_reduction<Op, 18, float, double, int32_t, int64_t, uint32_t, uint64_t>(node, input_type(node, 0));
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_extremum(const Node& node) {
  // false < true, as bytes.
  const DataType type = input_type(node, 0) == DataType::kBool ? DataType::kUInt8 : input_type(node, 0);
  return make_reduction<Op, 18, float, double, int8_t, uint8_t, int32_t, int64_t, uint32_t, uint64_t>(node, type);
}

void decline_no_reduction(const Node& node) {
  if (node.attribute_or<int64_t>("noop_with_empty_axes", 0) != 0) {
    decline(node, "noop_with_empty_axes is not implemented for this reduction");
  }
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_norm(const Node& node) {
  decline_no_reduction(node);
  return make_reduction<Op, 18, float, double, int32_t, int64_t, uint32_t, uint64_t>(node, input_type(node, 0));
}

template <template <class> class Op>
std::unique_ptr<Kernel> make_logarithm(const Node& node) {
  decline_no_reduction(node);
  return make_reduction<Op, 18, float, double>(node, input_type(node, 0));
}

}  // namespace

void register_reduce(KernelRegistry& registry) {
  const TypeList numbers = kFloatTypes + kWideIntegerTypes;
  const TypeList ordered = numbers + TypeList{DataType::kInt8, DataType::kUInt8, DataType::kBool};
  add_kernel(registry, "ReduceSum", 1, 13, {{"T", numbers}}, &with_half<&make_sum<Sum, 13>>);
  add_kernel(registry, "ReduceMean", 1, 18, {{"T", numbers}}, &with_half<&make_mean<Mean>>);
  add_kernel(registry, "ReduceProd", 1, 18, {{"T", numbers}}, &with_half<&make_sum<Product, 18>>);
  add_kernel(registry, "ReduceMax", 1, 20, {{"T", ordered}}, &with_half<&make_extremum<Max>>);
  add_kernel(registry, "ReduceMin", 1, 20, {{"T", ordered}}, &with_half<&make_extremum<Min>>);
  add_kernel(registry, "ReduceL1", 1, 18, {{"T", numbers}}, &with_half<&make_norm<L1>>);
  add_kernel(registry, "ReduceL2", 1, 18, {{"T", numbers}}, &with_half<&make_norm<L2>>);
  add_kernel(registry, "ReduceSumSquare", 1, 18, {{"T", numbers}}, &with_half<&make_norm<SumSquare>>);
  // Before 28 also for integers, whose logarithms nobody takes.
  add_kernel(registry, "ReduceLogSum", 1, 28, {{"T", kFloatTypes}}, &with_half<&make_logarithm<LogSum>>);
  add_kernel(registry, "ReduceLogSumExp", 1, 28, {{"T", kFloatTypes}}, &with_half<&make_logarithm<LogSumExp>>);
}

}  // namespace onnx_light_ort::kernels
