"""Models whose nodes call the kernels as custom operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto, defs, helper

from onnx_light_ort._native import engine

DOMAIN = "onnx_light"

#: Attributes that a custom operator has besides its own.
_SINCE_VERSION = "since_version"
_OUTPUT_TYPES = "output_types"
_INPUT_POSITIONS = "input_positions"

_Types = Mapping[str, TypeProto]


def rewrite(model: ModelProto, ops: Iterable[str]) -> ModelProto:
    """A copy of a model whose nodes of some operators call the custom operators of the domain ``onnx_light``.

    Subgraphs are rewritten too; the bodies of model-local functions are not, since their types depend on the call. The
    copy has what ``onnx.shape_inference`` found out about types and shapes, and attributes that the model leaves out
    have the values of the operator's schema. It runs wherever ``library_path()`` is registered with
    ``SessionOptions.register_custom_ops_library``, which takes ONNX Runtime 1.17 or newer.

    Args:
        model: a model of at most 2 GB, external data not counted.
        ops: operators, such as ``["Add", "Softmax"]``; those of other domains as ``"ai.onnx.ml.Scaler"``.

    Raises:
        ValueError: there is no kernel for an operator, or the types of a node's values are not known.
    """
    wanted = {_split(op) for op in ops}
    known = {(entry.domain, entry.op_type) for entry in engine.native_kernels()}
    unknown = sorted(_joined(*op) for op in wanted - known)
    if unknown:
        raise ValueError(f"no kernel computes {', '.join(unknown)}; docs/kernels.md lists the operators")
    inferred = onnx.shape_inference.infer_shapes(model)
    versions = {"" if item.domain == "ai.onnx" else item.domain: item.version for item in inferred.opset_import}
    if _rewrite_graph(inferred.graph, wanted, versions, {}):
        inferred.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return inferred


def _rewrite_graph(graph: GraphProto, wanted: set[tuple[str, str]], versions: Mapping[str, int], outer: _Types) -> bool:
    types = {**outer, **dict(_types_of(graph))}
    changed = False
    for node in graph.node:
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs) if attribute.type != AttributeProto.TENSOR else ():
                changed |= _rewrite_graph(body, wanted, versions, types)
        domain = "" if node.domain == "ai.onnx" else node.domain
        if (domain, node.op_type) in wanted and not node.overload:
            _rewrite_node(node, defs.get_schema(node.op_type, versions[domain], domain), types)
            changed = True
    return changed


def _rewrite_node(node: NodeProto, schema: defs.OpSchema, types: _Types) -> None:
    elements = []
    for name in node.output:
        if name and name not in types:
            raise ValueError(
                f"node '{node.name}' ({node.op_type}): the type of its output '{name}' is not known; add a value_info"
            )
        elements.append(types[name].tensor_type.elem_type if name else 0)
    given = {attribute.name for attribute in node.attribute}
    for name, declared in schema.attributes.items():
        if name not in given and declared.default_value.type != AttributeProto.UNDEFINED:
            node.attribute.append(declared.default_value)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.STRINGS:
            # ONNX Runtime lets a custom operator read a list of strings since 1.25, and one string always.
            attribute.s = b"\n".join(attribute.strings)
            attribute.type = AttributeProto.STRING
            del attribute.strings[:]
    positions = [position for position, name in enumerate(node.input) if name]
    if positions != list(range(len(node.input))):
        # A custom operator has no absent inputs: some versions of ONNX Runtime crash on them.
        present = [node.input[position] for position in positions]
        del node.input[:]
        node.input.extend(present)
        node.attribute.append(helper.make_attribute(_INPUT_POSITIONS, positions))
    node.attribute.append(helper.make_attribute(_SINCE_VERSION, schema.since_version))
    node.attribute.append(helper.make_attribute(_OUTPUT_TYPES, elements))
    node.op_type = _joined(schema.domain, node.op_type)
    node.domain = DOMAIN


def _types_of(graph: GraphProto) -> Iterator[tuple[str, TypeProto]]:
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name, value.type
    for tensor in graph.initializer:
        yield tensor.name, helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))


def _split(op: str) -> tuple[str, str]:
    domain, _, name = op.rpartition(".")
    return ("" if domain == "ai.onnx" else domain), name


def _joined(domain: str, op_type: str) -> str:
    return f"{domain}.{op_type}" if domain else op_type
