"""Kernels in Python: what runs a node that no native kernel and no plugin takes.

An operator has a numpy fast path of its own (one family a file), or runs on ``onnx.reference``, or is refused with a
reason. Control flow (If, Loop, Scan) is the executor's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import NodeProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path_operators, find_fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.python_kernels.reference import reference_class, reference_kernel
from onnx_light_ort.engine.value_type import element_type_of_dtype

__all__ = [
    "KernelNode",
    "PythonKernel",
    "create_python_kernel",
    "fast_path_operators",
    "has_python_kernel",
    "has_reference_kernel",
]


def create_python_kernel(
    node: NodeProto,
    *,
    domain: str,
    op_type: str,
    since_version: int,
    opset_imports: Mapping[str, int],
    input_types: Sequence[int],
    output_types: Sequence[int],
    attributes: Mapping[str, Any],
    constants: Mapping[int, Array] | None = None,
) -> PythonKernel:
    """The callable that computes a node: ``f(*inputs) -> output``, or a tuple where the node has several outputs.

    Args:
        node: the node, with its attributes.
        domain: its domain, "" for ai.onnx.
        op_type: its operator.
        since_version: the version of the operator's schema.
        opset_imports: the model's operator sets by domain, for operators with subgraphs.
        input_types: a ``TensorProto.DataType`` an input; 0 where absent, unknown or not a tensor.
        output_types: the same for the outputs; tensors leave the kernel in these types.
        attributes: the node's attributes as Python values, with the schema's defaults.
        constants: input positions known at planning, with their arrays.

    Raises:
        UnsupportedOperator: no fast path and no class of ``onnx.reference`` computes it. Where the operator's
            schema has a function body, the planner expands that instead.
    """
    domain = "" if domain == "ai.onnx" else domain
    resolved = KernelNode(
        proto=node,
        domain=domain,
        op_type=op_type,
        since_version=since_version,
        opset_imports=opset_imports,
        input_types=tuple(input_types),
        output_types=tuple(output_types),
        attributes=attributes,
        constants=constants or {},
    )
    if find_fast_path(domain, op_type) and _has_input_of_unknown_type(resolved):
        return _kernel_by_types_of_arrays(resolved)
    return _kernel(resolved)


def _kernel(node: KernelNode) -> PythonKernel:
    factory = find_fast_path(node.domain, node.op_type)
    kernel = factory(node) if factory else None
    return reference_kernel(node) if kernel is None else kernel


def _has_input_of_unknown_type(node: KernelNode) -> bool:
    return any(name and not known for name, known in zip(node.proto.input, node.input_types, strict=True))


def _kernel_by_types_of_arrays(node: KernelNode) -> PythonKernel:
    """Where planning does not know the inputs' types, a kernel is made for the types of each call's arrays."""
    kernels: dict[tuple[int, ...], PythonKernel] = {}

    def kernel(*inputs: Any) -> Any:
        types = tuple(element_type_of_dtype(value.dtype) if isinstance(value, np.ndarray) else 0 for value in inputs)
        typed = kernels.get(types)
        if typed is None:
            typed = kernels[types] = _kernel(replace(node, input_types=types))
        return typed(*inputs)

    return kernel


def has_reference_kernel(domain: str, op_type: str, since_version: int) -> bool:
    """Whether ``onnx.reference`` has a class (not only a function body) for the operator version."""
    return reference_class("" if domain == "ai.onnx" else domain, op_type, since_version) is not None


def has_python_kernel(domain: str, op_type: str, since_version: int) -> bool:
    """Whether a Python kernel may compute the operator version: if not, expand its function body or refuse it."""
    domain = "" if domain == "ai.onnx" else domain
    return find_fast_path(domain, op_type) is not None or has_reference_kernel(domain, op_type, since_version)
