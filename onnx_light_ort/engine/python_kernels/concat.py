"""Joining, cutting and surrounding tensors: Concat, Split, Slice, Pad, Tile."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel


@fast_path("Concat")
def _concat(node: KernelNode) -> PythonKernel:
    axis = node.attribute("axis", 1)

    def kernel(*inputs: Array) -> Array:
        return np.concatenate(inputs, axis)

    return kernel


@fast_path("Split")
def _split(node: KernelNode) -> PythonKernel:
    """The sizes are an input from version 13 on, an attribute before (and an optional input in version 1)."""
    axis: int = node.attribute("axis", 0)
    fixed = node.attribute("split")
    # Of the outputs that the node names, not of those that are wanted.
    count: int = node.attribute("num_outputs") or len(node.proto.output)

    def kernel(x: Array, sizes: Array | None = None) -> Any:
        length = x.shape[axis]
        if sizes is not None:
            parts = sizes.tolist()
        elif fixed:
            parts = fixed
        else:
            # The last part is the smaller one where the length is not a multiple.
            part = -(-length // count)
            parts = [min(part, max(length - part * index, 0)) for index in range(count)]
        if sum(parts) != length:
            raise ValueError(f"Split into {parts} does not add up to the {length} elements of axis {axis}")
        before = (slice(None),) * (axis % x.ndim)
        spans = [slice(a, b) for a, b in pairwise(accumulate(parts, initial=0))]
        outputs = tuple(x[before + (span,)] for span in spans)  # noqa: RUF005
        return outputs if node.output_count > 1 else outputs[0]

    return kernel


@fast_path("Slice")
def _slice(node: KernelNode) -> PythonKernel:
    if node.since_version < 10:
        starts, ends = node.attribute("starts"), node.attribute("ends")
        axes = node.attribute("axes") or range(len(starts))
        fixed = [(axis, slice(start, end)) for axis, start, end in zip(axes, starts, ends, strict=True)]
        return lambda x: x[_index(x, fixed)]

    def kernel(x: Array, starts: Array, ends: Array, axes: Array | None = None, steps: Array | None = None) -> Array:
        first, last = starts.tolist(), ends.tolist()
        along = range(len(first)) if axes is None else axes.tolist()
        step = [1] * len(first) if steps is None else steps.tolist()
        parts = [(a, _part(x.shape[a], *bounds)) for a, *bounds in zip(along, first, last, step, strict=True)]
        result: Array = x[_index(x, parts)]
        return result

    return kernel


def _part(length: int, start: int, end: int, step: int) -> slice:
    """Python's slice, but for a negative step whose end lies before the first element."""
    if step < 0 and end < -length:
        return slice(start, None, step)
    return slice(start, end, step)


def _index(x: Array, parts: list[tuple[int, slice]]) -> tuple[slice, ...]:
    index = [slice(None)] * x.ndim
    for axis, part in parts:
        index[axis] = part
    return tuple(index)


@fast_path("Pad")
def _pad(node: KernelNode) -> PythonKernel:
    """Pads are an input from version 11 on, an attribute before (named paddings in version 1)."""
    mode = node.attribute("mode", "constant")
    if node.since_version < 11:
        fixed = node.attribute("pads") or node.attribute("paddings")
        value = node.attribute("value", 0.0)
        return lambda x: pad(x, fixed, list(range(x.ndim)), mode, value)

    def kernel(x: Array, pads: Array, value: Array | None = None, axes: Array | None = None) -> Array:
        along = list(range(x.ndim)) if axes is None else [int(axis) % x.ndim for axis in axes]
        fill = None if value is None or not value.size else value.reshape(())[()]
        return pad(x, pads.tolist(), along, mode, fill)

    return kernel


@lru_cache(maxsize=256)
def _source_of_padding(length: int, width: tuple[int, int], mode: str) -> Array:
    """Which element of an axis each element of the padded axis repeats."""
    return np.pad(np.arange(length), width, mode=mode)  # type: ignore[call-overload,no-any-return]


def pad(x: Array, pads: list[int], axes: list[int], mode: str, value: Any) -> Array:
    """``pads`` holds the numbers for the beginnings of ``axes``, then those for their ends; negative ones crop."""
    widths = [(0, 0)] * x.ndim
    for position, axis in enumerate(axes):
        widths[axis] = (pads[position], pads[position + len(axes)])
    crop = [slice(max(-b, 0), n - max(-e, 0)) for n, (b, e) in zip(x.shape, widths, strict=True)]
    x = x[tuple(crop)]
    widths = [(max(b, 0), max(e, 0)) for b, e in widths]
    if mode != "constant":
        for axis, width in enumerate(widths):
            if any(width):
                x = x.take(_source_of_padding(x.shape[axis], width, mode), axis=axis)
        return x
    shape = [n + b + e for n, (b, e) in zip(x.shape, widths, strict=True)]
    if value is None:
        value = "" if x.dtype == object else 0
    y = np.full(shape, value, x.dtype)
    y[tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, widths, strict=True))] = x
    return y
