// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift. Signs do not matter but to a shift to the right.
#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

struct AndOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct OrOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct XorOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

struct NotOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T x, const UnaryParameters&) {
    return static_cast<T>(~x);
  }
};

// By the width or more, nothing is left but the sign of a negative number shifted to the right.
struct LeftShiftOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    constexpr uint64_t kBits = sizeof(T) * 8;
    const auto by = static_cast<uint64_t>(b);
    return by < kBits ? static_cast<T>(static_cast<uint64_t>(a) << by) : T(0);
  }
};

struct RightShiftOp {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) {
    constexpr uint64_t kBits = sizeof(T) * 8;
    const auto by = static_cast<uint64_t>(b);
    return static_cast<T>(a >> (by < kBits ? by : kBits - 1)) & (std::is_signed_v<T> || by < kBits ? T(-1) : T(0));
  }
};

DataType unsigned_of_width(DataType type) {
  switch (bit_size(type)) {
    case 8:
      return DataType::kUInt8;
    case 16:
      return DataType::kUInt16;
    case 32:
      return DataType::kUInt32;
    default:
      return DataType::kUInt64;
  }
}

template <class Op>
BinaryLoops unsigned_loops(DataType type) {
  return dispatch<uint8_t, uint16_t, uint32_t, uint64_t>(
      unsigned_of_width(type), [](auto tag) { return binary_loops<Op, typename decltype(tag)::type>(); });
}

template <class Op>
std::unique_ptr<Kernel> make_bitwise(const Node& node) {
  const DataType type = input_type(node, 0);
  return make_binary_kernel(Op::kName, unsigned_loops<typename Op::Loop>(type), type, type, kCheapGrain);
}

struct And {
  using Loop = AndOp;
  static constexpr const char* kName = "BitwiseAnd";
};
struct Or {
  using Loop = OrOp;
  static constexpr const char* kName = "BitwiseOr";
};
struct Xor {
  using Loop = XorOp;
  static constexpr const char* kName = "BitwiseXor";
};

std::unique_ptr<Kernel> make_not(const Node& node) {
  const DataType type = input_type(node, 0);
  const UnaryLoop loop = dispatch<uint8_t, uint16_t, uint32_t, uint64_t>(
      unsigned_of_width(type), [](auto tag) { return unary_loop<NotOp, typename decltype(tag)::type>(); });
  return make_unary_kernel(loop, type, {}, kCheapGrain);
}

std::unique_ptr<Kernel> make_bit_shift(const Node& node) {
  const DataType type = input_type(node, 0);
  const auto direction = node.attribute_or<std::string>("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    invalid_argument("BitShift: direction is '" + direction + "', expected 'LEFT' or 'RIGHT'");
  }
  const BinaryLoops loops =
      direction == "LEFT"
          ? unsigned_loops<LeftShiftOp>(type)
          : dispatch<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(
                type, [](auto tag) { return binary_loops<RightShiftOp, typename decltype(tag)::type>(); });
  return make_binary_kernel("BitShift", loops, type, type, kCheapGrain);
}

}  // namespace

void register_bitwise(KernelRegistry& registry) {
  const TypeList integers = kSignedTypes + kUnsignedTypes;
  add_kernel(registry, "BitwiseAnd", 18, 18, {{"T", integers}}, &make_bitwise<And>);
  add_kernel(registry, "BitwiseOr", 18, 18, {{"T", integers}}, &make_bitwise<Or>);
  add_kernel(registry, "BitwiseXor", 18, 18, {{"T", integers}}, &make_bitwise<Xor>);
  add_kernel(registry, "BitwiseNot", 18, 18, {{"T", integers}}, &make_not);
  add_kernel(registry, "BitShift", 11, 28, {{"T", integers}}, &make_bit_shift);
}

}  // namespace onnx_light_ort::kernels
