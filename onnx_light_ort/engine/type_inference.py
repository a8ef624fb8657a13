"""Types and shapes of values: onnx's checker and shape inference over the graph without its weights.

Big constants enter as inputs of a type; only constants small enough to be shapes, axes and the like keep their data.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onnx import GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TypeProto, ValueInfoProto

from onnx_light_ort.engine.graph import Node, Value
from onnx_light_ort.engine.kernel_registry import ForeignCall
from onnx_light_ort.engine.operator_schema import (
    ForeignOperator,
    Operator,
    known_domains,
    last_version,
    standard_operator,
)
from onnx_light_ort.engine.value_type import STRING, TypeKey, tensor_type, type_string
from onnx_light_ort.errors import Fail, InvalidGraph, OutOfMemory

if TYPE_CHECKING:
    from onnx import FunctionProto

    from onnx_light_ort.engine.constant import Constant
    from onnx_light_ort.engine.graph import Model
    from onnx_light_ort.engine.kernel_registry import KernelContext

_log = logging.getLogger("onnx_light_ort")

#: Constants with more bytes than this take part in shape inference by their type alone.
_SMALL_CONSTANT = 1024


_NO_TEXT = "the model is invalid, and so are its names, which are no UTF-8: it is damaged"


def _is_small(constant: Constant) -> bool:
    return constant.element_type != STRING and constant.byte_size <= _SMALL_CONSTANT


Functions = Mapping[tuple[str, str, str], "FunctionProto"]


def resolve_operators(nodes: Iterable[Node], functions: Functions, context: KernelContext) -> bool:
    """Finds the operator or model-local function of each node; true when one is foreign (and still to be picked, by its
    input types).

    Raises:
        InvalidGraph: no such operator in the imported opset, or the domain is not imported.
        Fail: the domain is nobody's.
    """
    has_foreign = False
    cache: dict[tuple[str, str, int], Any] = {}
    foreign = {name for registry in context.local for name in registry.operator_names()}
    for node in nodes:
        if functions:
            node.function = functions.get((node.domain, node.op_type, node.proto.overload))
            if node.function is not None:
                continue
        if foreign and (node.domain, node.op_type) in foreign:
            has_foreign = True
            continue
        version = node.opset_imports.get(node.domain)
        if version is None:
            raise InvalidGraph(f"{node}: the model imports no opset of domain {node.domain or 'ai.onnx'!r}")
        key = (node.domain, node.op_type, version)
        operator = cache.get(key)
        if operator is None:
            operator = standard_operator(*key)
            if operator is None:
                _raise_unknown(node, version)
            cache[key] = operator
        node.operator = operator
        if node.op_type in _BOUND_OPERATORS:
            _check_counts(node.proto)
    return has_foreign


def _check_counts(proto: NodeProto) -> None:
    """Refuses numbers that onnx's shape inference follows out of bounds, or for ages, without a look."""
    for attribute in proto.attribute:
        if (proto.op_type, attribute.name) not in _BOUNDS or attribute.ref_attr_name:
            continue
        bounds = _BOUNDS[proto.op_type, attribute.name]
        least, most = bounds or (len(proto.output), len(proto.output))
        if not least <= attribute.i <= most:
            raise InvalidGraph(
                f"node {proto.name or proto.output[:1]!r} ({proto.op_type}): attribute {attribute.name} is "
                f"{attribute.i}, which is not between {least} and {most}"
            )


#: Least and greatest value; None: exactly the number of the node's outputs.
_BOUNDS: dict[tuple[str, str], tuple[int, int] | None] = {
    ("Split", "num_outputs"): None,
    ("GatherND", "batch_dims"): (0, 2**31 - 1),
    ("LayerNormalization", "axis"): (-(2**31), 2**31 - 1),
}

_BOUND_OPERATORS = frozenset(op_type for op_type, _ in _BOUNDS)


