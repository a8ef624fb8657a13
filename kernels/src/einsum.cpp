// Einsum. Operands are contracted from the left, each time as a batch of matrix products: labels of both operands that
// are wanted afterwards are the batch, the others that both have are summed over. Integers are computed in 64 bits and
// wrap around.
#include <algorithm>
#include <map>
#include <set>

#include "converted_tensor.h"
#include "dims.h"
#include "gemm.h"
#include "lanes.h"
#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// A letter, or a dimension of the ellipsis, counted from the last: kEllipsis is the last one, below it are those
// before.
using Label = int;
constexpr Label kEllipsis = -1;

struct Term {
  std::vector<Label> before;  ///< The ellipsis, or all there is.
  std::vector<Label> after;
  bool has_ellipsis = false;

  /// Labels for a tensor of some rank, or for so many dimensions of the ellipsis.
  std::vector<Label> labels(size_t ellipsis_rank) const {
    std::vector<Label> all = before;
    for (size_t i = 0; has_ellipsis && i < ellipsis_rank; ++i) {
      all.push_back(kEllipsis - static_cast<Label>(ellipsis_rank - 1 - i));
    }
    all.insert(all.end(), after.begin(), after.end());
    return all;
  }
  size_t letters() const { return before.size() + after.size(); }
};

Term parse_term(const std::string& equation, const std::string& text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0 && !term.has_ellipsis) {
      term.has_ellipsis = true;
      i += 2;
    } else if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z')) {
      (term.has_ellipsis ? term.after : term.before).push_back(text[i]);
    } else {
      invalid_argument("Einsum: the equation '" + equation + "' has a character that is neither letter nor ellipsis");
    }
  }
  return term;
}

struct Equation {
  std::vector<Term> inputs;
  Term output;

