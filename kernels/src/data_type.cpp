#include "onnx_light_ort/kernels/data_type.h"

#include <limits>

namespace onnx_light_ort::kernels {
namespace {

struct TypeRow {
  const char* name;
  int bits;
};

// Indexed by DataType.
constexpr TypeRow kTypes[kDataTypeCount] = {
    {"undefined", 0},      {"float", 32},    {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"double", 64},   {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},
};

const TypeRow& row(DataType type) noexcept {
  const auto index = static_cast<int32_t>(type);
  return kTypes[index >= 0 && index < kDataTypeCount ? index : 0];
}

}  // namespace

const char* data_type_name(DataType type) noexcept { return row(type).name; }

int bit_size(DataType type) noexcept { return row(type).bits; }

std::optional<int64_t> checked_element_count(const int64_t* dims, size_t rank) noexcept {
  int64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    // From the left, as ORT multiplies: a zero excuses the dimensions after it, not those before it.
    if (dims[i] < 0 || __builtin_mul_overflow(count, dims[i], &count)) return std::nullopt;
  }
  return count;
}

std::optional<size_t> checked_byte_size(DataType type, int64_t count) noexcept {
  const auto bits = static_cast<uint64_t>(bit_size(type));
  if (count < 0) return std::nullopt;
  if (bits >= 8) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(count), bits / 8, &bytes)) return std::nullopt;
    if (bytes > std::numeric_limits<size_t>::max() / 2) return std::nullopt;
    return static_cast<size_t>(bytes);
  }
  if (bits == 0) return std::nullopt;
  const uint64_t per_byte = 8 / bits;
  return static_cast<size_t>(static_cast<uint64_t>(count) / per_byte + (static_cast<uint64_t>(count) % per_byte != 0));
}

}  // namespace onnx_light_ort::kernels
