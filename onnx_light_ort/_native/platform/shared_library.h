// A shared library of the platform, opened by its path. Everything that differs between dlopen and LoadLibrary, wide
// paths included, is behind this header.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>

namespace onnx_light_ort::platform {

/// The platform's loader refused a library; the message is the platform's own.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Who may bind to the exports of a library.
enum class Scope {
  kLocal,   ///< Only whoever asks this object for a symbol.
  kGlobal,  ///< Also every library that is loaded after it, through its undefined symbols.
};

/// One claim on a loaded library. It stays loaded for as long as an owner of the claim lives: whatever holds code or
/// data of the library (a factory, a kernel, a deleter) holds a shared_ptr to it.
class SharedLibrary {
 public:
  /// Loads `path`, which is absolute, and binds all its symbols before its static initialisers run. `prerequisite`,
  /// where given, is a library to which it binds: it is released after this one was closed.
  static std::shared_ptr<SharedLibrary> open(const std::filesystem::path& path, Scope scope,
                                             std::shared_ptr<SharedLibrary> prerequisite = nullptr);

  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// The address of an exported function, null where there is none. `Function` is a pointer type; name it without
  /// noexcept, or an exception thrown by the library ends the process whatever is caught around the call.
  template <class Function>
  Function find_function(const char* name) const noexcept {
    return reinterpret_cast<Function>(find_symbol(name));
  }

  const std::filesystem::path& path() const noexcept { return path_; }

  /// How many claims on the library at `path` are held in this process by this class.
  static std::size_t open_count(const std::filesystem::path& path);

 private:
  SharedLibrary(std::filesystem::path path, void* handle, std::shared_ptr<SharedLibrary> prerequisite);

  void* find_symbol(const char* name) const noexcept;

  std::filesystem::path path_;
  void* handle_;
  std::shared_ptr<SharedLibrary> prerequisite_;
};

/// The file to which an undefined `symbol` of a library that is loaded next would bind, nullopt where nothing in the
/// process offers it to everyone. Always nullopt on platforms whose libraries name the file of each import.
std::optional<std::filesystem::path> global_provider(const char* symbol);

}  // namespace onnx_light_ort::platform
