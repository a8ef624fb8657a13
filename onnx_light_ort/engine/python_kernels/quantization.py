"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.value_type import numpy_dtype

# The 8- and 16-bit integers, whose casts and limits numpy knows; the reference has the narrow types and the floats.
_INTEGERS = frozenset({TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32})


def _spread(values: Array, shape: tuple[int, ...], axis: int, block_size: int) -> Array:
    """One value for all, one an index along ``axis``, or one a block along it, shaped to broadcast with ``shape``."""
    if values.size == 1 and not block_size:
        return values.reshape(())
    if not block_size:
        return values.reshape([-1 if dimension == axis % len(shape) else 1 for dimension in range(len(shape))])
    return np.repeat(values, block_size, axis=axis).take(range(shape[axis]), axis=axis)


@fast_path("DequantizeLinear")
def _dequantize(node: KernelNode) -> PythonKernel | None:
    """(x - zero point) * scale."""
    axis: int = node.attribute("axis", 1)
    block_size: int = node.attribute("block_size", 0)
    if node.input_type(0) not in _INTEGERS:
        return None
    output_type = node.attribute("output_dtype", 0)

    def kernel(x: Array, scale: Array, zero: Array | None = None) -> Array:
        dtype = numpy_dtype(output_type) if output_type else scale.dtype
        # float32 holds each difference of 16-bit integers, but not each one of 32-bit integers.
        y: Array = x.astype(np.float32 if x.dtype.itemsize < 4 else np.float64)
        if zero is not None:
            y -= _spread(zero, x.shape, axis, block_size)
        return np.asarray(y * _spread(scale, x.shape, axis, block_size).astype(y.dtype)).astype(dtype, copy=False)

    return kernel


@fast_path("QuantizeLinear")
def _quantize(node: KernelNode) -> PythonKernel | None:
    """saturate(round(x / scale) + zero point), rounding half to even."""
    axis: int = node.attribute("axis", 1)
    block_size: int = node.attribute("block_size", 0)
    output_type: int = node.input_type(2) or node.attribute("output_dtype", 0) or TensorProto.UINT8
    if output_type not in _INTEGERS or node.attribute("precision", 0):
        return None
    dtype = numpy_dtype(output_type)
    limits = np.iinfo(dtype)

    def kernel(x: Array, scale: Array, zero: Array | None = None) -> Array:
        y = np.asarray(x / _spread(scale, x.shape, axis, block_size))
        y = np.rint(y.astype(np.float32) if y.dtype.itemsize < 4 else y)
        if zero is not None:
            y = y + _spread(zero, x.shape, axis, block_size).astype(y.dtype)
        return np.asarray(np.clip(y, limits.min, limits.max)).astype(dtype)

    return kernel


@fast_path("DynamicQuantizeLinear")
def _dynamic_quantize(node: KernelNode) -> PythonKernel:
    """Quantizes to uint8 with the scale that spreads the range of ``x`` and 0 over all 256 values."""

    def kernel(x: Array) -> tuple[Any, ...]:
        low, high = min(np.float32(0), x.min()), max(np.float32(0), x.max())
        scale = np.float32((high - low) / np.float32(255)) if high > low else np.float32(1)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        y = np.rint(x / scale)
        y += zero
        return np.clip(y, 0, 255).astype(np.uint8), np.asarray(scale, np.float32), np.asarray(zero, np.uint8)

    return kernel