  explicit Equation(const std::string& given) {
    std::string text;
    std::copy_if(given.begin(), given.end(), std::back_inserter(text), [](char c) { return c != ' '; });
    const size_t arrow = text.find("->");
    const std::string left = text.substr(0, arrow);
    for (size_t begin = 0; begin <= left.size();) {
      const size_t end = std::min(left.find(',', begin), left.size());
      inputs.push_back(parse_term(given, left.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (arrow != std::string::npos) {
      output = parse_term(given, text.substr(arrow + 2));
    } else {
      output = implicit_output();
    }
    check_output(given);
  }

 private:
  // The ellipsis, then the letters that occur once, in alphabetical order.
  Term implicit_output() const {
    std::map<Label, int> occurrences;
    Term term;
    for (const Term& input : inputs) {
      term.has_ellipsis = term.has_ellipsis || input.has_ellipsis;
      for (const Label letter : input.labels(0)) ++occurrences[letter];
    }
    for (const auto& [letter, count] : occurrences) {
      if (count == 1) term.after.push_back(letter);
    }
    return term;
  }

  void check_output(const std::string& given) const {
    std::set<Label> known;
    for (const Term& input : inputs) {
      for (const Label letter : input.labels(0)) known.insert(letter);
    }
    std::set<Label> seen;
    for (const Label letter : output.labels(0)) {
      if (known.count(letter) == 0 || !seen.insert(letter).second) {
        invalid_argument("Einsum: in '" + given + "' a letter of the output occurs twice, or in no input");
      }
    }
  }
};

// A strided tensor whose dimensions have labels, each once.
template <class T>
struct Labelled {
  const T* data = nullptr;
  std::vector<Label> labels;
  std::vector<int64_t> strides;

  bool has(Label label) const { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
  int64_t stride(Label label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    return found == labels.end() ? 0 : strides[static_cast<size_t>(found - labels.begin())];
  }
};

template <class T>
class EinsumKernel final : public Kernel {
 public:
  explicit EinsumKernel(const Node& node) : equation_(node.attribute_or<std::string>("equation", "")) {
    if (equation_.inputs.size() != node.input_types.size()) {
      invalid_argument("Einsum: the equation has " + std::to_string(equation_.inputs.size()) + " terms for " +
                       std::to_string(node.input_types.size()) + " inputs");
    }
  }

  void compute(RunContext& context) override { Contraction(context, equation_).run(); }

 private:
  class Contraction {
   public:
    Contraction(RunContext& context, const Equation& equation) : context_(context), equation_(equation) {}

    void run() {
      size_t ellipsis_rank = 0;
      std::vector<Labelled<T>> operands;
      for (size_t i = 0; i < equation_.inputs.size(); ++i) operands.push_back(operand(i, ellipsis_rank));
      const std::vector<Label> wanted = equation_.output.labels(ellipsis_rank);
      Labelled<T> product = operands[0];
      for (size_t i = 1; i < operands.size(); ++i) {
        std::vector<Label> kept = wanted;
        for (size_t later = i + 1; later < operands.size(); ++later) {
          kept.insert(kept.end(), operands[later].labels.begin(), operands[later].labels.end());
        }
        product = contracted(product, operands[i], std::set<Label>(kept.begin(), kept.end()));
      }
      product = summed(product, std::set<Label>(wanted.begin(), wanted.end()));
      const Dims dims = extents(wanted);
      const TensorView& y = context_.output(0, dims.data(), dims.size());
      if (y.element_count != 0) copy(product, wanted, static_cast<T*>(y.data));
    }

   private:
    Labelled<T> operand(size_t i, size_t& ellipsis_rank) {
      const TensorView& x = context_.required_input(i);
      const Term& term = equation_.inputs[i];
      if (x.rank < term.letters() || (!term.has_ellipsis && x.rank > term.letters())) {
        invalid_argument("Einsum: input " + std::to_string(i) + " has shape " + to_string(x) + ", and " +
                         std::to_string(term.letters()) + " letters");
      }
      ellipsis_rank = std::max(ellipsis_rank, x.rank - term.letters());
      const std::vector<Label> labels = term.labels(x.rank - term.letters());
      const Dims strides = dense_strides(x.dims, x.rank);
      Labelled<T> made;
      made.data = x.as<T>();
      for (size_t d = 0; d < x.rank; ++d) {
        const auto [known, is_new] = extents_.emplace(labels[d], x.dims[d]);
        int64_t& extent = known->second;
        if (!is_new && extent == 1) extent = x.dims[d];
        if (x.dims[d] != extent && x.dims[d] != 1) {
          invalid_argument("Einsum: input " + std::to_string(i) + " of shape " + to_string(x) +
                           " does not fit the extents of the others");
        }
        const auto found = std::find(made.labels.begin(), made.labels.end(), labels[d]);
        const int64_t stride = x.dims[d] == 1 ? 0 : strides[d];  // perhaps broadcast
        if (found != made.labels.end()) {                        // a diagonal
          made.strides[static_cast<size_t>(found - made.labels.begin())] += stride;
        } else {
          made.labels.push_back(labels[d]);
          made.strides.push_back(stride);
        }
      }
      return made;
    }

    int64_t extent(Label label) const { return extents_.at(label); }

    Dims extents(const std::vector<Label>& labels) const {
      Dims dims;
      for (const Label label : labels) dims.push_back(extent(label));
      return dims;
    }

    int64_t count(const std::vector<Label>& labels) const {
      int64_t total = 1;
      for (const Label label : labels) total = checked_product("Einsum", total, extent(label));
      return total;
    }

    T* allocate(int64_t elements) {
      return static_cast<T*>(
          context_.scratch(static_cast<size_t>(checked_product("Einsum", elements, static_cast<int64_t>(sizeof(T))))));
    }

    /// The operand as a dense tensor with these labels, which it need not all have.
    void copy(const Labelled<T>& from, const std::vector<Label>& labels, T* to) {
      Dims strides;
      for (const Label label : labels) strides.push_back(from.stride(label));
      strided_copy(context_, to, extents(labels), from.data, strides, sizeof(T));
    }

    Labelled<T> dense(const T* data, const std::vector<Label>& labels) const {
      const Dims dims = extents(labels);
      const Dims strides = dense_strides(dims.data(), dims.size());
      return {data, labels, {strides.begin(), strides.end()}};
    }

    /// Without the labels that are not kept.
    Labelled<T> summed(const Labelled<T>& x, const std::set<Label>& kept) {
      std::vector<Label> stays;
      std::vector<Label> goes;
      for (const Label label : x.labels) (kept.count(label) != 0 ? stays : goes).push_back(label);
      if (goes.empty()) return x;
      const int64_t rows = count(stays);
      const int64_t n = count(goes);
      T* sums = allocate(rows);
      std::vector<Label> order = stays;
      order.insert(order.end(), goes.begin(), goes.end());
      T* moved = allocate(checked_product("Einsum", rows, n));
      if (rows * n != 0) copy(x, order, moved);
      context_.parallel_for(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n)),
                            [&](int64_t begin, int64_t end) {
                              const auto plus = [](T a, T b) { return static_cast<T>(a + b); };
                              for (int64_t row = begin; row < end; ++row) {
                                sums[row] = fold_lanes(moved + row * n, n, T(0), plus, plus);
                              }
                            });
      return dense(sums, stays);
    }

    // Labels that lie behind each other like one dimension have its stride.
    bool collapses(const Labelled<T>& x, const std::vector<Label>& labels, int64_t& stride) const {
      stride = 0;
      int64_t expected = 0;
      bool first = true;
      for (size_t i = labels.size(); i-- > 0;) {
        if (extent(labels[i]) == 1) continue;
        const int64_t own = x.stride(labels[i]);
        if (first) stride = own;
        if (!first && own != expected) return false;
        first = false;
        expected = own * extent(labels[i]);
      }
      return true;
    }

    /// The matrix of rows and columns at the front of a batch: the operand as it lies where that is one, else x becomes
    /// a copy.
    Matrix<T> matrix(Labelled<T>& x, const std::vector<Label>& batch, const std::vector<Label>& rows,
                     const std::vector<Label>& columns) {
      int64_t row_stride = 0;
      int64_t column_stride = 0;
      if (!collapses(x, rows, row_stride) || !collapses(x, columns, column_stride)) {
        std::vector<Label> order = batch;
        order.insert(order.end(), rows.begin(), rows.end());
        order.insert(order.end(), columns.begin(), columns.end());
        T* moved = allocate(count(order));
        if (count(order) != 0) copy(x, order, moved);
        x = dense(moved, order);
        collapses(x, rows, row_stride);
        collapses(x, columns, column_stride);
      }
      return {x.data, row_stride, column_stride};
    }

    Labelled<T> contracted(Labelled<T> a, Labelled<T> b, const std::set<Label>& kept) {
      std::set<Label> kept_of_a = kept;
      kept_of_a.insert(b.labels.begin(), b.labels.end());
      std::set<Label> kept_of_b = kept;
      kept_of_b.insert(a.labels.begin(), a.labels.end());
      a = summed(a, kept_of_a);
      b = summed(b, kept_of_b);
      std::vector<Label> batch;
      std::vector<Label> rows;
      std::vector<Label> columns;
      std::vector<Label> inner;
      for (const Label label : a.labels) {
        (!b.has(label) ? rows : kept.count(label) != 0 ? batch : inner).push_back(label);
      }
      std::copy_if(b.labels.begin(), b.labels.end(), std::back_inserter(columns),
                   [&](Label label) { return !a.has(label); });
      const int64_t m = count(rows);
      const int64_t n = count(columns);
      const int64_t k = count(inner);
      const int64_t size = count(batch);
      const Matrix<T> left = matrix(a, batch, rows, inner);
      const Matrix<T> right = matrix(b, batch, inner, columns);
      std::vector<Label> order = batch;
      order.insert(order.end(), rows.begin(), rows.end());
      order.insert(order.end(), columns.begin(), columns.end());
      T* c = allocate(count(order));
      const auto offset = [&](const Labelled<T>& x, int64_t index) {
        int64_t at = 0;
        for (size_t i = batch.size(); i-- > 0; index /= extent(batch[i])) {
          at += index % extent(batch[i]) * x.stride(batch[i]);
        }
        return at;
      };
      if (size * m * n != 0 && k == 0) std::fill_n(c, size * m * n, T(0));
      if (size * m * n != 0 && k != 0) {
        multiply(
            m, n, k, left, right, size, c, [&](int64_t i) { return offset(a, i); },
            [&](int64_t i) { return offset(b, i); });
      }
      return dense(c, order);
    }

    template <class OffsetA, class OffsetB>
    void multiply(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, int64_t batch, T* c,
                  OffsetA&& offset_a, OffsetB&& offset_b) {
      if constexpr (std::is_floating_point_v<T>) {
        GemmProblem<T> problem;
        problem.m = m;
        problem.n = n;
        problem.k = k;
        problem.a = a;
        problem.b = b;
        problem.c = c;
        problem.ldc = n;
        gemm_batch(context_, problem, batch, [&](int64_t i) {
          GemmProblem<T> one = problem;
          one.a.data += offset_a(i);
          one.b.data += offset_b(i);
          one.c += i * m * n;
          return one;
        });
      } else {
        context_.parallel_for(batch * m, std::max<int64_t>(1, 16384 / (n * k)), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const T* left = a.data + offset_a(row / m) + row % m * a.row_stride;
            const T* right = b.data + offset_b(row / m);
            for (int64_t j = 0; j < n; ++j) {
              T sum = 0;
              for (int64_t i = 0; i < k; ++i) {
                sum += left[i * a.column_stride] * right[i * b.row_stride + j * b.column_stride];
              }
              c[row * n + j] = sum;
            }
          }
        });
      }
    }

    RunContext& context_;
    const Equation& equation_;
    std::map<Label, int64_t> extents_;
  };

  Equation equation_;
};

DataType as_int64(DataType type) noexcept {
  switch (type) {
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kUInt8:
    case DataType::kUInt16:
    case DataType::kUInt32:
    case DataType::kUInt64:
      return DataType::kInt64;
    default:
      return type;
  }
}

std::unique_ptr<Kernel> make_einsum(const Node& node) {
  switch (input_type(node, 0)) {
    case DataType::kFloat:
      return std::make_unique<EinsumKernel<float>>(node);
    case DataType::kDouble:
      return std::make_unique<EinsumKernel<double>>(node);
    case DataType::kInt64:
      return std::make_unique<EinsumKernel<uint64_t>>(node);
    default:
      return make_widened_kernel(node, &make_einsum, &as_int64);
  }
}

}  // namespace

void register_einsum(KernelRegistry& registry) {
  add_kernel(registry, "Einsum", 12, 28, {{"T", kNumericTypes}}, &with_half<&make_einsum>);
}

}  // namespace onnx_light_ort::kernels
