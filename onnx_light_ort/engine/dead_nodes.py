"""Nodes that a plan can do without: those that nothing depends on, and those that change nothing."""

from __future__ import annotations

from onnx_light_ort.engine.graph import Graph, Node, Value
from onnx_light_ort.engine.operator_schema import ForeignOperator


def no_op_aliases(graph: Graph) -> dict[Value, Value]:
    """Values that are others under another name: what Identity, Cast to the same type, and Dropout outside of training
    make. The model's own outputs keep their nodes, so that no caller gets two names for one array."""
    aliases: dict[Value, Value] = {}
    results = set(graph.outputs)
    for node in graph.all_nodes():
        if node.domain or node.provider is not None or not node.outputs or not node.inputs:
            continue
        source, target = node.inputs[0], node.outputs[0]
        if source is None or target is None or target in results or not _is_no_op(node, source, target):
            continue
        aliases[target] = aliases.get(source, source)
        node.fate = "no-op"
    return aliases


def _is_no_op(node: Node, source: Value, target: Value) -> bool:
    if node.op_type == "Identity":
        return True
    if node.op_type == "Cast":
        return source.element_type != 0 and source.element_type == target.element_type
    if node.op_type == "Dropout":
        training = node.inputs[2] if len(node.inputs) > 2 else None
        masks = [value for value in node.outputs[1:] if value is not None]
        return node.since_version >= 7 and training is None and not masks
    return False


def drop_dead_nodes(graph: Graph) -> None:
    """Drops nodes, and constants, that no output depends on. What a plugin was given runs in any case, as in ORT: that
    may be what it is there for."""
    _drop_dead(graph, set())


def _drop_dead(graph: Graph, live: set[Value]) -> None:
    """Adds to the live values what the graph's outputs depend on. Readers come before makers here, and so do the nodes
    of subgraphs, which may read from around them."""
    live.update(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        # An output that is left out is None, which is never live.
        if live.isdisjoint(node.outputs) and not _has_foreign_kernel(node):
            node.fate = "dead"
            continue
        for subgraph in node.subgraphs.values():
            _drop_dead(subgraph, live)
        live.update(node.reads())
        kept.append(node)
    graph.nodes = kept[::-1]
    for index, node in enumerate(graph.nodes):
        node.index = index
    graph.initializers = {name: value for name, value in graph.initializers.items() if value in live}


def _has_foreign_kernel(node: Node) -> bool:
    """Whether a provider or a caller's operator runs a node, or one of its subgraphs'."""
    if node.provider is not None or isinstance(node.operator, ForeignOperator):
        return True
    return any(_has_foreign_kernel(inner) for graph in node.subgraphs.values() for inner in graph.nodes)
