"""Pooling: MaxPool, AveragePool, LpPool and their global forms, over any number of spatial dimensions.

A window's maximum or sum is taken along one spatial dimension after another, each as the maximum or sum of a few
strided slices of the input. Windows of indices and powers go the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.python_kernels.window import Window, padded, windows

Combine = Callable[..., Any]


def pooled(x: Array, window: Window, sizes: tuple[int, ...], combine: Combine) -> Array:
    """Each window of the padded ``x`` combined into one element; ``combine`` is np.maximum or np.add."""
    axes = zip(window.kernel, window.dilations, window.strides, sizes, strict=True)
    for axis, (kernel, dilation, stride, size) in enumerate(axes, start=2):
        before = (slice(None),) * axis
        starts = range(0, kernel * dilation, dilation)
        slices = [x[before + (slice(k, k + (size - 1) * stride + 1, stride),)] for k in starts]  # noqa: RUF005
        if kernel == 1:
            x = slices[0]
            continue
        x = combine(slices[0], slices[1])
        for part in slices[2:]:
            combine(x, part, out=x)
    return x


def lowest(dtype: np.dtype[Any]) -> Any:
    """The value that no other of the type is below."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


@fast_path("MaxPool")
def _max_pool(node: KernelNode) -> PythonKernel:
    window = Window.of(node, node.attribute("kernel_shape"))
    column_major = bool(node.attribute("storage_order", 0))
    with_indices = node.output_count > 1

    def kernel(x: Array) -> Any:
        spatial = x.shape[2:]
        pads, sizes = window.placed_on(spatial)
        reaching = window.reaching_pads(spatial, pads, sizes)
        surrounded = padded(x, reaching, lowest(x.dtype))
        if not with_indices:
            return pooled(surrounded, window, sizes, np.maximum)
        return _maxima_and_indices(x, surrounded, reaching, sizes)

    def _maxima_and_indices(x: Array, surrounded: Array, pads: Any, sizes: tuple[int, ...]) -> tuple[Array, Array]:
        in_channel = np.arange(np.prod(x.shape[2:]), dtype=np.int64)
        in_channel = in_channel.reshape(x.shape[2:], order="F" if column_major else "C")
        first = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(*x.shape[:2], *(1,) * (x.ndim - 2))
        positions = padded(first * in_channel.size + in_channel, pads, -1)
        taps = (*x.shape[:2], -1, *sizes)
        values = windows(surrounded, window, sizes).reshape(taps)
        # A pad may equal the maximum (of -inf), and must not be the one that is found.
        candidates = windows(positions, window, sizes).reshape(taps)
        found = np.where(candidates < 0, lowest(x.dtype), values).argmax(axis=2, keepdims=True)
        real = np.take_along_axis(candidates, found, axis=2)
        found = np.where(real < 0, (candidates >= 0).argmax(axis=2, keepdims=True), found)
        return (
            np.take_along_axis(values, found, axis=2).squeeze(2),
            np.take_along_axis(candidates, found, axis=2).squeeze(2),
        )

    return kernel


@fast_path("AveragePool")
def _average_pool(node: KernelNode) -> PythonKernel:
    """The pads count as elements if ``count_include_pad``; what lies beyond them (``ceil_mode``) never does."""
    window = Window.of(node, node.attribute("kernel_shape"))
    counts_pads = bool(node.attribute("count_include_pad", 0))

    def kernel(x: Array) -> Array:
        dtype = x.dtype
        spatial = x.shape[2:]
        pads, sizes = window.placed_on(spatial)
        reaching = window.reaching_pads(spatial, pads, sizes)
        wide = x.astype(np.float32) if dtype.itemsize < 4 else x
        sums = pooled(padded(wide, reaching), window, sizes, np.add)
        if reaching != pads or (not counts_pads and any(begin or end for begin, end in pads)):
            counted = np.ones((1, 1, *spatial), wide.dtype)
            if counts_pads:
                counted = padded(counted, pads, 1)
                reaching = [(0, end - given) for (_, end), (_, given) in zip(reaching, pads, strict=True)]
            sums = sums / pooled(padded(counted, reaching), window, sizes, np.add)
        else:
            sums = sums / wide.dtype.type(np.prod(window.kernel))
        return sums.astype(dtype, copy=False)

    return kernel


@fast_path("LpPool")
def _lp_pool(node: KernelNode) -> PythonKernel:
    window = Window.of(node, node.attribute("kernel_shape"))
    p: float = node.attribute("p", 2)

    def kernel(x: Array) -> Array:
        pads, sizes = window.placed_on(x.shape[2:])
        powers = np.abs(x.astype(np.float32) if x.dtype.itemsize < 4 else x) ** p
        reaching = window.reaching_pads(x.shape[2:], pads, sizes)
        y: Array = pooled(padded(powers, reaching), window, sizes, np.add) ** (1 / p)
        return y.astype(x.dtype, copy=False)

    return kernel


def _spatial_axes(x: Array) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


@fast_path("GlobalMaxPool")
def _global_max_pool(node: KernelNode) -> PythonKernel:
    return lambda x: x.max(axis=_spatial_axes(x), keepdims=True)


@fast_path("GlobalAveragePool")
def _global_average_pool(node: KernelNode) -> PythonKernel:
    accumulator = np.float32 if node.input_type(0) == TensorProto.BFLOAT16 else None

    def kernel(x: Array) -> Array:
        y: Array = x.mean(axis=_spatial_axes(x), dtype=accumulator, keepdims=True)
        return y.astype(x.dtype, copy=False)

    return kernel


@fast_path("GlobalLpPool")
def _global_lp_pool(node: KernelNode) -> PythonKernel:
    p = node.attribute("p", 2)

    def kernel(x: Array) -> Array:
        powers = np.abs(x.astype(np.float32) if x.dtype.itemsize < 4 else x) ** p
        y: Array = powers.sum(axis=_spatial_axes(x), keepdims=True) ** (1 / p)
        return y.astype(x.dtype, copy=False)

    return kernel


@fast_path("MaxRoiPool")
def _max_roi_pool(node: KernelNode) -> PythonKernel:
    """The maximum of each cell of a grid over each region (batch index, x1, y1, x2, y2), as in Fast R-CNN."""
    height, width = node.attribute("pooled_shape")
    scale = node.attribute("spatial_scale", 1.0)

    def kernel(x: Array, regions: Array) -> Array:
        y = np.zeros((len(regions), x.shape[1], height, width), x.dtype)
        for index, (image, *corners) in enumerate(regions):
            left, top, right, bottom = (int(np.floor(corner * scale + 0.5)) for corner in corners)
            rows = _cells(top, bottom, height, x.shape[2])
            columns = _cells(left, right, width, x.shape[3])
            for i, row in enumerate(rows):
                for j, column in enumerate(columns):
                    cell = x[int(image), :, row, column]
                    if cell.size:
                        y[index, :, i, j] = cell.max(axis=(1, 2))
        return y

    return kernel


def _cells(first: int, last: int, count: int, limit: int) -> list[slice]:
    length = max(last - first + 1, 1) / count
    bounds = [(int(np.floor(i * length)) + first, int(np.ceil((i + 1) * length)) + first) for i in range(count)]
    return [slice(min(max(a, 0), limit), min(max(b, 0), limit)) for a, b in bounds]
