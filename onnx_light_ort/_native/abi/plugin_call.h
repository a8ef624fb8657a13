// Calls from the host into a plugin's callbacks. They may return a status, which the host owns, and they may throw.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "error.h"

namespace onnx_light_ort::abi {

/// Throws an Error with the code and the message of a status, and releases it. Null is success.
void throw_status(OrtStatus* status);

/// Calls back and hands the result on; a status becomes an Error. An exception of the plugin becomes an Error that
/// names the callback, with ORT's code for that: it must not travel through frames that know nothing of it.
template <class Callback>
auto call_plugin(const char* callback, Callback&& call) {
  using Result = std::invoke_result_t<Callback>;
  try {
    if constexpr (std::is_same_v<Result, OrtStatus*>) {
      throw_status(call());
    } else {
      return call();
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ORT_RUNTIME_EXCEPTION, std::string(callback) + " threw an exception: " + error.what());
  } catch (...) {
    throw Error(ORT_RUNTIME_EXCEPTION, std::string(callback) + " threw an exception that is no std::exception");
  }
}

}  // namespace onnx_light_ort::abi
