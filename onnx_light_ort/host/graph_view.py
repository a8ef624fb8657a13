"""Graphs of the planner, frozen for plugins.

A plugin reads a graph through C slots that enter no Python. So a graph is written down once, as flat lists that name
each other's elements by position, and C++ makes the objects behind the slots from them in one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, TypeProto

from onnx_light_ort._abi_enums import ONNXType, OrtOpAttrType
from onnx_light_ort._native import abi
from onnx_light_ort.engine.attribute import is_given, tensor_array
from onnx_light_ort.engine.node_order import topological_order
from onnx_light_ort.engine.value_type import shape_of

if TYPE_CHECKING:
    from onnx_light_ort.engine.constant import Constant
    from onnx_light_ort.engine.graph import Graph, Model, Node, Value
    from onnx_light_ort.engine.operator_schema import Operator
    from onnx_light_ort.engine.partition import FusedPartition

_NONE = -1

_OVERRIDABLE, _FROM_OUTER_SCOPE = 1, 2

_NO_ABI_TYPE = 1000
"""A number that is no OrtOpAttrType."""

Attribute = tuple[str, int, Any]
"""Name, OrtOpAttrType, value: texts as bytes, a tensor as an array, None for what plugins do not read."""

_Type = tuple[int, int, "list[int] | None", "list[str]", str]
"""ONNXType, element type, dimensions (-1: not known; None: not even the rank), their names, denotation."""


class ModelViews:
    """Freezes the graphs of one model.

    Args:
        model: a model whose types are inferred.
    """

    def __init__(self, model: Model) -> None:
        self._description = abi.ModelDescription(
            path=model.path or "",
            ir_version=model.ir_version,
            operator_sets=dict(model.opset_imports),
            producer_name=model.producer_name,
            graph_name=model.graph.name,
            domain=model.domain,
            description=model.description,
            graph_description=model.graph_description,
            version=model.model_version,
            custom_metadata=dict(model.custom_metadata),
        )
        # A node keeps its number whatever becomes of the others.
        self._ids: dict[Graph, dict[Node, int]] = {}
        self._read = _ReadProtos()
        self._siblings: _Siblings | None = None

    def node_id(self, node: Node) -> int:
        """The number of a node in the views of its graph, of which there has been one."""
        ids = self._ids[node.graph]
        return ids.setdefault(node, len(ids))

    def freeze(self, graph: Graph) -> GraphView:
        """A view of a graph as it is now, with the subgraphs of its nodes.

        Of a subgraph, the view has the node that holds it as its parent, which has no graph of its own, as ORT offers
        it: the graph around it is not frozen.
        """
        holder = graph.holder
        if holder is not None:
            return self._freeze_subgraph(graph, holder)
        self._siblings = None  # It keeps the constants of its graphs in memory.
        tables = _Tables(self._read)
        values: dict[Value, int] = {}
        nodes = topological_order(graph)
        description = self._describe(graph, nodes, tables, {graph: values})
        return GraphView(nodes, values, tables, abi.freeze_graph(self._description, tables, description))

    def _freeze_subgraph(self, graph: Graph, holder: Node) -> GraphView:
        names = {subgraph: name for name, subgraph in holder.subgraphs.items()}
        state = [(node, node.provider) for subgraph in names for node in subgraph.all_nodes()]
        siblings = self._siblings
        if siblings is None or siblings.state != state:
            tables = _Tables(self._read)
            values: dict[Graph, dict[Value, int]] = {subgraph: {} for subgraph in names}
            description = self._describe(holder.graph, [holder], tables, values, is_whole=False)
            native = abi.freeze_graph(self._description, tables, description, names[graph])
            self._siblings = siblings = _Siblings(state, values, tables, native)
        native = siblings.native.sibling(names[graph])
        return GraphView(topological_order(graph), siblings.values[graph], siblings.tables, native)

    def _describe(
        self,
        graph: Graph,
        nodes: Sequence[Node],
        tables: _Tables,
        wanted: dict[Graph, dict[Value, int]],
        *,
        is_whole: bool = True,
    ) -> _Description:
        """Describes a graph that has these nodes, all of its or not. `wanted`: where the positions of a graph's
        values are to go."""
        out = _Description(graph.name)
        # No loop here does more for a value than it must: a model has tens of thousands.
        listed: list[Value | None] = [*graph.declared_inputs, *graph.outputs] if is_whole else []
        flat: list[Value | None] = []
        for position, node in enumerate(nodes):
            inputs, outputs, captures = node.inputs, node.outputs, node.captures
            flat += inputs
            flat += outputs
            flat += captures
            out.node_value_counts += (len(inputs), len(outputs), len(captures))
            for name, subgraph in node.subgraphs.items():
                inner = self._describe(subgraph, topological_order(subgraph), tables, wanted)
                out.subgraphs.append((position, name, inner))
        order = dict.fromkeys(listed + flat)
        order.pop(None, None)
        values: list[Value] = [*order]  # type: ignore[list-item]
        places = wanted.get(graph, {}) if is_whole else {}
        places.update(zip(values, range(len(values)), strict=True))
        position_of: dict[Any, int] = {**places, None: _NONE}
        out.node_values = [*map(position_of.__getitem__, flat)]
        if is_whole:
            out.inputs = [places[value] for value in graph.declared_inputs]
            out.outputs = [places[value] for value in graph.outputs]
        self._describe_nodes(graph, nodes, tables, out)
        _describe_values(graph, values, tables, out)
        return out

    def _describe_nodes(self, graph: Graph, nodes: Sequence[Node], tables: _Tables, out: _Description) -> None:
        ids = self._ids.get(graph)
        if ids is None:
            ids = self._ids[graph] = {node: number for number, node in enumerate(graph.nodes)}
        out.node_ids = [ids.setdefault(node, len(ids)) for node in nodes]
        out.node_names = [node.name for node in nodes]
        out.node_providers = [node.provider or "" for node in nodes]
        out.node_operators = tables.operators_of(nodes)
        for attributes in tables.attributes_of(nodes):
            out.node_attributes += attributes
            out.node_attribute_counts.append(len(attributes))


def _describe_values(graph: Graph, values: Sequence[Value], tables: _Tables, out: _Description) -> None:
    out.value_names = [value.name for value in values]
    out.value_types = tables.types_of(values)
    out.value_flags = [0 if value.graph is graph else _FROM_OUTER_SCOPE for value in values]
    out.value_constants = [_NONE] * len(values)
    for place, value in enumerate(values):
        constant = value.constant or value.default
        if constant is None:
            continue
        out.value_constants[place] = tables.constant(constant)
        if value.graph.hoisted:
            out.value_names[place] = value.graph.hoisted.get(value, value.name)
        if value.constant is None:
            out.value_flags[place] |= _OVERRIDABLE
        if value.graph is graph:
            out.initializers.append(place)


class GraphView:
    """A graph, and what plugins see of it. The OrtGraph at ``address`` lives as long as this object."""

    def __init__(self, nodes: Sequence[Node], values: dict[Value, int], tables: _Tables, native: abi.GraphView) -> None:
        self.native = native
        #: Of its nodes and those of its subgraphs; None for one that is not known.
        self.operators: tuple[Operator | None, ...] = tables.known_operators()
        #: In the order of the view; what became of the graph since does not matter.
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self._positions: dict[Node, int] | None = None
        self._values = values

    @property
    def address(self) -> int:
        return self.native.address

    def node(self, address: int) -> Node | None:
        """The node of an OrtNode that this view, or a part of it, gave out; None for a node of another graph."""
        position = self.native.position_of(address)
        return None if position is None else self.nodes[position]

    def part(self, partition: FusedPartition) -> abi.GraphView:
        """A view of the nodes of a partition of this graph, with its boundary."""
        if self._positions is None:
            self._positions = {node: position for position, node in enumerate(self.nodes)}
        return self.native.part(
            partition.name,
            sorted(self._positions[node] for node in partition.nodes),
            [self._values[value] for value in partition.inputs],
            [self._values[value] for value in partition.outputs],
        )


class _Siblings:
    """The subgraphs of one node, frozen together, and the nodes that they had then, with who had claimed them."""

    __slots__ = ("native", "state", "tables", "values")

    def __init__(
        self,
        state: list[tuple[Node, str | None]],
        values: dict[Graph, dict[Value, int]],
        tables: _Tables,
        native: abi.GraphView,
    ) -> None:
        self.state = state
        self.values = values
        self.tables = tables
        self.native = native


class _Description:
    """A graph as flat lists. Values, types, constants, operators and attributes are named by position, -1 is none.

    ``node_values`` holds the inputs, outputs and implicit inputs of one node after the other, ``node_value_counts``
    their three counts for each node; ``subgraphs`` are tuples (node, attribute name, description).
    """

    __slots__ = ("initializers", "inputs", "name", "node_attribute_counts", "node_attributes", "node_ids", "node_names",
                 "node_operators", "node_providers", "node_value_counts", "node_values", "outputs", "subgraphs",
                 "value_constants", "value_flags", "value_names", "value_types")  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.initializers: list[int] = []
        self.value_names: list[str] = []
        self.value_types: list[int] = []
        self.value_constants: list[int] = []
        self.value_flags: list[int] = []
        self.node_names: list[str] = []
        self.node_operators: list[int] = []
        self.node_providers: list[str] = []
        self.node_ids: list[int] = []
        self.node_values: list[int] = []
        self.node_value_counts: list[int] = []
        self.node_attributes: list[int] = []
        self.node_attribute_counts: list[int] = []
        self.subgraphs: list[tuple[int, str, _Description]] = []


class _ReadProtos:
    """What was read of a model's protos once: they do not change, and graphs are described more than once."""

    def __init__(self) -> None:
        #: By identity of the proto, which is kept so that the identity stays its own.
        self._keys: dict[int, bytes] = {id(None): b""}
        self._kept: list[TypeProto] = []
        #: By operator and bytes.
        self.attributes: dict[tuple[Operator | None, bytes], list[Attribute]] = {}

    def type_keys(self, values: Sequence[Value]) -> list[bytes]:
        """For each value a key of its type: equal for equal types."""
        keys = self._keys
        protos = [value.type_proto for value in values]
        fresh = [proto for proto in protos if proto is not None and id(proto) not in keys]
        if fresh:
            # Reading a proto's fields takes longer than writing it down whole, and few types are different.
            keys.update(zip(map(id, fresh), [proto.SerializeToString() for proto in fresh], strict=True))
            self._kept += fresh
        return [*map(keys.__getitem__, map(id, protos))]


