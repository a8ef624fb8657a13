"""Conv, ConvInteger and QLinearConv, over any number of spatial dimensions.

A convolution is a matrix product of the weights with columns that hold one window each. Depthwise ones, whose matrices
would be vectors, add one shifted and scaled copy of the input per element of the window instead. The integer operators
run on floating-point numbers wide enough for each sum to be exact, because numpy has no fast integer products.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.python_kernels.matmul import exact_float_type, rescaled
from onnx_light_ort.engine.python_kernels.window import Window, WindowOfNode, padded, tap, windows

# Elements of a block of columns, and of a block of depthwise channels: about what a core's cache keeps.
_COLUMN_BLOCK = 1 << 20
_DEPTHWISE_BLOCK = 200_000
_SMALL_DEPTHWISE_OUTPUT = 256


def convolve(x: Array, w: Array, window: Window, group: int) -> Array:
    """The convolution of ``x`` (N, C, *spatial) with ``w`` (M, C / group, *kernel); both float32 or float64."""
    if x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise ValueError(f"X of shape {x.shape} and W of shape {w.shape} do not fit together in {group} groups")
    pads, sizes = window.placed_on(x.shape[2:])
    x = padded(x, pads)
    if 0 in sizes or 0 in x.shape[:2]:
        return np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    if w.shape[1] == 1 and group == w.shape[0] and math.prod(sizes) > _SMALL_DEPTHWISE_OUTPUT:
        return _depthwise(x, w, window, sizes)
    return _by_columns(x, w, window, group, sizes)


def _by_columns(x: Array, w: Array, window: Window, group: int, sizes: tuple[int, ...]) -> Array:
    batch, outputs = x.shape[0], w.shape[0]
    weights = w.reshape(group, outputs // group, -1)
    view = windows(x, window, sizes)
    rows = max(_COLUMN_BLOCK // max(view[0, ..., :1].size if len(sizes) == 1 else view[0].size // sizes[0], 1), 1)
    if rows >= sizes[0]:
        columns = view.reshape(batch, group, weights.shape[2], -1)
        product: Array = np.matmul(weights, columns)
        return product.reshape(batch, outputs, *sizes)
    y = np.empty((batch, outputs, *sizes), x.dtype)
    by_rows = np.moveaxis(view, 2 + len(window.kernel), 0)
    for image in range(batch):
        for start in range(0, sizes[0], rows):
            block = np.moveaxis(by_rows[start : start + rows, image], 0, 1 + len(window.kernel))
            product = np.matmul(weights, block.reshape(group, weights.shape[2], -1))
            y[image, :, start : start + rows] = product.reshape(outputs, -1, *sizes[1:])
    return y


def _depthwise(x: Array, w: Array, window: Window, sizes: tuple[int, ...]) -> Array:
    batch, channels = x.shape[:2]
    weights = w.reshape(channels, -1)
    y = np.empty((batch, channels, *sizes), x.dtype)
    block = max(_DEPTHWISE_BLOCK // (batch * math.prod(sizes)), 1)
    for start in range(0, channels, block):
        part = slice(start, start + block)
        total = y[:, part]
        scaled = np.empty_like(total)
        for index, position in enumerate(np.ndindex(window.kernel)):
            visited = x[:, part][tap(window, position, sizes)]
            weight = per_channel(weights[part, index], len(sizes))
            np.multiply(visited, weight, out=scaled if index else total)
            if index:
                total += scaled
    return y


def per_channel(values: Array, spatial_rank: int) -> Array:
    """One value a channel, or one for all, shaped to broadcast over ``(C, *spatial)``."""
    return values.reshape(-1, *(1,) * spatial_rank)


@fast_path("Conv")
def _conv(node: KernelNode) -> PythonKernel:
    group: int = node.attribute("group", 1)
    window_of = WindowOfNode(node)

    def kernel(x: Array, w: Array, b: Array | None = None) -> Array:
        window = window_of(w.shape[2:])
        dtype = x.dtype
        if dtype.itemsize < 4:
            x, w = x.astype(np.float32), w.astype(np.float32)
        y = convolve(x, w, window, group)
        if b is not None:
            y += per_channel(b, y.ndim - 2)
        return y.astype(dtype, copy=False)

    return kernel


def integer_convolution(
    x: Array, x_zero: Array | None, w: Array, w_zero: Array | None, window: Window, group: int
) -> Array:
    """The exact sums of (x - x_zero) * (w - w_zero), in floating point; ``w_zero`` may hold one value a channel."""
    dtype = exact_float_type(math.prod(w.shape[1:]))
    x, w = x.astype(dtype), w.astype(dtype)
    if x_zero is not None:
        x -= x_zero.astype(dtype).reshape(())
    if w_zero is not None:
        w -= per_channel(w_zero.astype(dtype), w.ndim - 1)
    return convolve(x, w, window, group)


@fast_path("ConvInteger")
def _conv_integer(node: KernelNode) -> PythonKernel:
    group: int = node.attribute("group", 1)
    window_of = WindowOfNode(node)

    def kernel(x: Array, w: Array, x_zero: Array | None = None, w_zero: Array | None = None) -> Array:
        sums = integer_convolution(x, x_zero, w, w_zero, window_of(w.shape[2:]), group)
        return sums.astype(np.int64).astype(np.int32)

    return kernel


@fast_path("QLinearConv")
def _qlinear_conv(node: KernelNode) -> PythonKernel:
    group: int = node.attribute("group", 1)
    window_of = WindowOfNode(node)

    def kernel(
        x: Array,
        x_scale: Array,
        x_zero: Array | None,
        w: Array,
        w_scale: Array,
        w_zero: Array | None,
        y_scale: Array,
        y_zero: Array | None,
        b: Array | None = None,
    ) -> Any:
        sums = integer_convolution(x, x_zero, w, w_zero, window_of(w.shape[2:]), group)
        if b is not None:
            sums = sums + per_channel(b, sums.ndim - 2)
        scale = x_scale.reshape(()) * per_channel(w_scale, sums.ndim - 2) / y_scale.reshape(())
        return rescaled(sums, scale, y_zero, x.dtype)

    return kernel