def _raise_unknown(node: Node, version: int) -> None:
    if node.domain in known_domains():
        newer = standard_operator(node.domain, node.op_type, known_domains()[node.domain])
        if newer is not None:
            hint = f"it exists from version {newer.since_version} on"
        elif (older := last_version(node.domain, node.op_type)) is not None:
            hint = f"it was removed after version {older}"
        else:
            hint = "ONNX has none of that name"
        raise InvalidGraph(
            f"{node}: opset {version} of domain {node.domain or 'ai.onnx'!r} has no operator {node.op_type} ({hint})"
        )
    raise Fail(
        f"{node}: {node.domain}::{node.op_type} is no registered operator or function: register the custom-op library "
        "or execution provider that brings it"
    )


def infer_model(model: Model, context: KernelContext) -> None:
    """Checks the model, and types every value of its graphs.

    Raises:
        InvalidGraph: a node breaks its operator's schema.
        Fail: types or shapes contradict each other.
    """
    for domain in {node.domain for node in model.graph.all_nodes()} - model.opset_imports.keys():
        newest = context.newest_opset(domain)
        if newest is not None:
            model.opset_imports[domain] = newest
    for key in list(model.functions):
        domain, name, _ = key
        version = model.opset_imports.get(domain, 0)
        if context.foreign_operators(domain, name) or standard_operator(domain, name, version) is not None:
            del model.functions[key]  # An operator comes before a function of its name, as in ORT.
    has_foreign = resolve_operators(model.graph.all_nodes(), model.functions, context)
    for function in model.functions.values():
        for proto in function.node:
            _check_counts(proto)
    nodes = model.graph.nodes
    if not nodes or any(_concerns_onnx(node) for node in nodes):
        region = Region(nodes, model.opset_imports, model.functions, context, model.ir_version)
        region.check()
        region.infer()
    if has_foreign:
        infer_foreign_nodes(model.graph.nodes, context, model.functions)
    check_types(model.graph.all_nodes())


def _concerns_onnx(node: Node) -> bool:
    """Whether onnx's checker or inference know anything of a node: of a foreign one they see the attributes alone."""
    return node.operator is not None or node.function is not None or node.has_attributes


def _inner_nodes(node: Node) -> Iterable[Node]:
    return (inner for subgraph in node.subgraphs.values() for inner in subgraph.all_nodes())


def check_types(nodes: Iterable[Node]) -> None:
    """Checks every node's types against its operator's schema; see Operator.check_types."""
    checked: set[Any] = set()
    last: Any = None
    for node in nodes:
        operator = node.operator
        if operator is None:
            continue
        key = node.signature()
        if key is not last and key not in checked:  # alike nodes share it, and often come one after another
            operator.check_types(node)
            checked.add(key)
        last = key


