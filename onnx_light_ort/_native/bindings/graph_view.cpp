#include "graph_view.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "element_type.h"
#include "error.h"
#include "gil.h"
#include "numpy_value.h"
#include "op_schema.h"
#include "wire_format.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace onnx_light_ort::bindings {
namespace {

using abi::ConstantRecord;
using abi::FrozenGraph;
using abi::GraphRecord;
using abi::NodeRecord;
using abi::OperatorRecord;
using abi::ValueRecord;

/// What a list of a description holds, read without a temporary for each element.
class List {
 public:
  List(nb::handle owner, const char* name) : list_(nb::cast<nb::list>(owner.attr(name))), name_(name) {}

  size_t size() const { return nb::len(list_); }
  nb::handle operator[](size_t i) const {
    if (i >= size()) throw nb::index_error((std::string(name_) + " is too short").c_str());
    return PyList_GET_ITEM(list_.ptr(), static_cast<Py_ssize_t>(i));
  }
  int64_t number(size_t i) const {
    const int64_t value = PyLong_AsLongLong((*this)[i].ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
  }
  std::string text(size_t i) const {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize((*this)[i].ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return std::string(data, static_cast<size_t>(size));
  }
  /// A number that is a position in a list of `count` elements.
  size_t position(size_t i, size_t count) const {
    const int64_t value = number(i);
    if (value < 0 || static_cast<size_t>(value) >= count) {
      throw nb::index_error((std::string(name_) + " names an element that is not there").c_str());
    }
    return static_cast<size_t>(value);
  }
  /// The element of `elements` at that position; null for -1.
  template <class T>
  const T* element(size_t i, const std::deque<T>& elements) const {
    return number(i) == -1 ? nullptr : &elements[position(i, elements.size())];
  }
  std::vector<int32_t> positions(size_t count) const {
    std::vector<int32_t> result(size());
    for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<int32_t>(position(i, count));
    return result;
  }

 private:
  const nb::list list_;
  const char* const name_;
};

std::vector<std::string> texts(nb::handle list) { return nb::cast<std::vector<std::string>>(list); }

/// (ONNXType, element type, dimensions or None, names of dimensions, denotation)
void read_type(nb::handle given, OrtTypeInfo& type) {
  type.type = static_cast<ONNXType>(nb::cast<int>(given[0]));
  type.denotation = nb::cast<std::string>(given[4]);
  if (type.type != ONNX_TYPE_TENSOR && type.type != ONNX_TYPE_SPARSETENSOR) return;
  type.tensor = std::make_unique<OrtTensorTypeAndShapeInfo>();
  type.tensor->element_type = abi::to_abi(static_cast<kernels::DataType>(nb::cast<int>(given[1])));
  if (nb::object(given[2]).is_none()) return;
  const auto dims = nb::cast<std::vector<int64_t>>(given[2]);
  type.tensor->set_dims(dims.data(), dims.size());
  type.tensor->set_symbols(texts(given[3]));
}

/// (array, location or None, offset, length)
void read_constant(nb::handle given, ConstantRecord& constant) {
  constant.tensor = value_from_object(given[0]);
  if (!constant.tensor.is_tensor()) throw nb::value_error("an initializer is no tensor");
  constant.handle.view = &constant.tensor.view();
  if (nb::object(given[1]).is_none()) return;
  constant.external = std::make_unique<OrtExternalInitializerInfo>();
  constant.external->file_path = nb::cast<std::string>(given[1]);
  constant.external->file_offset = nb::cast<int64_t>(given[2]);
  constant.external->byte_size = nb::cast<size_t>(given[3]);
}

std::string bytes_of(nb::handle given) {
  const auto bytes = nb::cast<nb::bytes>(given);
  return std::string(bytes.c_str(), bytes.size());
}

/// (name, OrtOpAttrType, value); texts are bytes, a tensor is an array.
void read_attribute(nb::handle given, FrozenGraph& frozen) {
  auto name = nb::cast<std::string>(given[0]);
  const int type = nb::cast<int>(given[1]);
  const nb::object value = given[2];
  const auto add = [&](kernels::Attribute content) {
    frozen.attributes.emplace_back(std::move(name), std::move(content));
  };
  switch (type) {
    case ORT_OP_ATTR_INT:
      return add(nb::cast<int64_t>(value));
    case ORT_OP_ATTR_INTS:
      return add(nb::cast<std::vector<int64_t>>(value));
    case ORT_OP_ATTR_FLOAT:
      return add(nb::cast<float>(value));
    case ORT_OP_ATTR_FLOATS:
      return add(nb::cast<std::vector<float>>(value));
    case ORT_OP_ATTR_STRING:
      return add(bytes_of(value));
    case ORT_OP_ATTR_STRINGS: {
      std::vector<std::string> list;
      for (nb::handle item : value) list.push_back(bytes_of(item));
      return add(std::move(list));
    }
    case ORT_OP_ATTR_TENSOR: {
      const engine::Value& tensor = frozen.attribute_tensors.emplace_back(value_from_object(value));
      if (!tensor.is_tensor()) throw nb::value_error("a tensor attribute is no tensor");
      return add(tensor.view());
    }
    default:
      frozen.attributes.emplace_back(std::move(name), static_cast<OrtOpAttrType>(type));
  }
}

void read_tables(nb::handle tables, FrozenGraph& frozen) {
  const List types(tables, "types");
  for (size_t i = 0; i < types.size(); ++i) read_type(types[i], frozen.types.emplace_back());
  const List constants(tables, "constants");
  for (size_t i = 0; i < constants.size(); ++i) read_constant(constants[i], frozen.constants.emplace_back());
  const List operators(tables, "operators");
  for (size_t i = 0; i < operators.size(); ++i) {
    OperatorRecord& record = frozen.operators.emplace_back();
    record.domain = nb::cast<std::string>(operators[i][0]);
    record.op_type = nb::cast<std::string>(operators[i][1]);
    record.since_version = nb::cast<int>(operators[i][2]);
    record.position = i;
    record.optional_attributes = texts(operators[i][3]);
  }
  const List attributes(tables, "attributes");
  for (size_t i = 0; i < attributes.size(); ++i) read_attribute(attributes[i], frozen);
}

void read_values(nb::handle given, const FrozenGraph& frozen, GraphRecord& record) {
  enum : int64_t { kOverridable = 1, kFromOuterScope = 2 };
  const List names(given, "value_names");
  const List types(given, "value_types");
  const List constants(given, "value_constants");
  const List flags(given, "value_flags");
  record.values.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    ValueRecord& value = record.values[i];
    value.name = names.text(i);
    value.type = types.element(i, frozen.types);
    value.constant = constants.element(i, frozen.constants);
    const int64_t flag = flags.number(i);
    value.overridable = (flag & kOverridable) != 0;
    value.from_outer_scope = (flag & kFromOuterScope) != 0;
  }
  record.inputs = List(given, "inputs").positions(record.values.size());
  record.outputs = List(given, "outputs").positions(record.values.size());
  record.initializers = List(given, "initializers").positions(record.values.size());
}

void read_graph(nb::handle given, const FrozenGraph& frozen, GraphRecord& record) {
  record.name = nb::cast<std::string>(given.attr("name"));
  read_values(given, frozen, record);
  const List names(given, "node_names");
  const List operators(given, "node_operators");
  const List providers(given, "node_providers");
  const List ids(given, "node_ids");
  const List counts(given, "node_value_counts");
  const List values(given, "node_values");
  const List attribute_counts(given, "node_attribute_counts");
  const List attributes(given, "node_attributes");
  record.node_values.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    record.node_values[i] = values.number(i) == abi::kAbsent
                                ? abi::kAbsent
                                : static_cast<int32_t>(values.position(i, record.values.size()));
  }
  record.node_attributes.resize(attributes.size());
  for (size_t i = 0; i < attributes.size(); ++i) {
    record.node_attributes[i] = &frozen.attributes[attributes.position(i, frozen.attributes.size())];
  }
  record.nodes.resize(names.size());
  size_t next_value = 0;
  size_t next_attribute = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    NodeRecord& node = record.nodes[i];
    node.name = names.text(i);
    node.op = &frozen.operators[operators.position(i, frozen.operators.size())];
    node.provider = providers.text(i);
    node.id = static_cast<size_t>(ids.number(i));
    node.first_value = next_value;
    node.input_count = static_cast<size_t>(counts.number(3 * i));
    node.output_count = static_cast<size_t>(counts.number(3 * i + 1));
    node.implicit_count = static_cast<size_t>(counts.number(3 * i + 2));
    next_value += node.value_count();
    node.first_attribute = next_attribute;
    node.attribute_count = static_cast<size_t>(attribute_counts.number(i));
    next_attribute += node.attribute_count;
  }
  if (next_value != record.node_values.size() || next_attribute != record.node_attributes.size()) {
    throw nb::value_error("the counts of a graph's nodes are not those of its lists");
  }
  const List subgraphs(given, "subgraphs");
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    NodeRecord& holder = record.nodes.at(nb::cast<size_t>(subgraphs[i][0]));
    auto& subgraph = holder.subgraphs.emplace_back();
    subgraph.attribute = nb::cast<std::string>(subgraphs[i][1]);
    subgraph.graph = std::make_unique<GraphRecord>();
    read_graph(subgraphs[i][2], frozen, *subgraph.graph);
  }
}

