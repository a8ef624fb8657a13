// What is known at compile time of one entry of a host table.
#pragma once

#include <cstdint>

namespace onnx_light_ort::abi {

/// One slot of a host table. `id` counts through all tables, so that an array can hold something per slot.
struct SlotInfo {
  const char* table;
  const char* name;
  const char* reason;  ///< Why a stub does not answer; empty for a slot that does.
  std::uint16_t index;
  std::uint16_t since;
  std::uint16_t id;
  bool status;  ///< Reports failure through an OrtStatus.
};

/// Names a slot in template arguments. `Table` is one of the generated `...Table` structs.
template <class Table, unsigned Index>
struct SlotTag {
  static constexpr const SlotInfo& info() noexcept { return Table::kSlots[Index]; }
  static constexpr unsigned kId = Table::kFirstId + Index;
};

}  // namespace onnx_light_ort::abi
