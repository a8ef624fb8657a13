// Version negotiation: what plugins asked this host for.
#pragma once

#include <cstdint>
#include <vector>

namespace onnx_light_ort::abi {

/// Whether OrtApiBase::GetApi answers this version with a table.
bool is_accepted_version(std::uint32_t version) noexcept;

/// Remembers, for the calling thread, that a plugin asked for a version. Called by GetApi in every flavour.
void note_requested_version(std::uint32_t version) noexcept;

/// The versions asked for on this thread since the last call, oldest first, at most the first 32. The loader clears
/// them before it calls an entry point and reads them after, so that its error can name them. A library that
/// negotiates on another thread leaves nothing here.
std::vector<std::uint32_t> take_requested_versions();

}  // namespace onnx_light_ort::abi
