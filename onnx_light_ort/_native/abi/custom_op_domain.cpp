#include "custom_op_domain.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

using CustomOps = std::vector<std::shared_ptr<const CustomOp>>;

void require_distinct(const CustomOps& ops, const CustomOp& added) {
  std::string candidates;
  for (const auto& op : ops) {
    if (are_ambiguous(*op, added)) candidates += "\n  " + op->signature;
  }
  if (candidates.empty()) return;
  throw Error(ORT_INVALID_ARGUMENT,
              "custom op " + added.signature +
                  " is registered already, and no node could tell them apart: give them different "
                  "input types or versions, or register one of them. Registered:" +
                  candidates);
}

/// A descriptor may be in several domains, and is an op of its own in each.
bool has_descriptor(const CustomOps& ops, const std::string& domain, const OrtCustomOp* descriptor) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](const auto& op) { return op->descriptor == descriptor && op->domain == domain; });
}

}  // namespace

void commit_custom_ops(OrtSessionOptions& options, const std::string& provider, std::shared_ptr<const void> library) {
  const auto domains = std::exchange(options.added_domains, {});
  CustomOps ops = options.custom_ops;
  for (const auto& domain : domains) {
    for (const OrtCustomOp* descriptor : domain->ops) {
      // A domain may be added twice, by one library for two names or by registering the library again.
      if (has_descriptor(ops, domain->name, descriptor)) continue;
      auto op = CustomOp::read(domain->name, descriptor, provider, library);
      require_distinct(ops, *op);
      ops.push_back(std::move(op));
    }
  }
  options.custom_ops = std::move(ops);
}

void OrtApiSlots::CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) {
  *out = new OrtCustomOpDomain{std::make_shared<CustomOpDomain>(CustomOpDomain{domain, {}})};
}

void OrtApiSlots::CustomOpDomain_Add(OrtCustomOpDomain* custom_op_domain, const OrtCustomOp* op) {
  custom_op_domain->domain->ops.push_back(op);
}

// Nothing is read yet: a library may add ops to the domain until its registration ends.
void OrtApiSlots::AddCustomOpDomain(OrtSessionOptions* options, OrtCustomOpDomain* custom_op_domain) {
  options->added_domains.push_back(custom_op_domain->domain);
}

void OrtApiSlots::ReleaseCustomOpDomain(OrtCustomOpDomain* input) { delete input; }

}  // namespace onnx_light_ort::abi
