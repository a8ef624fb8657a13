// Pad by constant, edge, reflect and (from version 19) wrap; negative pads crop. Pads are an attribute (2) or an input
// (11), for all axes or, from 18, for named ones.
#include <cstring>

#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "table_copy.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

enum class PadMode { kConstant, kEdge, kReflect, kWrap };

int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// Where in [0, extent) position p of the unbounded line reads from; -1 for the constant.
int64_t source_index(PadMode mode, int64_t p, int64_t extent) {
  if (p >= 0 && p < extent) return p;
  switch (mode) {
    case PadMode::kEdge:
      return p < 0 ? 0 : extent - 1;
    case PadMode::kReflect: {
      if (extent == 1) return 0;
      const int64_t q = modulo(p, 2 * (extent - 1));
      return q < extent ? q : 2 * (extent - 1) - q;
    }
    case PadMode::kWrap:
      return modulo(p, extent);
    default:
      return -1;
  }
}

class PadKernel final : public Kernel {
 public:
  explicit PadKernel(const Node& node) : from_input_(node.since_version >= 11) {
    const auto mode = node.attribute_or<std::string>("mode", "constant");
    if (mode == "edge") {
      mode_ = PadMode::kEdge;
    } else if (mode == "reflect") {
      mode_ = PadMode::kReflect;
    } else if (mode == "wrap") {
      mode_ = PadMode::kWrap;
    } else if (mode != "constant") {
      invalid_argument("Pad: mode is '" + mode + "'");
    }
    if (from_input_) return;
    if (input_type(node, 0) == DataType::kUndefined) return;
    pads_ = node.attribute_or<std::vector<int64_t>>("pads", {});
    const float value = node.attribute_or("value", 0.0f);
    dispatch<float, double, Float16, BFloat16>(input_type(node, 0), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T typed;
      if constexpr (kIsHalf<T>) {
        from_float(value, typed);
      } else {
        typed = static_cast<T>(value);
      }
      std::memcpy(value_, &typed, sizeof typed);
      return true;
    });
  }

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const void* fill = value_;
    std::vector<int64_t> pads = pads_;
    std::vector<int64_t> axes;
    if (from_input_) {
      pads = integers(context.required_input(1));
      if (const TensorView* value = context.input(2)) fill = value->data;
      if (const TensorView* named = context.input(3)) axes = integers(*named);
    }
    const bool all_axes = !from_input_ || context.input(3) == nullptr;
    const size_t count = all_axes ? x.rank : axes.size();
    if (pads.size() != 2 * count) {
      invalid_argument("Pad: " + std::to_string(pads.size()) + " pads for " + std::to_string(count) + " axes");
    }
    Dims begin(x.rank, 0);
    Dims dims(x);
    for (size_t i = 0; i < count; ++i) {
      const size_t axis = all_axes ? i : normalized_axis("Pad", axes[i], x.rank);
      begin[axis] = pads[i];
      dims[axis] = checked_sum("Pad", checked_sum("Pad", x.dims[axis], pads[i]), pads[i + count]);
      checked_sum("Pad", dims[axis], ~pads[i]);  // the last position that is read, dims[axis] - 1 - pads[i]
      if (dims[axis] < 0 || (x.dims[axis] == 0 && dims[axis] > 0 && mode_ != PadMode::kConstant)) {
        invalid_argument("Pad: pads " + to_string(pads.data(), pads.size()) + " do not fit shape " + to_string(x));
      }
    }
    if (dims.equals(x) && std::all_of(begin.begin(), begin.end(), [](int64_t b) { return b == 0; })) {
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;  // also where other dimensions are too long for a table
    std::vector<std::vector<int64_t>> tables(x.rank);
    for (size_t d = 0; d < x.rank; ++d) {
      for (int64_t i = 0; i < dims[d]; ++i) tables[d].push_back(source_index(mode_, i - begin[d], x.dims[d]));
    }
    table_copy(context, y, x, tables, fill, byte_width(x.dtype));
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  bool from_input_;
  PadMode mode_ = PadMode::kConstant;
  std::vector<int64_t> pads_;
  alignas(16) char value_[16] = {};
};

std::unique_ptr<Kernel> make_pad(const Node& node) { return std::make_unique<PadKernel>(node); }

}  // namespace

void register_pad(KernelRegistry& registry) {
  add_kernel(registry, "Pad", 2, 25, {{"T", kByteTypes + kSubByteTypes}}, &with_sub_byte<&make_pad>);
}

}  // namespace onnx_light_ort::kernels