class _Tables:
    """What the descriptions of a graph and its subgraphs refer to; equal types, operators and attributes once each."""

    def __init__(self, read: _ReadProtos) -> None:
        self._read = read
        self.types: list[_Type] = []
        self.constants: list[tuple[Any, str | None, int, int]] = []
        self.operators: list[tuple[str, str, int, list[str]]] = []
        self.attributes: list[Attribute] = []
        self._types: dict[bytes, int] = {}
        self._constants: dict[Constant, int] = {}
        self._operators: dict[Operator | tuple[str, str, int], int] = {}
        self._attributes: dict[tuple[Operator | None, bytes], list[int]] = {}

    def types_of(self, values: Sequence[Value]) -> list[int]:
        keys = self._read.type_keys(values)
        for key in dict.fromkeys(keys):
            if key not in self._types:
                described = _describe_type(key)
                self._types[key] = _NONE if described is None else len(self.types)
                if described is not None:
                    self.types.append(described)
        return [self._types[key] for key in keys]

    def constant(self, constant: Constant) -> int:
        place = self._constants.get(constant)
        if place is None:
            place = self._constants[constant] = len(self.constants)
            where = constant.external
            self.constants.append(
                (constant.array(), None, 0, 0)
                if where is None
                else (constant.array(), where.location, where.offset, where.length)
            )
        return place

    def operator(self, node: Node) -> int:
        operator = node.operator
        key = operator if operator is not None else (node.domain, node.op_type, node.opset_version)
        place = self._operators.get(key)
        if place is None:
            place = self._operators[key] = len(self.operators)
            version = node.since_version or node.opset_version
            optional = _optional_attributes(operator) if operator is not None and operator.is_standard else []
            self.operators.append((node.domain, node.op_type, version, optional))
        return place

    def operators_of(self, nodes: Sequence[Node]) -> list[int]:
        known = self._operators
        return [
            known[operator] if (operator := node.operator) is not None and operator in known else self.operator(node)
            for node in nodes
        ]

    def known_operators(self) -> tuple[Operator | None, ...]:
        """In the order of ``operators``."""
        return tuple(None if isinstance(key, tuple) else key for key in self._operators)

    def attributes_of(self, nodes: Sequence[Node]) -> Iterator[list[int]]:
        """The attributes that each node has, then its operator's defaults for those that it leaves out."""
        # Subgraphs are not to be written down to be compared. Reading a proto's fields takes longer than writing it
        # down whole, and many nodes have the same attributes.
        written = [b"" if node.subgraphs else node.proto.SerializeToString() for node in nodes]
        for node, key in zip(nodes, abi.attribute_keys(written), strict=True):
            if node.subgraphs:
                yield self._added(_read_attributes(node))
                continue
            places = self._attributes.get((node.operator, key))
            if places is None:
                read = self._read.attributes.get((node.operator, key))
                if read is None:
                    read = self._read.attributes[node.operator, key] = _read_attributes(node)
                places = self._attributes[node.operator, key] = self._added(read)
            yield places

    def _added(self, attributes: Iterable[Attribute]) -> list[int]:
        before = len(self.attributes)
        self.attributes += attributes
        return list(range(before, len(self.attributes)))


