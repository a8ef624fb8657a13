// Slice: numpy's basic slicing along named axes; bounds as attributes (1) or inputs with steps (10 and later).
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {
namespace {

class SliceKernel final : public Kernel {
 public:
  explicit SliceKernel(const Node& node) : from_input_(node.since_version >= 10) {
    if (from_input_) return;
    starts_ = node.attribute_or<std::vector<int64_t>>("starts", {});
    ends_ = node.attribute_or<std::vector<int64_t>>("ends", {});
    axes_ = node.attribute_or<std::vector<int64_t>>("axes", {});
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    if (!from_input_) {
      slice(context, x, starts_, ends_, axes_, {});
      return;
    }
    const TensorView* axes = context.input(3);
    const TensorView* steps = context.input(4);
    slice(context, x, integers(context.required_input(1)), integers(context.required_input(2)),
          axes != nullptr ? integers(*axes) : std::vector<int64_t>{},
          steps != nullptr ? integers(*steps) : std::vector<int64_t>{});
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  static void slice(RunContext& context, const TensorView& x, const std::vector<int64_t>& starts,
                    const std::vector<int64_t>& ends, const std::vector<int64_t>& axes,
                    const std::vector<int64_t>& steps) {
    if (starts.size() != ends.size() || (!axes.empty() && axes.size() != starts.size()) ||
        (!steps.empty() && steps.size() != starts.size()) || (axes.empty() && starts.size() > x.rank)) {
      invalid_argument("Slice: starts, ends, axes and steps have different lengths");
    }
    Dims dims(x);
    Dims strides = strides_of(x);
    Dims sliced(x.rank, 0);
    int64_t offset = 0;
    bool whole = true;
    for (size_t i = 0; i < starts.size(); ++i) {
      const size_t axis = axes.empty() ? i : normalized_axis("Slice", axes[i], x.rank);
      if (sliced[axis]++ != 0) invalid_argument("Slice: axis " + std::to_string(axis) + " is named twice");
      const int64_t step = steps.empty() ? 1 : steps[i];
      if (step == 0) invalid_argument("Slice: a step is 0");
      const int64_t extent = x.dims[axis];
      // Negative bounds count from the end; then they are clamped to what the direction can reach.
      const int64_t lowest = step > 0 ? 0 : -1;
      const int64_t highest = step > 0 ? extent : extent - 1;
      const int64_t start = std::clamp(starts[i] < 0 ? starts[i] + extent : starts[i], step > 0 ? lowest : 0, highest);
      const int64_t end = std::clamp(ends[i] < 0 ? ends[i] + extent : ends[i], lowest, highest);
      const int64_t distance = step > 0 ? end - start : start - end;
      // Steps beyond the extent leave one element; clamping them keeps the arithmetic in range.
      const int64_t stride = std::clamp(step, -extent - 1, extent + 1);
      const int64_t magnitude = stride > 0 ? stride : -stride;
      dims[axis] = distance > 0 ? (distance + magnitude - 1) / magnitude : 0;
      offset += start * strides[axis];
      strides[axis] *= stride;
      whole = whole && dims[axis] == extent && step > 0;
    }
    if (whole) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const size_t width = byte_width(x.dtype);
    strided_copy(context, y.data, dims, x.as<char>() + offset * static_cast<int64_t>(width), strides, width);
  }

  bool from_input_;
  std::vector<int64_t> starts_;
  std::vector<int64_t> ends_;
  std::vector<int64_t> axes_;
};

std::unique_ptr<Kernel> make_slice(const Node& node) { return std::make_unique<SliceKernel>(node); }

}  // namespace

void register_slice(KernelRegistry& registry) {
  add_kernel(registry, "Slice", 1, 13, {{"T", kByteTypes}}, &make_slice);
}

}  // namespace onnx_light_ort::kernels
