#include "node_info.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <utility>

#include "element_type.h"
#include "node_description.h"

namespace onnx_light_ort::bindings {
namespace {

namespace nb = nanobind;
using kernels::DataType;

/// The one type of tensors of an element type and no known shape. Called with the GIL.
const std::shared_ptr<const OrtTypeInfo>& shapeless_type(int data_type) {
  static std::map<int, std::shared_ptr<const OrtTypeInfo>> types;
  std::shared_ptr<const OrtTypeInfo>& type = types[data_type];
  if (type == nullptr) type = OrtTypeInfo::of_tensor(type_and_shape(data_type, nb::none()));
  return type;
}

}  // namespace

std::unique_ptr<OrtTensorTypeAndShapeInfo> type_and_shape(int data_type, nb::handle dims) {
  auto info = std::make_unique<OrtTensorTypeAndShapeInfo>();
  info->element_type = abi::to_abi(static_cast<DataType>(data_type));
  if (dims.is_none()) return info;
  std::vector<int64_t> extents;
  std::vector<std::string> symbols;
  for (nb::handle dim : dims) {
    const bool known = nb::isinstance<nb::int_>(dim);
    extents.push_back(known ? nb::cast<int64_t>(dim) : -1);
    symbols.push_back(known || dim.is_none() ? "" : nb::cast<std::string>(dim));
  }
  info->set_dims(extents.data(), extents.size());
  info->set_symbols(std::move(symbols));
  return info;
}

Arguments::Arguments(const nb::list& given) {
  const size_t count = given.size();
  infos.resize(count);
  types.resize(count, DataType::kUndefined);
  for (size_t i = 0; i < count; ++i) {
    if (given[i].is_none()) continue;
    const auto item = nb::cast<nb::tuple>(given[i]);
    const int data_type = nb::cast<int>(item[1]);
    infos[i].name = nb::cast<std::string>(item[0]);
    types[i] = static_cast<DataType>(data_type);
    if (data_type == 0) continue;
    const nb::handle dims = item[2];
    infos[i].type = dims.is_none()
                        ? shapeless_type(data_type)
                        : std::shared_ptr<const OrtTypeInfo>(OrtTypeInfo::of_tensor(type_and_shape(data_type, dims)));
  }
}

std::shared_ptr<const abi::NodeInfo> node_info(const std::string& name, const std::string& domain,
                                               const std::string& op_type, int since_version, const nb::list& inputs,
                                               const nb::list& outputs, const nb::dict& attributes,
                                               const nb::sequence& constant_inputs,
                                               std::shared_ptr<const abi::SessionServices> services, const OrtEp* ep) {
  Arguments read(inputs), made(outputs);
  auto description = describe_node(name, domain, op_type, since_version, std::move(read.types), std::move(made.types),
                                   attributes, constant_inputs);
  std::shared_ptr<const kernels::Node> node(description, &description->node);
  return std::make_shared<const abi::NodeInfo>(std::move(node), std::move(read.infos), std::move(made.infos),
                                               std::move(services), ep);
}

}  // namespace onnx_light_ort::bindings
