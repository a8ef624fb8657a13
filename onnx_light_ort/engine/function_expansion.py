"""Replaces calls of functions by their bodies: model-local functions, and the bodies that ONNX's schemas give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto

from onnx_light_ort.engine.graph import Graph, Node
from onnx_light_ort.engine.graph_building import add_nodes, resolve_inputs, sort_nodes
from onnx_light_ort.engine.model_loading import EmbeddedTensors, opset_imports
from onnx_light_ort.engine.scan_over_batch import scan_over_batch
from onnx_light_ort.engine.type_inference import Region, check_types, infer_foreign_nodes, resolve_operators
from onnx_light_ort.errors import InvalidGraph

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Model
    from onnx_light_ort.engine.kernel_registry import KernelContext


def inline_functions(
    model: Model,
    context: KernelContext,
    gives_way: Callable[[Node], bool] = lambda node: node.function is not None,
    wanted: Callable[[Graph], Collection[Node]] = lambda graph: (),
) -> bool:
    """Puts bodies in the place of calls of model-local functions, or of operators that have one, where no provider
    claimed them; true when there was one. Calls in a body are left for the next time: providers may see them before.

    Args:
        gives_way: whether a node that has a body is to be replaced by it.
        wanted: nodes that are left as they are, of a graph that has such nodes.
    """
    changed = False
    for graph in list(model.graph.all_graphs()):
        calls = {node for node in graph.nodes if node.provider is None and _has_body(node) and gives_way(node)}
        if calls:
            changed |= _inline(graph, model, context, calls.difference(wanted(graph)))
    return changed


def _has_body(node: Node) -> bool:
    return node.function is not None or (node.operator is not None and node.operator.has_function_body)


def _inline(graph: Graph, model: Model, context: KernelContext, calls: Collection[Node]) -> bool:
    if not calls:
        return False
    bodies: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        function = (node.function or schema_function(node)) if node in calls else None
        if function is not None:
            bodies[node] = expand(node, function, context, model)
    graph.nodes = [made for node in graph.nodes for made in bodies.get(node, (node,))]
    _renumber(graph)
    return bool(bodies)


def _renumber(graph: Graph) -> None:
    for index, node in enumerate(graph.nodes):
        node.index = index


def schema_function(node: Node) -> FunctionProto | None:
    """The function body that the operator's schema gives for this node; None where it gives none."""
    operator = node.operator
    if operator is None or not operator.is_standard:
        return None
    schema, version = operator.schema, node.opset_version
    if node.domain == "" and node.op_type == "Scan":
        return scan_over_batch(node) if operator.since_version == 8 else None
    if schema.has_function:
        versions = [item for item in schema.function_opset_versions if item <= version]
        if versions:
            return _function(schema.get_function_with_opset_version(max(versions)))
    if schema.has_context_dependent_function:
        versions = [item for item in schema.context_dependent_function_opset_versions if item <= version]
        types = [b"" if value is None or value.type_proto is None else value.type_proto.SerializeToString()
                 for value in node.inputs]  # fmt: skip
        if versions:
            body = schema.get_context_dependent_function_with_opset_version(
                max(versions), node.proto.SerializeToString(), types
            )
            if body:
                return _function(body)
    return None


def _function(data: bytes) -> FunctionProto:
    proto = FunctionProto()
    proto.ParseFromString(data)
    return proto


def expand(node: Node, function: FunctionProto, context: KernelContext, model: Model | None = None) -> list[Node]:
    """The nodes of a function's body in place of a call: resolved, typed, making the call's outputs.

    The caller replaces the call in its graph. Values inside the body get names of their own.

    Raises:
        Fail: the body contradicts itself or the types of the call.
    """
    graph = node.graph
    functions = {} if model is None else model.functions
    imports = opset_imports(function.opset_import)
    if node.function is None:
        # The body of a schema names only the opsets that differ.
        imports = {**node.opset_imports, **imports}
    protos = _body(node, function, graph)
    source = EmbeddedTensors()
    nodes = add_nodes(graph, protos, imports, source, replaced=node)
    if not resolve_inputs(graph, nodes, source):
        holder = Graph(function.name, graph.holder)
        holder.nodes = nodes
        sort_nodes(holder)
        nodes = holder.nodes
    origin = node.origin or node
    for inner in nodes:
        inner.origin = origin
        inner.provider = None
        for nested in inner.subgraphs.values():
            for deeper in nested.all_nodes():
                deeper.origin = origin
    every = [item for inner in nodes for item in (inner, *(n for g in inner.subgraphs.values() for n in g.all_nodes()))]
    has_foreign = resolve_operators(every, functions, context)
    region = Region(nodes, imports, functions, context)
    if node.function is not None:
        region.check()
    region.infer()
    if has_foreign:
        infer_foreign_nodes(nodes, context, functions)
    check_types(every)
    return nodes