/// Python's handle on what the graphs of a model have in common.
struct ModelDescription {
  std::shared_ptr<const abi::ModelRecord> record;
};

ModelDescription describe_model(const std::string& path, int64_t ir_version,
                                const std::map<std::string, int64_t>& operator_sets, const std::string& producer_name,
                                const std::string& graph_name, const std::string& domain,
                                const std::string& description, const std::string& graph_description, int64_t version,
                                const std::map<std::string, std::string>& custom_metadata) {
  auto model = std::make_shared<abi::ModelRecord>();
  model->path = path;
  model->ir_version = ir_version;
  for (const auto& [name, number] : operator_sets) model->operator_sets.push_back({name, number});
  model->metadata = {producer_name, graph_name, domain, description, graph_description, version, custom_metadata};
  return {std::move(model)};
}

/// Of the node that a graph only holds.
const OrtGraph& subgraph_of(const OrtGraph& holder, const std::string& attribute) {
  for (const OrtNode& node : holder.nodes()) {
    for (size_t i = 0; i < node.record->subgraphs.size(); ++i) {
      if (node.record->subgraphs[i].attribute == attribute) return *node.subgraphs[i];
    }
  }
  throw nb::value_error("the node has no such subgraph");
}

std::unique_ptr<GraphView> freeze_graph(const ModelDescription& model, nb::handle tables, nb::handle graph,
                                        const std::optional<std::string>& subgraph) {
  auto frozen = std::make_shared<FrozenGraph>();
  frozen->model = model.record;
  frozen->is_holder = subgraph.has_value();
  read_tables(tables, *frozen);
  read_graph(graph, *frozen, frozen->root);
  const GraphRecord& root = frozen->root;
  auto owned = std::make_shared<const OrtGraph>(std::move(frozen), root, nullptr);
  const OrtGraph& shown = subgraph ? subgraph_of(*owned, *subgraph) : *owned;
  return std::make_unique<GraphView>(std::move(owned), shown);
}

