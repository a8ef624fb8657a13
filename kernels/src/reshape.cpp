// Operators that change dimensions and no element: Identity, Reshape, Flatten, Squeeze,
// Unsqueeze.
#include <optional>

#include "axes.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class IdentityKernel final : public Kernel {
 public:
  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    context.forward_input(0, 0, x.dims, x.rank);
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }
};

std::unique_ptr<Kernel> make_identity(const Node&) { return std::make_unique<IdentityKernel>(); }

// 0 copies the input's dimension (unless allowzero), one -1 takes what is left.
class ReshapeKernel final : public Kernel {
 public:
  explicit ReshapeKernel(const Node& node) : allow_zero_(node.attribute_or<int64_t>("allowzero", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& shape = context.required_input(1);
    Dims dims(shape.as<int64_t>(), static_cast<size_t>(shape.element_count));
    size_t inferred = dims.size();
    int64_t known = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 0 && !allow_zero_) {
        if (d >= x.rank) bad_shape(x, shape);
        dims[d] = x.dims[d];
      }
      if (dims[d] == -1 && inferred == dims.size()) {
        inferred = d;
      } else if (dims[d] < 0 || __builtin_mul_overflow(known, dims[d], &known)) {
        bad_shape(x, shape);
      }
    }
    if (inferred < dims.size()) {
      if (known == 0 || x.element_count % known != 0) bad_shape(x, shape);
      dims[inferred] = x.element_count / known;
    } else if (known != x.element_count) {
      bad_shape(x, shape);
    }
    context.forward_input(0, 0, dims.data(), dims.size());
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  [[noreturn]] static void bad_shape(const TensorView& x, const TensorView& shape) {
    invalid_argument("Reshape: input of shape " + to_string(x) + " cannot take the shape " +
                     to_string(shape.as<int64_t>(), static_cast<size_t>(shape.element_count)));
  }

  bool allow_zero_;
};

std::unique_ptr<Kernel> make_reshape(const Node& node) { return std::make_unique<ReshapeKernel>(node); }

class FlattenKernel final : public Kernel {
 public:
  explicit FlattenKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", 1)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const auto rank = static_cast<int64_t>(x.rank);
    const size_t axis = axis_ == rank ? x.rank : normalized_axis("Flatten", axis_, x.rank);
    const std::optional<int64_t> rows = checked_element_count(x.dims, axis);
    const std::optional<int64_t> columns = checked_element_count(x.dims + axis, x.rank - axis);
    if (!rows.has_value() || !columns.has_value()) {
      invalid_argument("Flatten: shape " + to_string(x) + " has too many elements");
    }
    const int64_t dims[] = {*rows, *columns};
    context.forward_input(0, 0, dims, 2);
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> make_flatten(const Node& node) { return std::make_unique<FlattenKernel>(node); }

class SqueezeKernel final : public Kernel {
 public:
  explicit SqueezeKernel(const Node& node) : axes_(node, 13, 1) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const std::optional<Dims> named = axes_.flags(context, x.rank);
    Dims dims;
    for (size_t d = 0; d < x.rank; ++d) {
      const bool drop = named.has_value() ? (*named)[d] != 0 : x.dims[d] == 1;
      if (drop && x.dims[d] != 1) {
        invalid_argument("Squeeze: axis " + std::to_string(d) + " of shape " + to_string(x) + " is not 1");
      }
      if (!drop) dims.push_back(x.dims[d]);
    }
    context.forward_input(0, 0, dims.data(), dims.size());
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  Axes axes_;
};

std::unique_ptr<Kernel> make_squeeze(const Node& node) { return std::make_unique<SqueezeKernel>(node); }

class UnsqueezeKernel final : public Kernel {
 public:
  explicit UnsqueezeKernel(const Node& node) : from_input_(node.since_version >= 13) {
    if (!from_input_) axes_ = node.attribute_or<std::vector<int64_t>>("axes", {});
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (!from_input_) {
      forward(context, x, axes_.data(), axes_.size());
      return;
    }
    const TensorView& axes = context.required_input(1);
    forward(context, x, axes.as<int64_t>(), static_cast<size_t>(axes.element_count));
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  static void forward(RunContext& context, const TensorView& x, const int64_t* axes, size_t count) {
    Dims dims(x.rank + count, -1);
    for (size_t i = 0; i < count; ++i) {
      int64_t& extent = dims[normalized_axis("Unsqueeze", axes[i], dims.size())];
      if (extent == 1) invalid_argument("Unsqueeze: an axis is named twice");
      extent = 1;
    }
    size_t from = 0;
    for (int64_t& extent : dims) extent = extent == 1 ? 1 : x.dims[from++];
    context.forward_input(0, 0, dims.data(), dims.size());
  }

  bool from_input_;
  std::vector<int64_t> axes_;
};

std::unique_ptr<Kernel> make_unsqueeze(const Node& node) { return std::make_unique<UnsqueezeKernel>(node); }

}  // namespace

void register_reshape(KernelRegistry& registry) {
  constexpr bool kForwards = true;
  add_kernel(registry, "Identity", 1, 13, {{"T", kAllTypes}}, &make_identity, kForwards);
  add_kernel(registry, "Identity", 14, 25, {{"V", kAllTypes}}, &make_identity, kForwards);
  add_kernel(registry, "Reshape", 5, 25, {{"T", kAllTypes}}, &make_reshape, kForwards);
  add_kernel(registry, "Flatten", 1, 25, {{"T", kAllTypes}}, &make_flatten, kForwards);
  add_kernel(registry, "Squeeze", 1, 25, {{"T", kAllTypes}}, &make_squeeze, kForwards);
  add_kernel(registry, "Unsqueeze", 1, 25, {{"T", kAllTypes}}, &make_unsqueeze, kForwards);
}

}  // namespace onnx_light_ort::kernels
