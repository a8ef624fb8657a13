// Multidirectional broadcasting of up to three dense tensors (numpy's rules), reduced to runs of contiguous elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dims.h"
#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

/// Dimensions that the operands broadcast to. Throws Error where they do not agree.
Dims broadcast_dims(const char* op, const TensorView* const* operands, size_t count);

/// Loop nest over the output of a broadcast, adjacent dimensions merged where every operand allows it. Operands are
/// dense, so the innermost stride of each is 1 or 0.
template <size_t N>
class BroadcastPlan {
 public:
  static constexpr size_t kMaxRank = 24;

  /// `out` must be what the operands broadcast to. Throws Error(kNotImplemented) beyond kMaxRank merged dimensions.
  BroadcastPlan(const Dims& out, const std::array<const TensorView*, N>& operands) {
    std::array<int64_t, N> dense{};  // stride that the operand's next dimension would have
    dense.fill(1);
    for (size_t from_back = 0; from_back < out.size(); ++from_back) {
      const int64_t extent = out[out.size() - 1 - from_back];
      std::array<int64_t, N> strides{};
      for (size_t i = 0; i < N; ++i) {
        const TensorView& operand = *operands[i];
        const int64_t own = from_back < operand.rank ? operand.dims[operand.rank - 1 - from_back] : 1;
        strides[i] = own == 1 ? 0 : dense[i];
        dense[i] *= own;
      }
      if (extent != 1) append(extent, strides);
    }
    if (rank_ == 0) append(1, {});
  }

  /// Stride of operand i within a run: 1 or 0.
  int64_t inner_stride(size_t i) const noexcept { return strides_[0][i]; }
  int64_t inner_extent() const noexcept { return extents_[0]; }

  /// Calls run(offsets, out_offset, n) for runs that cover output elements [begin, end); offsets are in elements.
  template <class Run>
  void for_each_run(int64_t begin, int64_t end, Run&& run) const {
    std::array<int64_t, kMaxRank> index{};
    std::array<int64_t, N> offsets{};
    int64_t rest = begin;
    for (size_t d = 0; d < rank_; ++d) {
      index[d] = rest % extents_[d];
      rest /= extents_[d];
      for (size_t i = 0; i < N; ++i) offsets[i] += index[d] * strides_[d][i];
    }
    for (int64_t position = begin; position < end;) {
      const int64_t n = std::min(extents_[0] - index[0], end - position);
      run(offsets, position, n);
      position += n;
      index[0] += n;
      for (size_t i = 0; i < N; ++i) offsets[i] += n * strides_[0][i];
      for (size_t d = 0; d + 1 < rank_ && index[d] == extents_[d]; ++d) {
        for (size_t i = 0; i < N; ++i) offsets[i] += strides_[d + 1][i] - extents_[d] * strides_[d][i];
        index[d] = 0;
        ++index[d + 1];
      }
    }
  }

 private:
  void append(int64_t extent, const std::array<int64_t, N>& strides) {
    if (rank_ > 0) {
      bool mergeable = true;
      for (size_t i = 0; i < N; ++i) {
        mergeable = mergeable && strides[i] == strides_[rank_ - 1][i] * extents_[rank_ - 1];
      }
      if (mergeable) {
        extents_[rank_ - 1] *= extent;
        return;
      }
    }
    if (rank_ == kMaxRank) fail(ErrorKind::kNotImplemented, "broadcast over too many dimensions");
    extents_[rank_] = extent;
    strides_[rank_++] = strides;
  }

  // Innermost first.
  std::array<int64_t, kMaxRank> extents_;
  std::array<std::array<int64_t, N>, kMaxRank> strides_;
  size_t rank_ = 0;
};

}  // namespace onnx_light_ort::kernels
