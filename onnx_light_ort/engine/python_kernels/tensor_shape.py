"""Shapes and constants: Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Expand, Tile, Shape, Size, Range and such.

What only changes the shape answers a view of its input.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel


@fast_path("Reshape")
def _reshape(node: KernelNode) -> PythonKernel:
    """A 0 keeps the input's dimension unless ``allowzero``; the shape is an attribute in version 1."""
    keeps_at_zero = not node.attribute("allowzero", 0)

    def reshape(x: Array, shape: list[int]) -> Array:
        if keeps_at_zero and 0 in shape:
            shape = [x.shape[axis] if n == 0 else n for axis, n in enumerate(shape)]
        return x.reshape(shape)

    if node.since_version < 5:
        return lambda x: reshape(x, node.attribute("shape"))
    return lambda x, shape: reshape(x, shape.tolist())


@fast_path("Flatten")
def _flatten(node: KernelNode) -> PythonKernel:
    axis = node.attribute("axis", 1)

    def kernel(x: Array) -> Array:
        first = axis + x.ndim if axis < 0 else axis
        return x.reshape(math.prod(x.shape[:first]), math.prod(x.shape[first:]))

    return kernel


@fast_path("Squeeze")
def _squeeze(node: KernelNode) -> PythonKernel:
    if node.since_version < 13:
        fixed = node.attribute("axes")
        axes = None if fixed is None else tuple(fixed)
        return lambda x: x.squeeze(axes)
    return lambda x, axes=None: x.squeeze(None if axes is None else tuple(axes.ravel().tolist()))


@fast_path("Unsqueeze")
def _unsqueeze(node: KernelNode) -> PythonKernel:
    if node.since_version < 13:
        fixed = tuple(node.attribute("axes"))
        return lambda x: np.expand_dims(x, fixed)
    return lambda x, axes: np.expand_dims(x, tuple(axes.ravel().tolist()))


@fast_path("Transpose")
def _transpose(node: KernelNode) -> PythonKernel:
    permutation = node.attribute("perm") or None
    return lambda x: x.transpose(permutation)


@fast_path("Expand")
def _expand(node: KernelNode) -> PythonKernel:
    """Broadcasts both ways: a 1 in the wanted shape keeps the input's dimension."""

    def kernel(x: Array, shape: Array) -> Array:
        return np.ascontiguousarray(np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape.tolist()))))

    def kernel_for_scalars(x: Array, shape: Array) -> Array:
        # ascontiguousarray answers at least one dimension.
        return kernel(x, shape) if x.ndim or shape.size else x

    return kernel_for_scalars


@fast_path("Tile")
def _tile(node: KernelNode) -> PythonKernel:
    """Version 1 repeats along one axis, both inputs of one element."""
    if node.since_version < 6:
        return lambda x, count, axis: np.concatenate([x] * int(count.item()), int(axis.item()))
    return lambda x, repeats: np.tile(x, repeats)


@fast_path("Shape")
def _shape(node: KernelNode) -> PythonKernel:
    part = slice(node.attribute("start", 0), node.attribute("end"))
    return lambda x: np.array(x.shape[part], np.int64)


@fast_path("Size")
def _size(node: KernelNode) -> PythonKernel:
    return lambda x: np.array(x.size, np.int64)


@fast_path("ConstantOfShape")
def _constant_of_shape(node: KernelNode) -> PythonKernel:
    value = node.attribute("value")
    fill = np.zeros((), np.float32) if value is None else value.reshape(())
    return lambda shape: np.full(shape.tolist(), fill, fill.dtype)


@fast_path("Range")
def _range(node: KernelNode) -> PythonKernel | None:
    if node.input_type(0) in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        return None

    def kernel(start: Array, limit: Array, delta: Array) -> Array:
        return np.arange(start.item(), limit.item(), delta.item()).astype(start.dtype, copy=False)

    return kernel


@fast_path("Dropout")
def _dropout(node: KernelNode) -> PythonKernel | None:
    """Outside training, the input itself, and a mask of what is kept (all), whose type is bool from version 10 on."""
    if node.attribute("training_mode") or (node.since_version < 7 and not node.attribute("is_test", 0)):
        return None
    if node.since_version >= 12 and len(node.proto.input) > 2 and node.proto.input[2]:
        return None
    with_mask = node.output_count > 1

    def kernel(x: Array, *_: Any) -> Any:
        mask_type = bool if node.since_version >= 10 else x.dtype
        return (x, np.ones(x.shape, mask_type)) if with_mask else x

    return kernel


@fast_path("Identity")
def _identity(node: KernelNode) -> PythonKernel:
    return lambda x: x
