// What happens where the ABI leaves no way to report an error.
#pragma once

#include "slot.h"

namespace onnx_light_ort::abi {

/// Writes `onnx-light-ort: Table::Slot: reason` to stderr and aborts the process. For slots without a status only: an
/// invented answer (a dummy device, a null buffer, a false success) would let the caller go on with wrong data.
[[noreturn]] void fail_fast(const char* table, const char* slot, const char* reason) noexcept;

/// A slot without a status was called with null for a parameter that must not be.
[[noreturn]] void fail_fast_on_null(const SlotInfo& slot, const char* parameter) noexcept;

/// The body of a slot without a status threw; to be called while the exception is handled.
[[noreturn]] void fail_fast_on_exception(const SlotInfo& slot) noexcept;

}  // namespace onnx_light_ort::abi
