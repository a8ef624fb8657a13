// What a value slot holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "onnx_light_ort/kernels/tensor_view.h"
#include "owner.h"

namespace onnx_light_ort::engine {

using kernels::DataType;
using kernels::TensorView;

/// Empty, a dense tensor, or an object that only its maker understands (a Python sequence, map, optional).
/// A tensor's view borrows its data from `owner` and its dims from this Value; copies share the data.
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
  void reset() noexcept { take_owner(); }
  /// Empties this value and hands over what kept its memory alive.
  Ref<> take_owner() noexcept {
    kind_ = Kind::kEmpty;
    return std::move(owner_);
  }

 private:
  static constexpr size_t kInlineRank = 6;
  void copy_dims(const int64_t* dims, size_t rank);

  TensorView view_;
  Ref<> owner_;
  Kind kind_ = Kind::kEmpty;
  std::array<int64_t, kInlineRank> inline_dims_;
  std::unique_ptr<int64_t[]> heap_dims_;
};

/// Owns the elements of a string tensor.
class StringBuffer final : public Owner {
 public:
  explicit StringBuffer(size_t count) : strings_(std::make_unique<std::string[]>(count)) {}
  std::string* data() noexcept { return strings_.get(); }

 private:
  std::unique_ptr<std::string[]> strings_;
};

}  // namespace onnx_light_ort::engine
