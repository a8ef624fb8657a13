// OrtGetApiBase for plugins that import it instead of waiting for the OrtApiBase that their entry point receives.
//
// The host loads this library with global scope, hands it the table, and then loads the plugin: the plugin's undefined
// OrtGetApiBase binds to the one here before the plugin's static initialisers run.
#include "bootstrap.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#ifdef _WIN32
#define BOOTSTRAP_EXPORT extern "C" __declspec(dllexport)
#else
#define BOOTSTRAP_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace {
std::atomic<const OrtApiBase*> api_base{nullptr};
}

BOOTSTRAP_EXPORT void onnx_light_ort_bootstrap_set_api_base(const OrtApiBase* base) { api_base.store(base); }

BOOTSTRAP_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase(void) NO_EXCEPTION {
  const OrtApiBase* base = api_base.load();
  if (base == nullptr) {
    // There is no error to return, and every caller dereferences the answer.
    std::fputs(
        "onnx-light-ort: OrtGetApiBase was called before a host provided its table. Load the plugin with "
        "onnx_light_ort instead of linking the bootstrap library.\n",
        stderr);
    std::abort();
  }
  return base;
}
