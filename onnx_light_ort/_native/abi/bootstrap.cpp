#include "bootstrap.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "slot_list.h"
#include "slots.h"

#ifndef ONNX_LIGHT_ORT_VERSION
#error "ONNX_LIGHT_ORT_VERSION must be the project's version as a string: GetBuildInfoString reports it"
#endif

namespace onnx_light_ort::abi {
namespace {

/// Fixed in size, because it is written where no exception may leave.
struct RequestedVersions {
  std::array<std::uint32_t, 32> versions;
  std::size_t count = 0;
};

thread_local RequestedVersions requested;

}  // namespace

bool is_accepted_version(std::uint32_t version) noexcept {
  return std::find(std::begin(kAcceptedApiVersions), std::end(kAcceptedApiVersions), version) !=
         std::end(kAcceptedApiVersions);
}

void note_requested_version(std::uint32_t version) noexcept {
  if (requested.count < requested.versions.size()) requested.versions[requested.count++] = version;
}

std::vector<std::uint32_t> take_requested_versions() {
  std::vector<std::uint32_t> taken(requested.versions.begin(), requested.versions.begin() + requested.count);
  requested.count = 0;
  return taken;
}

const char* OrtApiBaseSlots::GetVersionString() { return kVersionString; }

const char* OrtApiSlots::GetBuildInfoString() {
  return "onnx-light-ort " ONNX_LIGHT_ORT_VERSION
         ": a compatibility host for plugins of the ONNX Runtime C ABI; this is not ONNX Runtime";
}

}  // namespace onnx_light_ort::abi
