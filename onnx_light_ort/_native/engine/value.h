// What a value slot holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "buffer.h"
#include "onnx_light_ort/kernels/tensor_view.h"
#include "owner.h"

namespace onnx_light_ort::engine {

using kernels::DataType;
using kernels::TensorView;

/// Empty, a tensor, or an object that only its maker understands (a Python sequence, map, optional).
/// A tensor's view borrows its data from `owner`, its dims and strides from this Value; copies share the data. Tensors
/// are dense, but for fed ones that only kernels which read strides see (InputSpec::reads_strides).
class Value {
 public:
  enum class Kind : uint8_t { kEmpty, kTensor, kObject };

  Value() = default;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value() = default;

  /// A tensor over memory that `owner` keeps alive; null owner: the caller keeps it alive longer than this value.
  /// Throws kernels::Error when a dimension is negative or the element count overflows.
  static Value tensor(DataType dtype, const int64_t* dims, size_t rank, void* data, Ref<> owner);
  static Value object(Ref<> owner);

  Kind kind() const noexcept { return kind_; }
  bool empty() const noexcept { return kind_ == Kind::kEmpty; }
  bool is_tensor() const noexcept { return kind_ == Kind::kTensor; }

  /// Only for tensors. The address is stable as long as this Value is neither moved, assigned nor reset.
  const TensorView& view() const noexcept { return view_; }
  const Ref<>& owner() const noexcept { return owner_; }
  size_t byte_size() const noexcept;

  /// Replaces the content, as tensor() does, in place; the executor's way to fill a slot without a temporary.
  void set_tensor(DataType dtype, const int64_t* dims, size_t rank, int64_t element_count, void* data, Ref<> owner);
  /// The same with strides, in elements.
  void set_strided_tensor(DataType dtype, const int64_t* dims, const int64_t* strides, size_t rank,
                          int64_t element_count, void* data, Ref<> owner);
  void reset() noexcept { take_owner(); }
  /// Empties this value and hands over what kept its memory alive.
  Ref<> take_owner() noexcept {
    kind_ = Kind::kEmpty;
    return std::move(owner_);
  }

 private:
  static constexpr size_t kInlineRank = 6;
  /// `strides` may be null.
  void copy_dims(const int64_t* dims, const int64_t* strides, size_t rank);
  /// Points the view to the dims and strides of this Value, of which it has as many as the view says.
  void adopt_dims() noexcept;

  TensorView view_;
  Ref<> owner_;
  Kind kind_ = Kind::kEmpty;
  std::array<int64_t, kInlineRank> inline_dims_;
  std::unique_ptr<int64_t[]> heap_dims_;  ///< Where they are too many, or strides follow them.
};

/// Owns the elements of a string tensor, in a buffer that is charged like any other. What their texts allocate, only
/// std::string knows of.
class StringBuffer final : public Owner {
 public:
  /// Bytes that the buffer of `count` elements needs. Throws kernels::Error when their number overflows.
  static size_t byte_size(int64_t count);

  /// `count` empty strings in `buffer`, which has byte_size(count) bytes.
  StringBuffer(int64_t count, Ref<Buffer> buffer) noexcept;
  std::string* data() noexcept { return static_cast<std::string*>(buffer_->data()); }

 private:
  ~StringBuffer() override;

  const size_t count_;
  const Ref<Buffer> buffer_;
};

}  // namespace onnx_light_ort::engine
