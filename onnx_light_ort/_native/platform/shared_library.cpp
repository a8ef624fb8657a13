#include "shared_library.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace onnx_light_ort::platform {
namespace {

std::mutex claims_mutex;
std::map<std::filesystem::path, std::size_t> claims;

void add_claim(const std::filesystem::path& path) {
  std::lock_guard lock(claims_mutex);
  ++claims[path];
}

void drop_claim(const std::filesystem::path& path) {
  std::lock_guard lock(claims_mutex);
  if (auto found = claims.find(path); --found->second == 0) claims.erase(found);
}

#ifdef _WIN32

void* open_library(const std::filesystem::path& path, Scope) {
  // The folder of the library and the system's folders; never the current folder or PATH.
  HMODULE handle =
      LoadLibraryExW(path.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (handle == nullptr) throw LoadError("LoadLibrary failed with Windows error " + std::to_string(GetLastError()));
  return handle;
}

void close_library(void* handle) noexcept { FreeLibrary(static_cast<HMODULE>(handle)); }

void* symbol_of(void* handle, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle), name));
}

#else

void* open_library(const std::filesystem::path& path, Scope scope) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | (scope == Scope::kGlobal ? RTLD_GLOBAL : RTLD_LOCAL));
  if (handle == nullptr) throw LoadError(dlerror());
  return handle;
}

void close_library(void* handle) noexcept { dlclose(handle); }

void* symbol_of(void* handle, const char* name) noexcept { return dlsym(handle, name); }

#endif

}  // namespace

std::shared_ptr<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path, Scope scope,
                                                   std::shared_ptr<SharedLibrary> prerequisite) {
  if (!path.is_absolute()) throw LoadError("a library is loaded from an absolute path only");
  void* handle = open_library(path, scope);
  try {
    return std::shared_ptr<SharedLibrary>(new SharedLibrary(path, handle, std::move(prerequisite)));
  } catch (...) {
    close_library(handle);
    throw;
  }
}

SharedLibrary::SharedLibrary(std::filesystem::path path, void* handle, std::shared_ptr<SharedLibrary> prerequisite)
    : path_(std::move(path)), handle_(handle), prerequisite_(std::move(prerequisite)) {
  add_claim(path_);
}

SharedLibrary::~SharedLibrary() {
  close_library(handle_);
  drop_claim(path_);
}

void* SharedLibrary::find_symbol(const char* name) const noexcept { return symbol_of(handle_, name); }

std::size_t SharedLibrary::open_count(const std::filesystem::path& path) {
  std::lock_guard lock(claims_mutex);
  auto found = claims.find(path);
  return found == claims.end() ? 0 : found->second;
}

std::optional<std::filesystem::path> global_provider(const char* symbol) {
#ifdef _WIN32
  static_cast<void>(symbol);
  return std::nullopt;
#else
  // Not RTLD_DEFAULT, which would bind this library to what it found and keep that loaded for good.
  void* everyone = dlopen(nullptr, RTLD_NOW);
  void* address = dlsym(everyone, symbol);
  dlclose(everyone);
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) return std::nullopt;
  return std::filesystem::path(info.dli_fname);
#endif
}

}  // namespace onnx_light_ort::platform
