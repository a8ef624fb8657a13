// What the trace tables count.
#pragma once

#include <atomic>
#include <cstdint>

#include "slot_list.h"

namespace onnx_light_ort::abi {

/// How often each slot was entered through a trace table since the process began, by SlotInfo::id.
inline std::atomic<std::uint64_t> slot_calls[kSlotCount];

}  // namespace onnx_light_ort::abi
