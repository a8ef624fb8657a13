// The tables that plugins get.
#pragma once

#include <onnx_light_ort/ort_abi.h>

namespace onnx_light_ort::abi {

/// The flavour of what a library gets that is entered from now on.
enum class ServedFlavour { kPlain, kTrace, kStrict };

void serve(ServedFlavour flavour) noexcept;

const OrtApiBase* served_api_base() noexcept;
const OrtApi* served_api() noexcept;

}  // namespace onnx_light_ort::abi