class Region:
    """Nodes of one graph, in running order, as a model of their own for onnx's checker and shape inference."""

    def __init__(
        self,
        nodes: Sequence[Node],
        opset_imports: Mapping[str, int],
        functions: Functions,
        context: KernelContext,
        ir_version: int = 8,
    ) -> None:
        self._nodes = nodes
        self._functions = functions
        self._opset_imports = opset_imports
        self._context = context
        self._proto = ModelProto(ir_version=max(ir_version, 4))
        for domain, version in opset_imports.items():
            self._proto.opset_import.append(OperatorSetIdProto(domain=domain, version=version))
        graph = self._proto.graph
        graph.name = "region"
        graph.node.extend([node.proto for node in nodes])
        for node, item in zip(nodes, graph.node, strict=True):
            if node.operator is not None and node.operator.has_function_body:
                _add_default_attributes(item, node.operator)
            elif node.function is not None:
                # onnx's inference stumbles over outputs that a call leaves out at the end.
                for name in node.function.output[len(item.output) :]:
                    item.output.append(f"{item.output[0]}/{name}")
        taken = context.foreign_names(known_domains())
        if taken:
            self._proto.opset_import.append(OperatorSetIdProto(domain=_FOREIGN_DOMAIN, version=1))
            _rename_foreign(graph, taken)
        self._add_inputs(graph)

    def _add_inputs(self, graph: GraphProto) -> None:
        inside = set(self._nodes)
        outer: dict[Value, None] = {}
        for node in self._nodes:
            for value in node.inputs:
                if value is not None and value.producer not in inside:
                    outer[value] = None
            for value in node.captures:
                if value.producer not in inside:
                    outer[value] = None
        for value in outer:
            constant = value.constant
            if constant is not None and _is_small(constant):
                graph.initializer.append(constant.tensor_proto(value.name))
            elif value.type_proto is not None:
                graph.input.append(ValueInfoProto(name=value.name, type=value.type_proto))
        for node in inside:
            for subgraph in node.subgraphs.values():
                for nested in subgraph.all_graphs():
                    for value in nested.hoisted:
                        graph.input.append(ValueInfoProto(name=value.name, type=value.type_proto))

    def check(self) -> None:
        """Runs onnx's checker. Calls of functions pass unchecked; their bodies are checked when they are inlined.

        Raises:
            InvalidGraph: a node breaks its operator's schema.
        """
        import onnx.checker

        # The checker wants to know the rank of every input; models need not.
        of_any_rank = [
            info.type.tensor_type
            for info in self._proto.graph.input
            if info.type.HasField("tensor_type") and not info.type.tensor_type.HasField("shape")
        ]
        for tensor in of_any_rank:
            tensor.shape.SetInParent()
        try:
            onnx.checker.C.check_model(self._proto.SerializeToString(), False, False, False)
        except onnx.checker.ValidationError as error:
            raise InvalidGraph(self._culprit(error)) from error
        except UnicodeDecodeError as error:
            raise InvalidGraph(_NO_TEXT) from error
        for tensor in of_any_rank:
            tensor.ClearField("shape")

    def _culprit(self, error: Exception) -> str:
        """The message with the node that it is about: the checker names only the outermost one, if any."""
        import onnx.checker

        context = onnx.checker.C.CheckerContext()
        context.ir_version = self._proto.ir_version
        context.opset_imports = {entry.domain: entry.version for entry in self._proto.opset_import}
        for node in (item for outer in self._nodes for item in (outer, *_inner_nodes(outer))):
            if not node.subgraphs:
                try:
                    onnx.checker.C.check_node(
                        node.proto.SerializeToString(), context, onnx.checker.LEXICAL_SCOPE_CONTEXT
                    )
                except onnx.checker.ValidationError as found:
                    return f"{node}: {' '.join(str(found).split())}"
                except UnicodeDecodeError:
                    return f"{node}: {_NO_TEXT}"
        return f"the model is invalid: {' '.join(str(error).split())}"

    def infer(self) -> None:
        """Types the outputs of the nodes, and the values of their subgraphs.

        Raises:
            Fail: a node's inputs contradict each other, or the type that the model declares for an output.
        """
        from onnx.onnx_cpp2py_export import checker, shape_inference

        graph = self._proto.graph
        for node in self._nodes:
            for value in node.outputs:
                # A declared element type is checked against the inferred one; declared dimensions are only a fallback.
                if value is not None and value.type_proto is not None and value.element_type:
                    declared = TypeProto()
                    declared.tensor_type.elem_type = value.element_type
                    graph.value_info.append(ValueInfoProto(name=value.name, type=declared))
        self._proto.functions.extend(self._functions.values())
        try:
            inferred = shape_inference.infer_shapes(self._proto.SerializeToString(), False, True, True)
        except checker.ValidationError as error:
            raise InvalidGraph(f"the model is invalid: {' '.join(str(error).split())}") from error
        except shape_inference.InferenceError as error:
            raise Fail(f"types or shapes contradict each other: {self._located(error)}") from error
        except UnicodeDecodeError as error:
            raise InvalidGraph(_NO_TEXT) from error
        except MemoryError as error:
            raise OutOfMemory("shape inference ran out of memory: an attribute of the model is far too big") from error
        result = ModelProto.FromString(inferred).graph
        by_name = {value.name: value for node in self._nodes for value in node.outputs if value is not None}
        _apply(result, by_name)
        for node, proto in zip(self._nodes, result.node, strict=True):
            if node.subgraphs:
                _apply_subgraphs(node, proto)

    def _located(self, error: Exception) -> str:
        """The message with the node that it is about, which onnx knows by a name that it may not have."""
        text = _first_error(error)
        if "node name: " in text:
            return text
        if len(self._nodes) == 1:
            return f"{self._nodes[0]}: {text}"
        for node in self._nodes:
            try:
                Region([node], self._opset_imports, self._functions, self._context, self._proto.ir_version).infer()
            except Fail as found:
                return str(found).removeprefix("types or shapes contradict each other: ")
        return text


