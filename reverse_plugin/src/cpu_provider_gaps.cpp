#include "cpu_provider_gaps.h"

#include <algorithm>
#include <cstdint>

namespace onnx_light_ort::reverse {
namespace {

using kernels::DataType;

struct Row {
  const char* domain;
  const char* op_type;
  int since_version;
  const char* product;  // "T1=float,int8 T2=bfloat16"; an empty one: nothing of the operator runs
};

constexpr Row kRows[] = {
#include "../tables/cpu_provider_gaps.inc"
};

uint32_t bit_of(DataType type) { return uint32_t{1} << static_cast<int>(type); }

uint32_t types_of(std::string_view names) {
  uint32_t types = 0;
  while (!names.empty()) {
    const size_t end = names.find(',');
    for (int i = 1; i < kernels::kDataTypeCount; ++i) {
      const auto type = static_cast<DataType>(i);
      if (names.substr(0, end) == kernels::data_type_name(type)) types |= bit_of(type);
    }
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
  }
  return types;
}

}  // namespace

CpuProviderGaps::CpuProviderGaps() {
  for (const Row& row : kRows) {
    Product product;
    std::string_view text = row.product;
    while (!text.empty()) {
      const size_t end = text.find(' ');
      const std::string_view word = text.substr(0, end);
      const size_t equals = word.find('=');
      product.parameters.emplace_back(word.substr(0, equals));
      product.types.push_back(types_of(word.substr(equals + 1)));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    gaps_[std::make_tuple(row.domain, row.op_type, row.since_version)].push_back(std::move(product));
  }
}

bool CpuProviderGaps::lacks(const OperatorSchema& schema, const TypeBindings& bindings) const {
  const auto found = gaps_.find(std::make_tuple(schema.domain, schema.op_type, schema.since_version));
  if (found == gaps_.end()) return false;
  const auto covers = [&](const Product& product) {
    for (size_t i = 0; i < product.parameters.size(); ++i) {
      for (const auto& [parameter, type] : bindings) {
        if (parameter == product.parameters[i] && (product.types[i] & bit_of(type)) == 0) return false;
      }
    }
    return true;
  };
  return std::any_of(found->second.begin(), found->second.end(), covers);
}

}  // namespace onnx_light_ort::reverse
