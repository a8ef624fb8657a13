// Axes of an operator that takes them as an attribute in early versions and as an input later.
#pragma once

#include <optional>
#include <vector>

#include "dims.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "registration.h"

namespace onnx_light_ort::kernels {

class Axes {
 public:
  /// `input` is where the axes are from version `first_input_version` of the operator on.
  Axes(const Node& node, int first_input_version, size_t input) : op_(node.op_type), input_(input) {
    from_input_ = node.since_version >= first_input_version;
    if (!from_input_ && node.attribute("axes") != nullptr) {
      given_ = node.attribute_or<std::vector<int64_t>>("axes", {});
    } else if (from_input_ && constant_input(node, input) != nullptr) {
      given_ = integers(*constant_input(node, input));
    }
  }

  /// One entry for each dimension: 1 where the axis is named. Nothing when the node names no axes at all.
  std::optional<Dims> flags(const RunContext& context, size_t rank) const {
    if (given_.has_value()) return flags(*given_, rank);
    const TensorView* axes = from_input_ ? context.input(input_) : nullptr;
    if (axes == nullptr) return std::nullopt;
    return flags(integers(*axes), rank);
  }

 private:
  Dims flags(const std::vector<int64_t>& axes, size_t rank) const {
    Dims named(rank, 0);
    for (const int64_t axis : axes) named[normalized_axis(op_.c_str(), axis, rank)] = 1;
    return named;
  }

  std::string op_;
  size_t input_;
  bool from_input_ = false;
  std::optional<std::vector<int64_t>> given_;
};

}  // namespace onnx_light_ort::kernels