_FOREIGN_DOMAIN = "onnx_light_ort.foreign"


def _rename_foreign(graph: GraphProto, names: set[tuple[str, str]]) -> None:
    """Puts foreign operators that stand in a domain of ONNX's into one that onnx has no schemas of."""
    for node in graph.node:
        if (("" if node.domain == "ai.onnx" else node.domain), node.op_type) in names:
            node.domain = _FOREIGN_DOMAIN
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename_foreign(attribute.g, names)


def _add_default_attributes(proto: NodeProto, operator: Operator) -> None:
    """onnx's inference goes through an operator's function body without the defaults of the operator's attributes."""
    given = {attribute.name for attribute in proto.attribute}
    proto.attribute.extend(default for default in operator.default_attributes if default.name not in given)


def _apply(graph: GraphProto, values: Mapping[str, Value]) -> None:
    for infos in (graph.value_info, graph.output):
        for info in infos:
            value = values.get(info.name)
            if value is not None:
                inferred = info.type
                element_type = inferred.tensor_type.elem_type
                if value.type_proto is None and element_type:
                    value.type_proto, value.element_type = inferred, element_type
                else:
                    _merge(value, inferred)


def _merge(value: Value, inferred: TypeProto) -> None:
    kind = inferred.WhichOneof("value")
    if kind is None or (kind == "tensor_type" and not inferred.tensor_type.elem_type):
        return
    if kind == "tensor_type" and value.element_type == inferred.tensor_type.elem_type:
        if not inferred.tensor_type.HasField("shape"):
            return
        _fill_unknown_dims(value, inferred)
    value.set_type(inferred)


def _fill_unknown_dims(value: Value, inferred: TypeProto) -> None:
    """Takes dimensions that only the model's declaration knows."""
    assert value.type_proto is not None
    declared = value.type_proto.tensor_type
    if not declared.HasField("shape"):
        return
    dims = inferred.tensor_type.shape.dim
    if len(dims) != len(declared.shape.dim):
        _log.warning(
            "value %r is declared with rank %d, but has rank %d", value.name, len(declared.shape.dim), len(dims)
        )
        return
    for dim, known in zip(dims, declared.shape.dim, strict=True):
        if dim.HasField("dim_value"):
            if known.HasField("dim_value") and known.dim_value != dim.dim_value:
                _log.warning(
                    "value %r is declared with dimension %d where it has %d", value.name, known.dim_value, dim.dim_value
                )
        elif (known.HasField("dim_value") and known.dim_value >= 0) or known.dim_param:
            dim.CopyFrom(known)


def _apply_subgraphs(node: Node, proto: NodeProto) -> None:
    for attribute in proto.attribute:
        subgraph = node.subgraphs.get(attribute.name)
        if subgraph is None:
            continue
        inner = attribute.g
        for infos in (inner.input, inner.value_info, inner.output):
            for info in infos:
                value = subgraph.values.get(info.name)
                if value is not None:
                    _merge(value, info.type)
        # Constant nodes of the proto have no node in the graph.
        protos = [item for item in inner.node if item.op_type in _HOLDERS or _has_graph(item)]
        holders = [item for item in subgraph.nodes if item.subgraphs]
        by_name = {tuple(item.output): item for item in protos}
        for holder in holders:
            found = by_name.get(tuple(holder.proto.output))
            if found is not None:
                _apply_subgraphs(holder, found)


_HOLDERS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def _has_graph(proto: NodeProto) -> bool:
    return any(attribute.HasField("g") for attribute in proto.attribute)


def _first_error(error: Exception) -> str:
    text = str(error)
    for prefix in ("[ShapeInferenceError] ", "Inference error(s): "):
        text = text.removeprefix(prefix)
    return text.strip()


