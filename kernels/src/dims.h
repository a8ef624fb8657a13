// Dimensions of a tensor that a kernel is about to make, without an allocation up to rank 8.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "onnx_light_ort/kernels/error.h"
#include "onnx_light_ort/kernels/tensor_view.h"

namespace onnx_light_ort::kernels {

class Dims {
 public:
  Dims() = default;
  explicit Dims(size_t rank, int64_t fill = 1) {
    resize(rank);
    std::fill_n(data(), rank, fill);
  }
  Dims(const int64_t* dims, size_t rank) {
    resize(rank);
    std::copy_n(dims, rank, data());
  }
  explicit Dims(const TensorView& view) : Dims(view.dims, view.rank) {}

  size_t size() const noexcept { return size_; }
  int64_t* data() noexcept { return size_ <= kInline ? inline_.data() : spilled_.data(); }
  const int64_t* data() const noexcept { return size_ <= kInline ? inline_.data() : spilled_.data(); }
  int64_t& operator[](size_t i) noexcept { return data()[i]; }
  int64_t operator[](size_t i) const noexcept { return data()[i]; }
  int64_t* begin() noexcept { return data(); }
  int64_t* end() noexcept { return data() + size_; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + size_; }

  void push_back(int64_t value) {
    resize(size_ + 1);
    data()[size_ - 1] = value;
  }

  bool equals(const TensorView& view) const noexcept {
    return view.rank == size_ && std::equal(begin(), end(), view.dims);
  }

 private:
  static constexpr size_t kInline = 8;

  void resize(size_t size) {
    if (size > kInline) {
      if (size_ <= kInline) spilled_.assign(inline_.begin(), inline_.begin() + size_);
      spilled_.resize(size);
    }
    size_ = size;
  }

  std::array<int64_t, kInline> inline_;
  std::vector<int64_t> spilled_;
  size_t size_ = 0;
};

inline bool same_dims(const TensorView& a, const TensorView& b) noexcept {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

/// "[2,3]", for messages.
inline std::string to_string(const int64_t* dims, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}
inline std::string to_string(const TensorView& view) { return to_string(view.dims, view.rank); }
inline std::string to_string(const Dims& dims) { return to_string(dims.data(), dims.size()); }

/// Product of dims [begin, end).
inline int64_t product(const int64_t* dims, size_t begin, size_t end) noexcept {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= dims[i];
  return count;
}

/// a + b and a * b of extents that a model chose. Throw Error where 64 bits do not hold the result.
inline int64_t checked_sum(const char* op, int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    invalid_argument(std::string(op) + ": " + std::to_string(a) + " + " + std::to_string(b) +
                     " overflows 64 bits; use smaller extents");
  }
  return sum;
}
inline int64_t checked_product(const char* op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    invalid_argument(std::string(op) + ": " + std::to_string(a) + " * " + std::to_string(b) +
                     " overflows 64 bits; use smaller extents");
  }
  return result;
}

/// The axis counted from the front, for an axis in [-rank, rank). Throws Error otherwise.
inline size_t normalized_axis(const char* op, int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (rank == 0) {
    invalid_argument(std::string(op) + ": axis " + std::to_string(axis) + " is given for a scalar, which has no axes");
  }
  if (axis < -signed_rank || axis >= signed_rank) {
    invalid_argument(std::string(op) + ": axis " + std::to_string(axis) + " is outside [-" + std::to_string(rank) +
                     ", " + std::to_string(rank) + ")");
  }
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

}  // namespace onnx_light_ort::kernels
