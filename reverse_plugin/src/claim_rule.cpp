#include "claim_rule.h"

#include <algorithm>

#include "onnx_light_ort/kernels/error.h"

namespace onnx_light_ort::reverse {
namespace {

std::string qualified(const std::string& domain, const std::string& op_type) {
  return domain.empty() ? op_type : domain + "::" + op_type;
}

std::vector<std::string> names(const std::string& text) {
  std::vector<std::string> found;
  std::string name;
  for (const char c : text + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      name += c;
    } else if (!name.empty()) {
      found.push_back(std::exchange(name, ""));
    }
  }
  return found;
}

}  // namespace

ClaimRule::ClaimRule(const std::string& text, const KernelCatalogue& catalogue) {
  if (text == "missing" || text == "all") {
    kind_ = text == "all" ? Kind::kAll : Kind::kMissing;
    return;
  }
  operators_ = names(text);
  if (operators_.empty()) kernels::invalid_argument("option 'claim' is empty: give missing, all, or operators");
  for (const std::string& name : operators_) {
    const auto& entries = catalogue.entries();
    if (std::none_of(entries.begin(), entries.end(), [&](const kernels::KernelEntry& entry) {
          return qualified(entry.domain, entry.op_type) == name;
        })) {
      kernels::invalid_argument("option 'claim' names '" + name +
                                "', for which there is no kernel: give missing, all, or operators separated by commas");
    }
  }
}

bool ClaimRule::takes(const OperatorSchema& schema, const TypeBindings& bindings, const CpuProviderGaps& gaps) const {
  switch (kind_) {
    case Kind::kAll:
      return true;
    case Kind::kMissing:
      return gaps.lacks(schema, bindings);
    case Kind::kList:
      break;
  }
  return std::find(operators_.begin(), operators_.end(), qualified(schema.domain, schema.op_type)) != operators_.end();
}

}  // namespace onnx_light_ort::reverse
