"""Computes once what does not depend on a run's inputs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np

from onnx_light_ort.engine.constant import Constant
from onnx_light_ort.engine.graph import CONTROL_FLOW, Graph, Node, Value
from onnx_light_ort.engine.value_type import STRING, dense_byte_size
from onnx_light_ort.errors import Error

_log = logging.getLogger("onnx_light_ort")

_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
)  # fmt: skip

_SHAPES = frozenset({"Shape", "Size"})

#: A result up to this size is kept whatever it was made from.
_ANY_GROWTH = 1 << 20
#: A bigger one is kept where it has at most this many times the bytes of what it was made from. Eight is what
#: dequantized 4-bit weights grow by; a broadcast or a fill grows by more and is cheaper to repeat than to hold.
_GROWTH = 8

Evaluate = Callable[[Sequence[Node], Sequence[Value]], Sequence[Any]]
"""Runs nodes whose inputs are constants, and returns the wanted values."""


def fold_constants(graph: Graph, has_kernel: Callable[[Node], bool], evaluate: Evaluate) -> int:
    """Replaces nodes of the graph and its subgraphs whose values are known now by constants; returns how many.

    Never folded: random operators, control flow, operators that a caller brought, nodes that a provider claimed, and
    nodes whose result is much bigger than what it is made from. A node whose kernel fails is left to fail when it runs.
    """
    count = 0
    for inner in list(graph.all_graphs()):
        count += _fold_graph(inner, has_kernel, evaluate)
    return count


def _fold_graph(graph: Graph, has_kernel: Callable[[Node], bool], evaluate: Evaluate) -> int:
    known: set[Value] = set()
    sizes: dict[Value, int] = {}
    foldable: list[Node] = []
    for node in graph.nodes:
        if node.op_type in _SHAPES and _fold_shape(node, graph):
            foldable.append(node)
            continue
        for read in node.reads():
            if read.constant is None and read not in known:
                break
        else:
            if not _may_fold(node):
                continue
            size = sum(_byte_size(value, sizes) for value in node.reads())
            results = [_result_size(value) for value in node.outputs if value is not None]
            if any(result is None for result in results):
                continue
            made = sum(result or 0 for result in results)
            if (made > _ANY_GROWTH and made > _GROWTH * size) or not has_kernel(node):
                continue
            foldable.append(node)
            for value in node.outputs:
                if value is not None:
                    known.add(value)
                    sizes[value] = _result_size(value) or 0
    if not foldable:
        return 0
    folded = set(foldable)
    to_run = [node for node in foldable if any(v is not None and v.constant is None for v in node.outputs)]
    remaining = [node for node in graph.nodes if node not in folded]
    needed = set(graph.outputs)
    for node in remaining:
        needed.update(node.reads())
    wanted = [value for node in to_run for value in node.outputs if value is not None and value in needed]
    results_by_value = _evaluate(to_run, wanted, evaluate)
    for node in to_run:
        for value in node.outputs:
            if value is not None and value in needed and value not in results_by_value:
                folded.discard(node)
    if len(folded) < len(foldable):
        # What failed stays, with all that only it needs.
        _keep_makers(graph, folded, results_by_value.keys())
    for value, array in results_by_value.items():
        if value.producer in folded:
            graph.set_constant(value, Constant.of_array(_owned(array), value.element_type))
    for node in folded:
        node.fate = "folded"
    graph.nodes = [node for node in graph.nodes if node not in folded]
    for index, node in enumerate(graph.nodes):
        node.index = index
    return len(folded)


def _keep_makers(graph: Graph, folded: set[Node], computed: Container[Value]) -> None:
    for node in reversed(graph.nodes):
        if node in folded:
            continue
        for value in node.reads():
            if value.producer in folded and value.constant is None and value not in computed:
                folded.discard(value.producer)


def _may_fold(node: Node) -> bool:
    if (
        node.operator is None
        or not node.operator.is_standard
        or node.provider is not None
        or node.op_type in _RANDOM
        or node.op_type in CONTROL_FLOW
        or node.subgraphs
    ):
        return False
    # Dropout draws random numbers where it trains.
    return not (node.op_type == "Dropout" and len(node.inputs) > 2 and node.inputs[2] is not None)


def _fold_shape(node: Node, graph: Graph) -> bool:
    """Shape and Size of a value whose dimensions are known are constants, whatever the value is."""
    if node.domain or node.op_type not in _SHAPES or node.provider is not None:
        return False
    source, target = node.inputs[0], node.outputs[0]
    shape = source.shape if source is not None else None
    if target is None or shape is None or not all(isinstance(dim, int) for dim in shape):
        return False
    dims = np.array(shape, dtype=np.int64)
    if node.op_type == "Size":
        array = np.array(int(np.prod(dims, dtype=object)), dtype=np.int64)
    else:
        array = dims[node.attributes.get("start", 0) : node.attributes.get("end")].copy()
    graph.set_constant(target, Constant.of_array(array, 7))
    return True


def _byte_size(value: Value, sizes: Mapping[Value, int]) -> int:
    return value.constant.byte_size if value.constant is not None else sizes.get(value, 0)


def _result_size(value: Value) -> int | None:
    """Bytes of a node's output; None where it is no dense tensor or its size is not known before it runs."""
    shape = value.shape
    if not value.element_type or shape is None:
        return None
    count = 1
    for dim in shape:
        if not isinstance(dim, int):
            return None
        count *= dim
    return count * 32 if value.element_type == STRING else dense_byte_size(value.element_type, count)


def _evaluate(nodes: Sequence[Node], wanted: Sequence[Value], evaluate: Evaluate) -> dict[Value, Any]:
    """The values that could be computed: all at once, or node by node where a kernel fails."""
    if not wanted:
        return {}
    try:
        return dict(zip(wanted, evaluate(nodes, wanted), strict=True))
    except Exception as error:
        _log.debug("constants are folded node by node: %s", error)
    found: dict[Value, Any] = {}
    for value in wanted:
        try:
            (found[value],) = evaluate(_makers(nodes, value), [value])
        except Exception as error:
            _log.warning("%s is not folded: %s", value.producer, error)
    return found


def _makers(nodes: Sequence[Node], value: Value) -> list[Node]:
    """Those of the nodes that a value depends on, in order."""
    needed = {value}
    chosen: list[Node] = []
    for node in reversed(nodes):
        if any(output in needed for output in node.outputs if output is not None):
            chosen.append(node)
            needed.update(node.reads())
    return chosen[::-1]


def _owned(array: Any) -> np.ndarray[Any, Any]:
    if not isinstance(array, np.ndarray):
        raise Error(f"a folded tensor is {type(array).__name__}")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)
