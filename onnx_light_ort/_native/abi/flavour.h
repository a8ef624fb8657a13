// The flavours in which every host table exists: the same thunks, with something around each call or nothing.
//
// A thunk constructs `Flavour::Scope<Tag>` with the slot's arguments before it checks or does anything, calls
// `returned` (with the result, if the slot has one that is not a status) when the body succeeded, and hands the
// status of a failure through `failed`. A scope's constructor may throw abi::Error in a status-returning slot; its
// destructor runs in both cases.
#pragma once

#include "onnx_light_ort/ort_abi.h"
#include "slot_calls.h"

namespace onnx_light_ort::abi {

/// Nothing around the call.
struct Plain {
  template <class Tag>
  struct Scope {
    template <class... Args>
    explicit constexpr Scope(const Args&...) noexcept {}
    template <class... Result>
    void returned(const Result&...) noexcept {}
  };

  template <class Tag>
  static OrtStatus* failed(OrtStatus* status) noexcept {
    return status;
  }
};

/// Counts how often each slot is entered.
struct Trace : Plain {
  template <class Tag>
  struct Scope : Plain::Scope<Tag> {
    template <class... Args>
    explicit Scope(const Args&...) noexcept {
      slot_calls[Tag::kId].fetch_add(1, std::memory_order_relaxed);
    }
  };
};

/// Checks every handle.
struct Strict : Plain {};

}  // namespace onnx_light_ort::abi
