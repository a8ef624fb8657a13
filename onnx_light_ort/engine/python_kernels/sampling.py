"""Multinomial, the random operator that the reference lacks."""

from __future__ import annotations

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.value_type import numpy_dtype


@fast_path("Multinomial")
def _multinomial(node: KernelNode) -> PythonKernel:
    """Samples classes from rows of unnormalised log-probabilities: the largest of them with Gumbel noise added."""
    seed = node.attribute("seed")
    count: int = node.attribute("sample_size", 1)
    dtype = numpy_dtype(node.attribute("dtype", 6))
    generator = np.random.default_rng(None if seed is None else int(seed))

    def kernel(x: Array) -> Array:
        noise = generator.gumbel(size=(x.shape[0], count, x.shape[1]))
        chosen: Array = (x.astype(np.float64)[:, None] + noise).argmax(axis=2).astype(dtype)
        return chosen

    return kernel
