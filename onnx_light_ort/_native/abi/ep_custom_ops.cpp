#include "ep_custom_ops.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "custom_op_domain.h"
#include "error.h"
#include "plugin_call.h"
#include "version_gates.h"

namespace onnx_light_ort::abi {

bool brings_custom_ops(const EpFactory& factory) {
  const auto count_domains = field::OrtEpFactory::GetNumCustomOpDomains(factory.get());
  if (count_domains == nullptr || field::OrtEpFactory::GetCustomOpDomains(factory.get()) == nullptr) return false;
  size_t count = 0;
  try {
    call_plugin("OrtEpFactory::GetNumCustomOpDomains", [&] { return count_domains(factory.get(), &count); });
  } catch (const Error&) {
    return true;
  }
  return count != 0;
}

void add_custom_ops(const std::shared_ptr<Ep>& ep, OrtSessionOptions& options) {
  OrtEpFactory* const factory = ep->factory().get();
  const auto count_domains = field::OrtEpFactory::GetNumCustomOpDomains(factory);
  const auto get_domains = field::OrtEpFactory::GetCustomOpDomains(factory);
  if (count_domains == nullptr || get_domains == nullptr) return;
  size_t count = 0;
  ep->call("OrtEpFactory::GetNumCustomOpDomains", [&] { return count_domains(factory, &count); });
  if (count == 0) return;
  const std::string who = "execution provider '" + ep->name() + "': ";
  constexpr size_t kMost = 1024;
  if (count > kMost) {
    throw Error(ORT_EP_FAIL, who + "OrtEpFactory::GetNumCustomOpDomains says " + std::to_string(count) +
                                 ", more than the " + std::to_string(kMost) + " that the host takes");
  }
  std::vector<OrtCustomOpDomain*> domains(count);
  ep->call("OrtEpFactory::GetCustomOpDomains", [&] { return get_domains(factory, domains.data(), count); });
  if (std::find(domains.begin(), domains.end(), nullptr) != domains.end()) {
    throw Error(ORT_EP_FAIL, who + "OrtEpFactory::GetCustomOpDomains left a domain null: fill the array");
  }
  for (const OrtCustomOpDomain* domain : domains) options.added_domains.push_back(domain->domain);
  try {
    commit_custom_ops(options, ep->name(), ep);
  } catch (const Error& error) {
    throw Error(error.code(), who + error.what());
  }
}

}  // namespace onnx_light_ort::abi
