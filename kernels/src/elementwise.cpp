#include "elementwise.h"

#include <cstring>

#include "broadcast.h"
#include "streamed_output.h"

namespace onnx_light_ort::kernels {
namespace {

char* at(const TensorView& view, int64_t element, size_t width) {
  return static_cast<char*>(view.data) + static_cast<size_t>(element) * width;
}

class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(UnaryLoop loop, size_t width, const UnaryParameters& parameters, int64_t grain)
      : loop_(loop), width_(width), grain_(grain), parameters_(parameters) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& y = context.output_reusing_input(0, 0, x.dims, x.rank);
    const size_t out_width = y.dtype == DataType::kBool ? 1 : width_;
    if (!x.is_dense()) {
      if (x.element_count == 0) return;
      const BroadcastPlan<1> plan(Dims(x), {&x});
      plan.for_each_dense_run(context, {x.data}, {width_}, grain_, [&](const BroadcastRun<1>& run) {
        loop_(run.from[0], at(y, run.position, out_width), run.n, parameters_);
      });
      return;
    }
    // A tensor of one grain or less stays out of the thread pool.
    if (x.element_count <= grain_) {
      loop_(x.data, y.data, x.element_count, parameters_);
      return;
    }
    write_elements(context, y.data, out_width, x.element_count, grain_, x.data == y.data,
                   [&](int64_t begin, int64_t n, void* to) { loop_(at(x, begin, width_), to, n, parameters_); });
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  UnaryLoop loop_;
  size_t width_;
  int64_t grain_;
  UnaryParameters parameters_;
};

// One element of `width` bytes n times over.
void repeat(char* to, int64_t n, size_t width) {
  for (int64_t i = 1; i < n; ++i) std::memcpy(to + static_cast<size_t>(i) * width, to, width);
}

// out = f(a, b) over out's dimensions, to which a and b broadcast; out may lie over a.
void run_binary(RunContext& context, const BinaryLoops& loops, const TensorView& a, const TensorView& b,
                const TensorView& out, const Dims& out_dims, size_t in_width, size_t out_width, int64_t grain) {
  const BroadcastPlan<2> plan(out_dims, {&a, &b});
  plan.for_each_dense_run(context, {a.data, b.data}, {in_width, in_width}, grain, [&](const BroadcastRun<2>& run) {
    const auto [scalar_a, scalar_b] = run.single;
    const BinaryLoop loop = scalar_a == scalar_b ? loops.both : scalar_a ? loops.scalar_a : loops.scalar_b;
    char* to = at(out, run.position, out_width);
    // Both repeat along a dimension that a third operand alone has, or where strides are zero.
    const bool repeats = scalar_a && scalar_b;
    loop(run.from[0], run.from[1], to, repeats ? 1 : run.n);
    if (repeats) repeat(to, run.n, out_width);
  });
}

// The same for operands that have as many elements as out, stride 1, or a single one, stride 0.
void run_flat(RunContext& context, BinaryLoop loop, const TensorView& a, const TensorView& b, const TensorView& out,
              int64_t stride_a, int64_t stride_b, size_t in_width, size_t out_width, int64_t grain) {
  if (out.element_count <= grain) {
    if (out.element_count != 0) loop(a.data, b.data, out.data, out.element_count);
    return;
  }
  write_elements(context, out.data, out_width, out.element_count, grain, out.data == a.data || out.data == b.data,
                 [&](int64_t begin, int64_t n, void* to) {
                   loop(at(a, begin * stride_a, in_width), at(b, begin * stride_b, in_width), to, n);
                 });
}

class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(const char* op, const BinaryLoops& loops, size_t in_width, size_t out_width, int64_t grain)
      : op_(op), loops_(loops), in_width_(in_width), out_width_(out_width), grain_(grain) {}