def _body(node: Node, function: FunctionProto, graph: Graph) -> list[NodeProto]:
    label = node.name or next((value.name for value in node.outputs if value is not None), node.op_type)
    prefix = graph.unique_name(f"{label}/{node.op_type}") + "/"
    names: dict[str, str] = {}
    if len(node.inputs) > len(function.input):
        raise InvalidGraph(
            f"{node}: function {function.name!r} takes {len(function.input)} inputs, not {len(node.inputs)}"
        )
    for index, formal in enumerate(function.input):
        value = node.inputs[index] if index < len(node.inputs) else None
        names[formal] = "" if value is None else value.name
    passed_through: list[tuple[str, str]] = []
    for index, formal in enumerate(function.output):
        actual = node.outputs[index] if index < len(node.outputs) else None
        if formal in names:
            if actual is not None:
                passed_through.append((names[formal], actual.name))
            continue
        names[formal] = prefix + formal if actual is None else actual.name
    attributes = {attribute.name: attribute for attribute in node.proto.attribute}
    for default in function.attribute_proto:
        attributes.setdefault(default.name, default)
    if node.operator is not None:
        for default in node.operator.default_attributes:
            attributes.setdefault(default.name, default)
    renamer = _Renamer(prefix, attributes)
    for inner in function.node:
        for name in inner.output:
            if name:
                names.setdefault(name, prefix + name)
    protos = [renamer.node(inner, names, position) for position, inner in enumerate(function.node)]
    for source, target in passed_through:
        protos.append(NodeProto(op_type="Identity", input=[source], output=[target], name=prefix + target))
    return protos


class _Renamer:
    """Copies nodes of a function body under names of the calling graph, attribute references resolved."""

    def __init__(self, prefix: str, attributes: Mapping[str, AttributeProto]) -> None:
        self._prefix = prefix
        self._attributes = attributes

    def node(self, proto: NodeProto, names: Mapping[str, str], position: int) -> NodeProto:
        copy = NodeProto(
            name=f"{self._prefix}{proto.name or f'{proto.op_type}_{position}'}",
            op_type=proto.op_type,
            domain=proto.domain,
            overload=proto.overload,
            input=[names.get(name, name) for name in proto.input],
            output=[names.get(name, name) for name in proto.output],
        )
        for attribute in proto.attribute:
            resolved = self._attribute(attribute, names)
            if resolved is not None:
                copy.attribute.append(resolved)
        return copy

    def _attribute(self, attribute: AttributeProto, names: Mapping[str, str]) -> AttributeProto | None:
        if attribute.ref_attr_name:
            given = self._attributes.get(attribute.ref_attr_name)
            if given is None:
                return None  # an optional attribute that the call leaves out
            copy = AttributeProto()
            copy.CopyFrom(given)
            copy.name = attribute.name
            return copy
        if not attribute.HasField("g"):
            return attribute
        copy = AttributeProto(name=attribute.name, type=AttributeProto.GRAPH)
        copy.g.CopyFrom(self._graph(attribute.g, names))
        return copy

    def _graph(self, proto: GraphProto, outer: Mapping[str, str]) -> GraphProto:
        copy = GraphProto()
        copy.CopyFrom(proto)
        own = [item.name for item in (*copy.input, *copy.initializer)]
        own += [name for node in copy.node for name in node.output if name]
        names = {**outer, **{name: self._prefix + name for name in own}}
        for item in (*copy.input, *copy.output, *copy.value_info, *copy.initializer):
            item.name = names.get(item.name, item.name)
        nodes = [self.node(node, names, position) for position, node in enumerate(proto.node)]
        del copy.node[:]
        copy.node.extend(nodes)
        return copy
