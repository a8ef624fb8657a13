"""Builds nodes from protos: names become values, subgraphs become graphs, order becomes a running order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from onnx import AttributeProto, GraphProto, NodeProto

from onnx_light_ort.engine.graph import Graph, Node, Value
from onnx_light_ort.errors import Fail, InvalidArgument, InvalidGraph

if TYPE_CHECKING:
    from onnx_light_ort.engine.constant import Constant


class GraphSource(Protocol):
    """Where nodes come from: who reads their tensors and builds their subgraphs."""

    def constant_of_node(self, node: Node) -> Constant | None:
        """The value of a Constant node; None where it has none that is known now."""

    def restore_attribute(self, attribute: AttributeProto) -> None:
        """Completes a tensor attribute whose data was left out."""

    def graph(self, proto: GraphProto, holder: Node | None, imports: Mapping[str, int]) -> Graph:
        """Builds a subgraph."""


def add_nodes(
    graph: Graph,
    protos: Iterable[NodeProto],
    imports: Mapping[str, int],
    source: GraphSource,
    replaced: Node | None = None,
) -> list[Node]:
    """Makes the nodes and the values that they make, inputs unresolved; Constant nodes become constants of the graph.

    Args:
        replaced: a node whose outputs the new nodes make in its place.

    Raises:
        Fail: a name that exists already.
    """
    nodes: list[Node] = []
    names: set[str] = set()
    values = graph.values
    # A repeated field is sliced before it is walked: protobuf ends an iteration by an exception, which takes longer
    # than the few names of a node.
    for proto in protos:
        node = Node(proto, graph, imports)
        if not (type(node.name) is type(node.op_type) is type(node.domain) is str):
            raise InvalidGraph(f"{node}: its name, operator or domain is no UTF-8: the model is damaged")
        constant = source.constant_of_node(node) if node.op_type == "Constant" and node.domain == "" else None
        # As in ORT, constants are no nodes any more when names are compared.
        if node.name and constant is None:
            if node.name in names:
                raise Fail(f"two nodes of graph {graph.name!r} have the name {node.name!r}: rename one")
            names.add(node.name)
        for name in proto.output[:]:
            if not name:
                node.outputs.append(None)
                continue
            value = values.get(name)
            if value is None:
                value = values[name] = Value(name, graph)
            elif replaced is None or value.producer is not replaced:
                raise Fail(f"duplicate definition of {name!r}: {node} makes it, and it exists already")
            if constant is None:
                value.producer = node
            else:
                value.set_tensor_type(constant.element_type, constant.dims)
                graph.set_constant(value, constant)
            node.outputs.append(value)
        if constant is None:
            node.index = len(nodes)
            nodes.append(node)
    return nodes


def resolve_inputs(graph: Graph, nodes: Sequence[Node], source: GraphSource) -> bool:
    """Resolves the inputs and builds the subgraphs; False where a node reads what it or a later one makes.

    Raises:
        InvalidArgument: an input that nothing makes; in a subgraph InvalidGraph, as in ORT.
    """
    values, is_sorted = graph.values, True
    for index, node in enumerate(nodes):
        proto = node.proto
        inputs = node.inputs
        for name in proto.input[:]:
            if not name:
                inputs.append(None)
                continue
            value = values.get(name)
            if value is None:
                value = resolve_name(graph, name)
                if value is None:
                    raise (InvalidArgument if graph.holder is None else InvalidGraph)(
                        f"{node}: its input {name!r} is no graph input, initializer, or output of another node"
                    )
            elif (maker := value.producer) is not None and maker.index >= index:
                is_sorted = False
            inputs.append(value)
        if node.has_attributes:
            _add_subgraphs(node, source)
            for value in node.captures:
                if value.graph is graph and value.producer is not None and value.producer.index >= index:
                    is_sorted = False
    return is_sorted


def _add_subgraphs(node: Node, source: GraphSource) -> None:
    for attribute in node.proto.attribute:
        if attribute.ref_attr_name:
            raise InvalidGraph(
                f"{node}: attribute {attribute.name!r} refers to {attribute.ref_attr_name!r} of a function, but the "
                "node is in no function"
            )
        if attribute.type == AttributeProto.GRAPH:
            if not node.subgraphs:
                node.subgraphs = {}
            node.subgraphs[attribute.name] = source.graph(attribute.g, node, node.opset_imports)
        elif attribute.type == AttributeProto.TENSOR:
            source.restore_attribute(attribute)


def resolve_name(graph: Graph, name: str) -> Value | None:
    """The value of that name; where it is an enclosing graph's, the nodes between here and there capture it."""
    value = graph.values.get(name)
    if value is not None:
        return value
    holders: list[Node] = []
    holder = graph.holder
    while holder is not None:
        holders.append(holder)
        value = holder.graph.values.get(name)
        if value is not None:
            for between in holders:
                between.capture(value)
            return value
        holder = holder.graph.holder
    return None


def sort_nodes(graph: Graph) -> None:
    """Puts the nodes in an order in which they can run, as near to the given one as that allows.

    Raises:
        Fail: the graph has a cycle; the message names its nodes.
    """
    waiting: dict[Node, int] = {}
    readers: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        makers = {value.producer for value in node.reads() if value.graph is graph and value.producer is not None}
        waiting[node] = len(makers)
        for maker in makers:
            readers.setdefault(maker, []).append(node)
    ready = [node.index for node in graph.nodes if waiting[node] == 0]
    heapq.heapify(ready)
    order: list[Node] = []
    by_index = graph.nodes
    while ready:
        node = by_index[heapq.heappop(ready)]
        order.append(node)
        for reader in readers.get(node, ()):
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader.index)
    if len(order) < len(graph.nodes):
        cycle = _find_cycle(graph, {node for node, count in waiting.items() if count > 0})
        raise Fail(f"graph {graph.name!r} is not acyclic: " + " -> ".join(map(str, cycle)))
    graph.nodes = order
    for index, node in enumerate(order):
        node.index = index


def _find_cycle(graph: Graph, stuck: set[Node]) -> list[Node]:
    """A cycle among nodes each of which waits for another of them, in the direction of the data."""
    path: list[Node] = []
    seen: dict[Node, int] = {}
    node = next(item for item in graph.nodes if item in stuck)
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(value.producer for value in node.reads() if value.graph is graph and value.producer in stuck)
    return list(reversed([*path[seen[node] :], node]))
