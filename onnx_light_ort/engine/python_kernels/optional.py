"""Optionals, whose value here is the value itself or None."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import KernelNode, PythonKernel


@fast_path("Optional")
def _optional(node: KernelNode) -> PythonKernel:
    return lambda value=None: value


@fast_path("OptionalGetElement")
def _optional_get_element(node: KernelNode) -> PythonKernel:
    def kernel(value: Any) -> Any:
        if value is None:
            raise ValueError("OptionalGetElement: the optional has no value; ask OptionalHasElement first")
        return value

    return kernel


@fast_path("OptionalHasElement")
def _optional_has_element(node: KernelNode) -> PythonKernel:
    return lambda value=None: np.array(value is not None)
