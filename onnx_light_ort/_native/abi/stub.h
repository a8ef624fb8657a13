// Slots without a body. Their parameters are deduced from the table's own pointer type, so that the tables need one
// line a stub.
#pragma once

#include "error.h"
#include "fail_fast.h"
#include "onnx_light_ort/ort_abi.h"

namespace onnx_light_ort::abi {

/// Answers ORT_NOT_IMPLEMENTED.
template <class Flavour, class Tag, class... Args>
OrtStatus* ORT_API_CALL status_stub(Args... args) noexcept {
  try {
    typename Flavour::template Scope<Tag> scope(args...);
  } catch (...) {
    return Flavour::template failed<Tag>(status_of_current_exception());
  }
  return Flavour::template failed<Tag>(not_implemented(Tag::info()));
}

/// Accepts null. Anything else cannot have come from this host.
template <class Flavour, class Tag, class Handle>
void ORT_API_CALL release_stub(Handle* input) noexcept {
  if (input == nullptr) return;
  fail_fast(Tag::info().table, Tag::info().name, "this host never made an object of this type");
}

/// Ends the process: there is no status to return.
template <class Flavour, class Tag, class Result, class... Args>
Result ORT_API_CALL fail_fast_stub(Args...) noexcept {
  fail_fast(Tag::info().table, Tag::info().name, Tag::info().reason);
}

/// Answers null, where the slot's contract has null mean "not available".
template <class Flavour, class Tag, class Result, class... Args>
Result ORT_API_CALL null_stub(Args... args) noexcept {
  typename Flavour::template Scope<Tag> scope(args...);
  return nullptr;
}

}  // namespace onnx_light_ort::abi
