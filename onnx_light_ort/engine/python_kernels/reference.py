"""Kernels that run the reference implementation of package onnx (``onnx.reference``).

The reference's evaluator looks attributes up and checks types at each call, which costs more than a small operator
does. Here an operator's class is instantiated once, its attributes are bound to its ``_run`` method, and what is left
for each call is the conversion of what the reference returns to what a kernel returns: arrays of the declared types.

``onnx.reference`` takes longer to import than this whole package, hence only inside functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_light_ort.engine.errors import UnsupportedOperator
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

if TYPE_CHECKING:
    from onnx.reference.op_run import OpRun

# The executor's, and an operator whose function body handles the empty and the second sequence that its class does not.
_NOT_FROM_THE_REFERENCE = frozenset({"If", "Loop", "Scan", "SequenceMap"})


def reference_class(domain: str, op_type: str, since_version: int) -> type[OpRun] | None:
    """The reference's class for an operator version; None where it has none, or only a function body."""
    operators = _registered_operators(domain)
    versions = operators.get(op_type)
    if versions is None or (domain == "" and op_type in _NOT_FROM_THE_REFERENCE):
        return None
    if len(versions) == 1:
        return versions[None]
    known = [version for version in versions if version is not None and version <= since_version]
    return versions[max(known)] if known else None


def _registered_operators(domain: str) -> dict[str, dict[int | None, type[OpRun]]]:
    operators = _REGISTERED.get(domain)
    if operators is None:
        operators = _REGISTERED[domain] = _load_operators(domain)
    return operators


_REGISTERED: dict[str, dict[str, dict[int | None, type[Any]]]] = {}


def _load_operators(domain: str) -> dict[str, dict[int | None, type[OpRun]]]:
    package = _PACKAGES.get(domain)
    if package is None:
        return {}
    operators: dict[str, dict[int | None, type[OpRun]]] = import_module(
        f"{package}._op_list"
    )._build_registered_operators()
    return operators


_PACKAGES = {
    "": "onnx.reference.ops",
    "ai.onnx.ml": "onnx.reference.ops.aionnxml",
    "ai.onnx.preview": "onnx.reference.ops.aionnx_preview",
    "ai.onnx.preview.training": "onnx.reference.ops.aionnx_preview_training",
}


def reference_kernel(node: KernelNode) -> PythonKernel:
    """A kernel that runs the reference's class for the node's operator version.

    Raises:
        UnsupportedOperator: the reference has no class for it, or refuses the node's attributes.
    """
    operator = reference_class(node.domain, node.op_type, node.since_version)
    name = f"{node.domain or 'ai.onnx'}::{node.op_type} version {node.since_version}"
    if operator is None:
        raise UnsupportedOperator(f"{name} has no Python kernel: onnx.reference does not implement it")
    linked = [a.ref_attr_name for a in node.proto.attribute if a.ref_attr_name]
    if linked:
        raise UnsupportedOperator(f"{name} refers to the function attributes {linked}: inline the function first")
    try:
        instance = operator(node.proto, _run_parameters(node))
    except Exception as error:
        raise UnsupportedOperator(f"{name} is refused by onnx.reference: {error}") from error
    return _adapt(_bound_run(instance), node)


def _run_parameters(node: KernelNode) -> dict[str, Any]:
    from onnx.reference import ReferenceEvaluator

    return {
        "log": lambda pattern, *args: None,
        "opsets": dict(node.opset_imports),
        "verbose": 0,
        "new_ops": {},
        "existing_functions": {},
        "evaluator_cls": ReferenceEvaluator,
    }


def _bound_run(instance: OpRun) -> Callable[..., Any]:
    """The method that computes, without the evaluator's checks around it.

    The classes for unary and binary operators call ``_run`` with inputs alone; a class with a ``run`` of its own (Max,
    Min) computes there.
    """
    from onnx.reference.op_run import OpRun

    run_owner = next(cls for cls in type(instance).__mro__ if "run" in vars(cls))
    if run_owner is not OpRun:
        return instance._run if run_owner.__module__ == "onnx.reference.ops._op" else instance.run
    attributes = {name: getattr(instance, name) for name in instance.attributes_names_}
    if instance.has_subgraph:
        attributes["attributes"] = None
    return partial(instance._run, **attributes) if attributes else instance._run


def _adapt(run: Callable[..., Any], node: KernelNode) -> PythonKernel:
    count = node.output_count
    dtypes = tuple(node.output_dtype(index) for index in range(count))
    if count == 1:
        (dtype,) = dtypes

        def kernel(*inputs: Any) -> Any:
            value = run(*inputs)[0]
            if type(value) is np.ndarray and value.dtype is dtype:
                return value
            return published(value, dtype)

        return kernel

    def kernel_of_many_outputs(*inputs: Any) -> tuple[Any, ...]:
        return tuple(map(published, run(*inputs), dtypes))

    return kernel_of_many_outputs


def published(value: Any, dtype: np.dtype[Any] | None) -> Any:
    """What the reference returned, as a kernel returns it.

    Scalars become arrays of rank 0, fixed-width strings become objects, and a tensor of another type than the node's
    output has (some reference operators compute in float64 and leave it at that) is converted.
    """
    if isinstance(value, np.ndarray | np.generic):
        return _published_array(np.asarray(value), dtype)
    if isinstance(value, list | tuple):
        return [published(item, None) for item in value]
    if isinstance(value, bool | int | float | str):
        return _published_array(np.asarray(value), dtype)
    return value


def _published_array(array: Array, dtype: np.dtype[Any] | None) -> Array:
    if array.dtype.kind in "US":
        return array.astype(object)
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)
