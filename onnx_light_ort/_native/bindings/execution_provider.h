// Libraries of execution providers, and the providers that sessions have of them.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "ep.h"

namespace onnx_light_ort::bindings {

/// What Python holds of a provider. A Python object lives for as long as some traceback remembers it, which must not
/// decide when the provider is released: so the claim can be taken out of it.
class EpHandle {
 public:
  explicit EpHandle(std::shared_ptr<abi::Ep> ep) noexcept : ep_(std::move(ep)) {}

  /// To be shared by whatever the provider makes. Throws std::logic_error after take().
  const std::shared_ptr<abi::Ep>& ep() const {
    if (ep_ == nullptr) throw std::logic_error("the session of this execution provider was closed");
    return ep_;
  }

  /// The claim, which this handle holds no longer; null if it was taken before.
  std::shared_ptr<abi::Ep> take() noexcept { return std::move(ep_); }

 private:
  std::shared_ptr<abi::Ep> ep_;
};

void bind_execution_provider(nanobind::module_& m);

}  // namespace onnx_light_ort::bindings