_ATTRIBUTE_READERS: dict[int, tuple[int, Any]] = {
    AttributeProto.UNDEFINED: (OrtOpAttrType.ORT_OP_ATTR_UNDEFINED, lambda proto: None),
    AttributeProto.INT: (OrtOpAttrType.ORT_OP_ATTR_INT, lambda proto: proto.i),
    AttributeProto.INTS: (OrtOpAttrType.ORT_OP_ATTR_INTS, lambda proto: list(proto.ints)),
    AttributeProto.FLOAT: (OrtOpAttrType.ORT_OP_ATTR_FLOAT, lambda proto: proto.f),
    AttributeProto.FLOATS: (OrtOpAttrType.ORT_OP_ATTR_FLOATS, lambda proto: list(proto.floats)),
    AttributeProto.STRING: (OrtOpAttrType.ORT_OP_ATTR_STRING, lambda proto: proto.s),
    AttributeProto.STRINGS: (OrtOpAttrType.ORT_OP_ATTR_STRINGS, lambda proto: list(proto.strings)),
    AttributeProto.GRAPH: (OrtOpAttrType.ORT_OP_ATTR_GRAPH, lambda proto: None),
    AttributeProto.TENSOR: (OrtOpAttrType.ORT_OP_ATTR_TENSOR, lambda proto: tensor_array(proto.t)),
}
_ATTRIBUTE_READERS = {kind: (int(number), read) for kind, (number, read) in _ATTRIBUTE_READERS.items()}
_UNREAD = (_NO_ABI_TYPE, lambda proto: None)


