"""Reductions over axes, and the positions of extremes.

The axes are an input from version 18 on (13 for ReduceSum), an attribute before. No axes mean all of them, or none if
``noop_with_empty_axes``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

Axes = tuple[int, ...] | None


def _log_sum_exp(x: Array, axis: Axes, keepdims: bool) -> Any:
    """log(sum(exp(x))), shifted by the maximum so that exp does not overflow."""
    if not x.size:
        return np.log(np.sum(x, axis=axis, keepdims=keepdims))
    shift = x.max(axis=axis, keepdims=True)
    shift = np.where(np.isfinite(shift), shift, np.zeros((), x.dtype))
    sums = np.log(np.exp(x - shift).sum(axis=axis, keepdims=True)) + shift
    return sums if keepdims else sums.squeeze(axis)


def _extreme(reduce: Callable[..., Any], is_max: bool) -> Callable[..., Any]:
    def compute(x: Array, axis: Axes, keepdims: bool) -> Any:
        if x.size:
            return reduce(x, axis=axis, keepdims=keepdims)
        return reduce(x, axis=axis, keepdims=keepdims, initial=_neutral(x.dtype, is_max))

    return compute


def _neutral(dtype: np.dtype[Any], is_max: bool) -> Any:
    if dtype.kind == "b":
        return not is_max
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if is_max else np.iinfo(dtype).max
    return -np.inf if is_max else np.inf


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceL1": lambda x, axis, keepdims: np.abs(x).sum(axis=axis, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: np.sqrt(np.square(x).sum(axis=axis, keepdims=keepdims)),
    "ReduceLogSum": lambda x, axis, keepdims: np.log(x.sum(axis=axis, keepdims=keepdims)),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": _extreme(np.maximum.reduce, True),
    "ReduceMean": lambda x, axis, keepdims: x.mean(axis=axis, keepdims=keepdims),
    "ReduceMin": _extreme(np.minimum.reduce, False),
    "ReduceProd": lambda x, axis, keepdims: x.prod(axis=axis, keepdims=keepdims, dtype=x.dtype),
    "ReduceSum": lambda x, axis, keepdims: x.sum(axis=axis, keepdims=keepdims, dtype=x.dtype),
    "ReduceSumSquare": lambda x, axis, keepdims: np.square(x).sum(axis=axis, keepdims=keepdims, dtype=x.dtype),
}

# What is applied to each element where there is no axis to reduce over.
_WITHOUT_AXES: dict[str, Callable[[Array], Any]] = {
    "ReduceL1": np.abs,
    "ReduceL2": np.abs,
    "ReduceLogSum": np.log,
    "ReduceSumSquare": np.square,
}


@fast_path(*_REDUCTIONS)
def _reduce(node: KernelNode) -> PythonKernel:
    compute = _REDUCTIONS[node.op_type]
    keeps = bool(node.attribute("keepdims", 1))
    fixed = tuple(node.attribute("axes") or ())
    no_operation = bool(node.attribute("noop_with_empty_axes", 0))
    unreduced = _WITHOUT_AXES.get(node.op_type)

    def kernel(x: Array, axes: Array | None = None) -> Array:
        over: Axes = fixed if axes is None else tuple(axes.ravel().tolist())
        if not over:
            if no_operation:
                return np.asarray(unreduced(x)) if unreduced else x
            over = None
        wide = x.astype(np.float32) if x.dtype.kind not in "biu" and x.dtype.itemsize < 4 else x
        return np.asarray(compute(wide, over, keeps)).astype(x.dtype, copy=False)

    return kernel


@fast_path("ArgMax", "ArgMin")
def _position_of_extreme(node: KernelNode) -> PythonKernel:
    find = np.argmax if node.op_type == "ArgMax" else np.argmin
    axis: int = node.attribute("axis", 0)
    keeps = bool(node.attribute("keepdims", 1))
    takes_last = bool(node.attribute("select_last_index", 0))

    def kernel(x: Array) -> Array:
        found = find(np.flip(x, axis) if takes_last else x, axis=axis, keepdims=keeps)
        if takes_last:
            found = x.shape[axis] - 1 - found
        return np.asarray(found, np.int64)

    return kernel
