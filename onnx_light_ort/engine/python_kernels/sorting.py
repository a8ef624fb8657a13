"""TopK. Of equal elements the one with the lower index comes first."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel


@fast_path("TopK")
def _top_k(node: KernelNode) -> PythonKernel:
    """The number is an input from version 10 on, an attribute before."""
    axis: int = node.attribute("axis", -1)
    largest = bool(node.attribute("largest", 1))

    def top(x: Array, count: int) -> tuple[Array, Array]:
        length = x.shape[axis]
        if not 0 <= count <= length:
            raise ValueError(f"TopK of {count} among the {length} elements of axis {axis}")
        if largest:
            # The reverse of the ascending order of the reversed elements keeps equal ones in their order.
            order = length - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
        else:
            order = np.argsort(x, axis, kind="stable")
        indices = order.take(range(count), axis).astype(np.int64, copy=False)
        return np.take_along_axis(x, indices, axis), indices

    if node.since_version < 10:
        return lambda x: top(x, node.attribute("k"))

    def kernel(x: Array, count: Array) -> Any:
        return top(x, count.item())

    return kernel
