// Plugin libraries and their entry points, for onnx_light_ort.host.
#include "library.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "../bootstrap/bootstrap.h"
#include "entry_point.h"
#include "foreign_text.h"
#include "gil.h"
#include "library_handle.h"
#include "served_tables.h"
#include "session_options.h"
#include "slot_list.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace onnx_light_ort::bindings {
namespace {

using platform::LibraryHandle;
using platform::Scope;
using platform::SharedLibrary;

std::shared_ptr<SharedLibrary> open_bootstrap(const std::filesystem::path& path) {
  auto library = SharedLibrary::open(path, Scope::kGlobal);
  auto set_api_base = library->find_function<bootstrap::SetApiBase>(bootstrap::kSetApiBase);
  if (set_api_base == nullptr) {
    throw platform::LoadError(path.string() + " is not the bootstrap library of this package; install it again");
  }
  set_api_base(abi::served_api_base());
  return library;
}

LibraryHandle open_library(const std::filesystem::path& path, const std::optional<std::filesystem::path>& bootstrap) {
  // Static initialisers are foreign code that may take its time or wait for another thread.
  GilReleased released;
  return LibraryHandle(SharedLibrary::open(path, Scope::kLocal, bootstrap ? open_bootstrap(*bootstrap) : nullptr));
}

long close_library(LibraryHandle& handle) {
  // Taken under the GIL: another thread may be closing or entering the library at the same time.
  std::shared_ptr<SharedLibrary> claim = handle.take();
  const std::weak_ptr<SharedLibrary> others = claim;
  GilReleased released;
  claim.reset();
  return others.use_count();
}

abi::EntryPointOutcome call_register_custom_ops(const LibraryHandle& handle, OrtSessionOptions& options) {
  auto library = handle.library();
  auto function = library->find_function<abi::RegisterCustomOpsFunction>("RegisterCustomOps");
  if (function == nullptr) throw std::logic_error("the library exports no RegisterCustomOps");
  GilReleased released;
  return abi::call_register_custom_ops(function, options, library);
}

}  // namespace

void bind_library(nb::module_& m) {
  nb::exception<platform::LoadError>(m, "LoadError", PyExc_RuntimeError);

  nb::class_<LibraryHandle>(m, "LibraryHandle", "A claim on a loaded library, dropped by close().")
      .def_static("open", &open_library, "path"_a, "bootstrap"_a.none(),
                  nb::sig("def open(path: os.PathLike[str], bootstrap: os.PathLike[str] | None) -> LibraryHandle"),
                  "Loads the library at an absolute path, after the bootstrap library at `bootstrap` where one is "
                  "given. Raises LoadError with the platform's message.")
      .def("close", &close_library,
           "Drops the claim and returns how many objects hold the same one; at 0 the library was unloaded.")
      .def_static("open_count", &SharedLibrary::open_count, "path"_a,
                  nb::sig("def open_count(path: os.PathLike[str]) -> int"),
                  "How many claims on the library at this path are held in this process.");

  nb::class_<abi::EntryPointOutcome>(m, "EntryPointOutcome", "How a call of a plugin's entry point ended.")
      .def_prop_ro(
          "code", [](const abi::EntryPointOutcome& o) { return static_cast<int>(o.code); },
          "OrtErrorCode: 0 where all went well.")
      .def_prop_ro("message", [](const abi::EntryPointOutcome& o) { return foreign_text(o.message); })
      .def_ro("requested_versions", &abi::EntryPointOutcome::requested_versions, "What it asked GetApi for, in order.");

  m.def("call_register_custom_ops", &call_register_custom_ops, "library"_a, "session_options"_a,
        "Calls RegisterCustomOps and reads the ops that it added. On any ending but success the options are as "
        "before. The caller keeps other threads from the options meanwhile.");
  m.def(
      "accepted_api_versions",
      [] {
        return std::vector<std::uint32_t>(std::begin(abi::kAcceptedApiVersions), std::end(abi::kAcceptedApiVersions));
      },
      "The versions that GetApi answers with a table.");
  m.def("global_provider", &platform::global_provider, "symbol"_a,
        "The file to which an undefined symbol of the next library would bind, None where there is none.");
}

}  // namespace onnx_light_ort::bindings
