"""Reading and writing at indices: Gather, GatherElements, GatherND, ScatterElements (once Scatter), ScatterND.

A negative index counts from the end, as in numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel


@fast_path("Gather")
def _gather(node: KernelNode) -> PythonKernel:
    axis = node.attribute("axis", 0)
    return lambda x, indices: np.asarray(x.take(indices, axis=axis))


@fast_path("GatherElements")
def _gather_elements(node: KernelNode) -> PythonKernel:
    axis: int = node.attribute("axis", 0)
    return lambda x, indices: x[_element_index(x, indices, axis)]


def _element_index(x: Array, indices: Array, axis: int) -> tuple[Array, ...]:
    """Each index in its own place, but along ``axis``."""
    index = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    index[axis] = indices
    return tuple(index)


@fast_path("GatherND")
def _gather_nd(node: KernelNode) -> PythonKernel:
    batch_dimensions: int = node.attribute("batch_dims", 0)

    def kernel(x: Array, indices: Array) -> Array:
        batches = np.ogrid[tuple(slice(n) for n in indices.shape[:batch_dimensions])] if batch_dimensions else []
        ones = (1,) * (indices.ndim - 1 - batch_dimensions)
        leading = tuple(np.reshape(batch, batch.shape + ones) for batch in batches)
        return np.asarray(x[leading + tuple(np.moveaxis(indices, -1, 0))])

    return kernel


_REDUCTIONS: dict[str, Any] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter(x: Array, index: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """A copy of ``x`` with ``updates`` written, or combined one after the other, at ``index``."""
    y: Array = x.copy()
    if reduction == "none":
        y[index] = updates
    else:
        _REDUCTIONS[reduction].at(y, index, updates)
    return y


@fast_path("Scatter", "ScatterElements")
def _scatter_elements(node: KernelNode) -> PythonKernel:
    axis: int = node.attribute("axis", 0)
    reduction: str = node.attribute("reduction", "none")
    return lambda x, indices, updates: _scatter(x, _element_index(x, indices, axis), updates, reduction)


@fast_path("ScatterND")
def _scatter_nd(node: KernelNode) -> PythonKernel:
    reduction: str = node.attribute("reduction", "none")
    return lambda x, indices, updates: _scatter(x, tuple(np.moveaxis(indices, -1, 0)), updates, reduction)