def _read_attributes(node: Node) -> list[Attribute]:
    own = [read_attribute(proto) for proto in node.proto.attribute]
    if node.operator is not None:
        given = {item[0] for item in own}
        own += [read_attribute(proto) for proto in node.operator.default_attributes
                if is_given(proto) and proto.name not in given]  # fmt: skip
    return own


def read_attribute(proto: AttributeProto) -> Attribute:
    number, read = _ATTRIBUTE_READERS.get(proto.type, _UNREAD)
    return proto.name, number, read(proto)


@cache
def _optional_attributes(operator: Operator) -> list[str]:
    """Of a standard operator."""
    return sorted(name for name, item in operator.schema.attributes.items() if not item.required)


_ONNX_TYPES: dict[str, int] = {
    "tensor_type": ONNXType.ONNX_TYPE_TENSOR,
    "sparse_tensor_type": ONNXType.ONNX_TYPE_SPARSETENSOR,
    "sequence_type": ONNXType.ONNX_TYPE_SEQUENCE,
    "map_type": ONNXType.ONNX_TYPE_MAP,
    "optional_type": ONNXType.ONNX_TYPE_OPTIONAL,
    "opaque_type": ONNXType.ONNX_TYPE_OPAQUE,
}


@lru_cache(4096)
def _describe_type(written: bytes) -> _Type | None:
    """Of a serialized TypeProto; None for a type that is not known."""
    proto = TypeProto.FromString(written)
    kind = proto.WhichOneof("value")
    if kind is None:
        return None
    number = int(_ONNX_TYPES[kind])
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return number, 0, None, [], proto.denotation
    dims = shape_of(proto)
    element_type: int = getattr(proto, kind).elem_type
    if dims is None:
        return number, element_type, None, [], proto.denotation
    sizes = [dim if isinstance(dim, int) else -1 for dim in dims]
    names = [dim if isinstance(dim, str) else "" for dim in dims]
    return number, element_type, sizes, names, proto.denotation