std::unique_ptr<GraphView> sibling_of(const GraphView& self, const std::string& subgraph) {
  return std::make_unique<GraphView>(self.owned(), subgraph_of(*self.owned(), subgraph));
}

std::unique_ptr<GraphView> part_of(const GraphView& self, const std::string& name, const std::vector<size_t>& nodes,
                                   const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  const GraphRecord& record = self.graph().record();
  const auto check = [](size_t position, size_t count) {
    if (position >= count) throw nb::index_error("a part names a node or value that its graph has not");
  };
  for (size_t node : nodes) check(node, record.nodes.size());
  for (int32_t value : inputs) check(static_cast<size_t>(value), record.values.size());
  for (int32_t value : outputs) check(static_cast<size_t>(value), record.values.size());
  auto owned = std::make_unique<OrtGraph>(self.graph(), abi::Part{name, nodes, inputs, outputs}, false);
  const OrtGraph& shown = *owned;
  return std::make_unique<GraphView>(std::move(owned), shown);
}

/// The attributes among the fields of a serialized NodeProto, as they stand there.
std::string attribute_fields(std::string_view node) {
  constexpr uint64_t kAttribute = 5;
  std::string fields;
  engine::MessageReader reader(node);
  while (reader.next()) {
    if (reader.number() == kAttribute) fields += node.substr(reader.begin(), reader.end() - reader.begin());
  }
  return fields;
}

