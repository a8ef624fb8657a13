// Calls the small ABI as a plugin would. Without argument it prints one line for each fact; with one, it makes the
// named call, which ends the process.
#include <cstdio>
#include <cstring>
#include <string>

#include "bootstrap.h"
#include "tables.h"

namespace onnx_light_ort::abi {
OrtValue* make_value(int number);
}

using namespace onnx_light_ort::abi;

namespace {

const OrtApi* api;

void print(const char* what, OrtStatus* status) {
  if (status == nullptr) {
    std::printf("%s: ok\n", what);
    return;
  }
  std::printf("%s: %d %s\n", what, static_cast<int>(api->GetErrorCode(status)), api->GetErrorMessage(status));
  api->ReleaseStatus(status);
}

template <class Flavour>
void negotiate(const char* flavour) {
  const OrtApiBase* base = api_base<Flavour>();
  std::printf("%s:", flavour);
  for (unsigned version : {29u, 30u, 0u}) std::printf(" %u %s", version, base->GetApi(version) ? "answered" : "null");
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  api = api_base<Plain>()->GetApi(29);
  OrtValue* value = make_value(7);
  const std::string call = argc > 1 ? argv[1] : "";
  if (call == "null in a getter") return api->Number(nullptr, 1);
  if (call == "exception in a getter") return api->Number(value, -1);
  if (call == "stub of a getter") return api->Missing(value);
  if (call == "release of a stub") api->ReleaseSession(reinterpret_cast<OrtSession*>(value));
  if (!call.empty()) return 2;

  take_requested_versions();
  negotiate<Plain>("plain");
  negotiate<Trace>("trace");
  negotiate<Strict>("strict");
  std::printf("asked for:");
  for (unsigned version : take_requested_versions()) std::printf(" %u", version);
  std::printf("\nflavours share tables: %s\n",
              table<OrtApi, Plain>() == table<OrtApi, Trace>() || table<OrtApi, Plain>() == table<OrtApi, Strict>()
                  ? "yes"
                  : "no");
  std::printf("version string: %s\nbuild: %s\n", api_base<Plain>()->GetVersionString(), api->GetBuildInfoString());

  print("throw nothing", api->Throw(0));
  print("throw abi::Error", api->Throw(1));
  print("throw kernels::Error", api->Throw(2));
  print("throw bad_alloc", api->Throw(3));
  print("throw runtime_error", api->Throw(4));
  print("throw int", api->Throw(5));
  print("throw not implemented", api->Throw(6));

  size_t out = 0;
  const int64_t sizes[] = {1000};
  print("null for a required parameter", api->Count(nullptr, "", sizes, 1, &out));
  print("null for a required output", api->Count(value, "", sizes, 1, nullptr));
  print("null for a counted parameter", api->Count(value, "", nullptr, 1, &out));
  print("null and count 0", api->Count(value, "", nullptr, 0, &out));
  std::printf("result: %zu\n", out);
  print("null for an optional parameter", api->Count(value, nullptr, sizes, 1, &out));
  std::printf("result: %zu\n", out);
  print("null message", api->CreateStatus(ORT_FAIL, nullptr));

  print("deferred", api->Later(nullptr, nullptr));
  print("no line", api->GetEpApi()->UseEp(nullptr));
  std::printf("number: %d\n", api->Number(value, 1));
  std::printf("null stub: %s\n", api->GetTrainingApi(29) == nullptr ? "null" : "something");
  api->ReleaseValue(nullptr);
  api->ReleaseValue(value);
  api->ReleaseSession(nullptr);
  api->GetEpApi()->ReleaseEp(nullptr);
  return 0;
}
