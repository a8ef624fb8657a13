// A tensor's element type and shape, apart from any tensor.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// Three things are told apart: no shape at all (the rank is unknown), the shape of a scalar (rank 0), and a shape with
/// an extent of zero. A dimension of -1 is not known; it may have a name.
struct OrtTensorTypeAndShapeInfo {
 public:
  OrtTensorTypeAndShapeInfo() = default;
  OrtTensorTypeAndShapeInfo(ONNXTensorElementDataType type, const int64_t* dims, size_t rank) : element_type(type) {
    set_dims(dims, rank);
  }
  OrtTensorTypeAndShapeInfo(const OrtTensorTypeAndShapeInfo& other)
      : element_type(other.element_type), symbols_(other.symbols_) {
    if (other.has_shape_) set_dims(other.dims(), other.rank_);
  }
  OrtTensorTypeAndShapeInfo& operator=(const OrtTensorTypeAndShapeInfo&) = delete;

  ONNXTensorElementDataType element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;  ///< As ORT has it in a new one.

  bool has_shape() const noexcept { return has_shape_; }
  size_t rank() const noexcept { return rank_; }
  const int64_t* dims() const noexcept { return heap_dims_ ? heap_dims_.get() : inline_dims_.data(); }
  void set_dims(const int64_t* dims, size_t rank);

  /// The name of dimension i; "" where it has none.
  const std::string& symbol(size_t i) const noexcept;
  const std::vector<std::string>& symbols() const noexcept { return symbols_; }
  /// One name per dimension, or none at all.
  void set_symbols(std::vector<std::string> symbols) { symbols_ = std::move(symbols); }

 private:
  // One allocation for an object that plugins make and release in each call: dimensions of common ranks are inside.
  static constexpr size_t kInlineRank = 6;
  size_t rank_ = 0;
  bool has_shape_ = false;
  std::array<int64_t, kInlineRank> inline_dims_;
  std::unique_ptr<int64_t[]> heap_dims_;
  std::vector<std::string> symbols_;
};