nb::list attribute_keys(const nb::list& nodes) {
  nb::list keys;
  for (nb::handle node : nodes) {
    const auto bytes = nb::cast<nb::bytes>(node);
    const std::string fields = attribute_fields({bytes.c_str(), bytes.size()});
    keys.append(nb::bytes(fields.data(), fields.size()));
  }
  return keys;
}

std::vector<OrtOpSchema::Parameter> parameters(nb::handle given) {
  std::vector<OrtOpSchema::Parameter> result;
  for (nb::handle item : given) result.push_back({nb::cast<std::string>(item[0]), nb::cast<std::string>(item[1])});
  return result;
}

/// Asks onnx_light_ort.host.op_schema, on whatever thread the plugin calls.
std::unique_ptr<OrtOpSchema> find_schema(const std::string& name, int newest, const std::string& domain) {
  GilAcquired acquired;
  try {
    const nb::object found =
        nb::module_::import_("onnx_light_ort.host.op_schema").attr("describe_operator")(name, newest, domain);
    if (found.is_none()) return nullptr;
    std::vector<OrtOpSchema::Constraint> constraints;
    for (nb::handle item : found[3]) constraints.push_back({nb::cast<std::string>(item[0]), texts(item[1])});
    return std::make_unique<OrtOpSchema>(nb::cast<int>(found[0]), parameters(found[1]), parameters(found[2]),
                                         constraints);
  } catch (const nb::python_error& error) {  // It must not be alive when the GIL is gone.
    throw abi::Error(ORT_RUNTIME_EXCEPTION, std::string("the operator's schema could not be read: ") + error.what());
  }
}

}  // namespace

void bind_graph_view(nb::module_& m) {
  abi::set_schema_source(&find_schema);

  nb::class_<ModelDescription>(m, "ModelDescription", "What the graphs of a model have in common, for plugins.")
      .def(nb::new_(&describe_model), nb::kw_only(), "path"_a, "ir_version"_a, "operator_sets"_a, "producer_name"_a,
           "graph_name"_a, "domain"_a, "description"_a, "graph_description"_a, "version"_a, "custom_metadata"_a);

  nb::class_<GraphView>(m, "GraphView", "A graph as plugins see it, frozen.")
      .def_prop_ro(
          "address", [](const GraphView& self) { return reinterpret_cast<uintptr_t>(&self.graph()); },
          "Of the OrtGraph, valid as long as this object.")
      .def(
          "position_of",
          [](const GraphView& self, uintptr_t node) {
            return self.graph().position_of(reinterpret_cast<const OrtNode*>(node));
          },
          "node"_a,
          "Where the node of an OrtNode's address stands in the graph that was frozen; None where it is a node of "
          "another one. The address must be one that a view gave out.")
      .def("sibling", &sibling_of, "subgraph"_a,
           "Of the view of a subgraph: the view of another subgraph of the same node, frozen with it.")
      .def("part", &part_of, "name"_a, "nodes"_a, "inputs"_a, "outputs"_a,
           "A view of some nodes, by position in the graph's order, with values by position as inputs and outputs.");

  m.def("attribute_keys", &attribute_keys, "nodes"_a,
        "For each serialized NodeProto its attributes, serialized: equal bytes are equal attributes.");
  m.def("freeze_graph", &freeze_graph, "model"_a, "tables"_a, "graph"_a, "subgraph"_a = nb::none(),
        "Freezes a graph that onnx_light_ort.host.graph_view described. With `subgraph`, the graph only holds a node, "
        "and the view is of that node's subgraph of that attribute name.");
}

}  // namespace onnx_light_ort::bindings