def infer_foreign_nodes(nodes: Iterable[Node], context: KernelContext, functions: Functions) -> None:
    """Types foreign nodes, and what depends on them; the nodes are in running order."""
    for node in nodes:
        if node.operator is None and node.function is None:
            _infer_foreign_node(node, context)
        elif any(value is not None and value.type_key is None for value in node.outputs) or node.subgraphs:
            if all(value.type_key is not None for value in node.reads()):
                Region([node], node.opset_imports, functions, context).infer()
            for subgraph in node.subgraphs.values():
                infer_foreign_nodes(subgraph.nodes, context, functions)
            if node.subgraphs:
                _type_control_flow_outputs(node)


def _infer_foreign_node(node: Node, context: KernelContext) -> None:
    call = _foreign_call(node, context)
    outputs = node.outputs
    undeclared = True
    for value in outputs:
        if value is None or value.type_proto is not None:
            undeclared = False
    node.operator = operator = call.operator
    if undeclared and call.outcome is not None:
        types_made, signature = call.outcome
        for value, made in zip(outputs, types_made, strict=True):
            assert value is not None
            value.type_proto, value.element_type = made
        node.share_signature(signature)
        return
    inferred = call.inferred
    if inferred is None:
        types = [None if value is None else value.type_proto for value in node.inputs]
        inferred = operator.infer(node, types, node.constant_inputs)
        if operator.infers_by_types:
            call.inferred = inferred
    for value, proto in zip(outputs, inferred, strict=False):
        if value is None or proto is None:
            continue
        if value.type_proto is None:
            value.set_type(proto)
            continue
        if value.element_type and proto.HasField("tensor_type") and proto.tensor_type.elem_type != value.element_type:
            raise Fail(
                f"{node}: output {value.name!r} is declared as {value.type_string}, the operator makes "
                f"{type_string(proto)}"
            )
        _merge(value, proto)
    if undeclared and call.inferred is not None:
        known = [(value.type_proto, value.element_type) for value in outputs if value is not None and value.type_proto]
        if len(known) == len(outputs):
            call.outcome = (known, node.signature())


def _foreign_call(node: Node, context: KernelContext) -> ForeignCall:
    """The foreign operator that a node calls, by its opset and input types.

    Raises:
        InvalidGraph: none takes the node's arguments, with the reason of each.
        Fail: none serves the opset, with the reason of each; or several fit, with their names.
    """
    # Whether one fits depends on nothing else, and a model calls few operators often.
    domain = node.domain
    types: list[TypeKey] = []
    for value in node.inputs:
        types.append(value and (value.element_type or value.type_key or 0))  # type: ignore[arg-type]
    key = (domain, node.op_type, node.opset_imports.get(domain, 0), len(node.outputs), *types)
    call = context.foreign_calls.get(key)
    if call is None:
        call = context.foreign_calls[key] = ForeignCall(_pick_foreign_operator(node, context))
    return call


def _pick_foreign_operator(node: Node, context: KernelContext) -> ForeignOperator:
    candidates = context.foreign_operators(node.domain, node.op_type)
    reasons = [(candidate, candidate.mismatch(node)) for candidate in candidates]
    fitting = [candidate for candidate, reason in reasons if reason is None]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Fail(
            f"{node}: {len(fitting)} registered operators fit: {', '.join(map(repr, fitting))}; keep one of them"
        )
    # As ORT has it: an opset that has the operator makes it a node that breaks its schema.
    breaks_schema = any(candidate.unavailable(node) is None for candidate in candidates)
    raise (InvalidGraph if breaks_schema else Fail)(
        f"{node}: no registered operator fits: " + "; ".join(f"{candidate}: {reason}" for candidate, reason in reasons)
    )


def _type_control_flow_outputs(node: Node) -> None:
    """Element types of outputs that stem from foreign nodes in a subgraph, which onnx's inference cannot see."""
    bodies = list(node.subgraphs.values())
    if node.op_type == "If":
        sources = bodies[0].outputs
    elif node.op_type == "Loop":
        sources = bodies[0].outputs[1:]
    elif node.op_type == "Scan":
        sources = bodies[0].outputs
    else:
        return
    for value, source in zip(node.outputs, sources, strict=False):
        if value is not None and value.type_key is None and source.element_type:
            value.set_type(tensor_type(source.element_type, None))
