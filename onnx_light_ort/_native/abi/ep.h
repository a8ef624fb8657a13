// An execution provider of a plugin, in one session.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <memory>
#include <string>
#include <vector>

#include "ep_factory.h"
#include "ep_graph_support_info.h"
#include "plugin_call.h"
#include "session_options.h"
#include "session_services.h"

namespace onnx_light_ort::abi {

/// Owns an OrtEp: its factory releases it exactly once, when the last one goes who holds it. Whatever the provider made
/// - kernels, compiled states - holds it. Keeps the devices, and so the factory and the library.
class Ep {
 public:
  /// Has the factory of `devices` (one or more, all of one factory) make a provider. `session` names the session that
  /// uses it. Throws Error, with the provider's name.
  static std::shared_ptr<Ep> create(std::vector<std::shared_ptr<const EpDevice>> devices,
                                    const OrtSessionOptions& options, std::shared_ptr<const SessionServices> services,
                                    std::string session);
  ~Ep();
  Ep(const Ep&) = delete;
  Ep& operator=(const Ep&) = delete;

  OrtEp* get() const noexcept { return ep_; }
  const std::string& name() const noexcept { return name_; }
  const std::shared_ptr<const SessionServices>& services() const noexcept { return services_; }
  /// Lives as long as the provider, for one that keeps the pointer.
  const OrtSessionOptions& options() const noexcept { return options_; }
  const EpFactory& factory() const noexcept { return *devices_.front()->factory; }

  /// Asks which nodes of a graph it takes; `kernels` is null where it has no kernel registry. Throws Error.
  std::vector<Claim> get_capability(const OrtGraph& graph, KernelLookup* kernels);

  // What happens to a session. Each does nothing where the provider does not want to know. They throw Error.
  void on_session_initialization_end() const;
  bool wants_runs() const noexcept;
  void on_run_start(const OrtRunOptions& options) const;
  void on_run_end(const OrtRunOptions& options, bool sync_stream) const;
  /// Waits until the device did what it was asked to.
  void sync() const;
  /// Whether runs of a session may overlap; so they may where the provider does not say.
  bool is_concurrent_run_supported() const;

  /// Calls one of the provider's callbacks; an error names the provider and the callback. Throws Error.
  template <class Call>
  auto call(const char* callback, Call&& body) const {
    try {
      return call_plugin(callback, std::forward<Call>(body));
    } catch (const Error& error) {
      throw Error(error.code(), "execution provider '" + name_ + "': " + callback + " failed: " + error.what(),
                  error.out_of_memory());
    }
  }

 private:
  Ep(std::vector<std::shared_ptr<const EpDevice>> devices, const OrtSessionOptions& options,
     std::shared_ptr<const SessionServices> services, std::string session);
  void read();
  void require_cpu_memory() const;
  void read_layout();
  void require_no_layout_change(const std::vector<Claim>& claims) const;

  const std::vector<std::shared_ptr<const EpDevice>> devices_;
  const SessionMark mark_;
  const OrtSessionOptions options_;
  const std::shared_ptr<const SessionServices> services_;
  std::string name_;
  OrtEp* ep_ = nullptr;
  OrtEpDataLayout layout_ = OrtEpDataLayout_Default;
};

}  // namespace onnx_light_ort::abi