  void compute(RunContext& context) override {
    const TensorView& a = context.required_input(0);
    const TensorView& b = context.required_input(1);
    // Fast paths: dense operands of equal shapes, and one element against any shape that it cannot extend.
    const bool flat = a.is_dense() && b.is_dense();
    if (flat && same_dims(a, b)) {
      const TensorView& out = output_like(context, 0, a);
      run_flat(context, loops_.both, a, b, out, 1, 1, in_width_, out_width_, grain_);
    } else if (flat && b.element_count == 1 && b.rank <= a.rank) {
      const TensorView& out = output_like(context, 0, a);
      run_flat(context, loops_.scalar_b, a, b, out, 1, 0, in_width_, out_width_, grain_);
    } else if (flat && a.element_count == 1 && a.rank <= b.rank) {
      const TensorView& out = output_like(context, 1, b);
      run_flat(context, loops_.scalar_a, a, b, out, 0, 1, in_width_, out_width_, grain_);
    } else {
      const TensorView* operands[] = {&a, &b};
      const Dims dims = broadcast_dims(op_, operands, 2);
      const TensorView& out = dims.equals(a)   ? output_like(context, 0, a)
                              : dims.equals(b) ? output_like(context, 1, b)
                                               : context.output(0, dims.data(), dims.size());
      if (out.element_count == 0) return;
      run_binary(context, loops_, a, b, out, dims, in_width_, out_width_, grain_);
    }
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  const TensorView& output_like(RunContext& context, size_t from, const TensorView& view) const {
    return in_width_ == out_width_ ? context.output_reusing_input(0, from, view.dims, view.rank)
                                   : context.output(0, view.dims, view.rank);
  }

  const char* op_;
  BinaryLoops loops_;
  size_t in_width_;
  size_t out_width_;
  int64_t grain_;
};

class FoldKernel final : public Kernel {
 public:
  FoldKernel(const char* op, const BinaryLoops& loops, UnaryLoop finish, size_t width)
      : op_(op), loops_(loops), finish_(finish), width_(width) {}

  void compute(RunContext& context) override {
    const TensorView& first = context.required_input(0);
    if (context.input_count() == 1) {
      context.forward_input(0, 0, first.dims, first.rank);
      return;
    }
    std::vector<const TensorView*> inputs;
    for (size_t i = 0; i < context.input_count(); ++i) inputs.push_back(&context.required_input(i));
    const Dims dims = broadcast_dims(op_, inputs.data(), inputs.size());
    // Only the first pair is read after the output is first written, so only it may share the output's buffer.
    const bool reuse = inputs.size() == 2 && dims.equals(first);
    const TensorView& out = reuse ? context.output_reusing_input(0, 0, dims.data(), dims.size())
                                  : context.output(0, dims.data(), dims.size());
    if (out.element_count == 0) return;
    const TensorView& second = *inputs[1];
    if (first.is_dense() && second.is_dense() && same_dims(first, second) && dims.equals(first)) {  // fast path
      run_flat(context, loops_.both, first, second, out, 1, 1, width_, width_, kCheapGrain);
    } else {
      run_binary(context, loops_, first, second, out, dims, width_, width_, kCheapGrain);
    }
    for (size_t i = 2; i < inputs.size(); ++i) {
      run_binary(context, loops_, out, *inputs[i], out, dims, width_, width_, kCheapGrain);
    }
    if (finish_ != nullptr) {
      const UnaryParameters parameters{static_cast<float>(inputs.size()), 0};
      finish_(out.data, out.data, out.element_count, parameters);
    }
  }

  bool reads_strides(size_t) const noexcept override { return true; }

 private:
  const char* op_;
  BinaryLoops loops_;
  UnaryLoop finish_;
  size_t width_;
};

}  // namespace

std::unique_ptr<Kernel> make_unary_kernel(UnaryLoop loop, DataType type, const UnaryParameters& parameters,
                                          int64_t grain) {
  return std::make_unique<UnaryKernel>(loop, byte_width(type), parameters, grain);
}

std::unique_ptr<Kernel> make_binary_kernel(const char* op, const BinaryLoops& loops, DataType in, DataType out,
                                           int64_t grain) {
  return std::make_unique<BinaryKernel>(op, loops, byte_width(in), byte_width(out), grain);
}

std::unique_ptr<Kernel> make_fold_kernel(const char* op, const BinaryLoops& loops, UnaryLoop finish, DataType type) {
  return std::make_unique<FoldKernel>(op, loops, finish, byte_width(type));
}

}  // namespace onnx_light_ort::kernels
