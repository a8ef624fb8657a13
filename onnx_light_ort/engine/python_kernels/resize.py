"""Resize and its predecessor Upsample.

Interpolation is separable: each resized axis is resized alone. For an axis, each output position takes a few input
positions (taps) with weights. Both depend on sizes only and are kept from one run to the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import onnx

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

_MOST_TAPS_TO_GATHER = 4


@dataclass(frozen=True)
class Interpolation:
    """The attributes of Resize that decide weights."""

    mode: str
    nearest_mode: str
    coordinates: str
    cubic_coefficient: float
    antialias: bool
    exclude_outside: bool

    @classmethod
    def of(cls, node: KernelNode) -> Interpolation:
        """Upsample, and Resize in version 10, have neither coordinate modes nor ways to round."""
        early = node.op_type == "Upsample" or node.since_version == 10
        mode = node.attribute("mode", "nearest")
        return cls(
            mode="linear" if mode == "bilinear" else mode,
            nearest_mode="by_scale" if early else node.attribute("nearest_mode", "round_prefer_floor"),
            coordinates="asymmetric" if early else node.attribute("coordinate_transformation_mode", "half_pixel"),
            cubic_coefficient=node.attribute("cubic_coeff_a", -0.75),
            antialias=bool(node.attribute("antialias", 0)),
            exclude_outside=bool(node.attribute("exclude_outside", 0)),
        )


@dataclass(frozen=True)
class AxisResize:
    """``indices`` and ``weights`` are (taps, output size); ``outside`` marks extrapolated positions, or is None."""

    indices: Array
    weights: Array | None
    outside: Array | None
    repeats: int

    def apply(self, x: Array, axis: int, extrapolation_value: float) -> Array:
        if self.repeats:
            shape = x.shape
            repeated = np.broadcast_to(
                np.expand_dims(x, axis + 1), (*shape[: axis + 1], self.repeats, *shape[axis + 1 :])
            )
            return repeated.reshape(*shape[:axis], -1, *shape[axis + 1 :])
        y: Array
        if self.weights is None:
            y = x.take(self.indices[0], axis=axis)
        elif len(self.indices) <= _MOST_TAPS_TO_GATHER:
            weights = self.weights.astype(x.dtype).reshape(len(self.indices), -1, *(1,) * (x.ndim - axis - 1))
            y = x.take(self.indices[0], axis=axis)
            y *= weights[0]
            for indices, weight in zip(self.indices[1:], weights[1:], strict=True):
                y += x.take(indices, axis=axis) * weight
        else:
            matrix = np.zeros((x.shape[axis], self.indices.shape[1]), x.dtype)
            np.add.at(matrix, (self.indices, np.arange(self.indices.shape[1])), self.weights)
            y = np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), matrix), -1, axis)
        if self.outside is not None:
            y[(slice(None),) * axis + (self.outside,)] = extrapolation_value
        return y


@lru_cache(maxsize=256)
def axis_resize(
    interpolation: Interpolation, length: int, size: int, scale: float, region: tuple[float, float]
) -> AxisResize:
    """How to resize an axis of ``length`` elements to ``size`` by ``scale``; ``region`` is its part of the roi."""
    positions = _source_positions(interpolation.coordinates, length, size, scale, region)
    outside = None
    if interpolation.coordinates == "tf_crop_and_resize":
        outside = (positions < 0) | (positions > length - 1)
        outside = outside if outside.any() else None
    if interpolation.mode == "nearest":
        rounding = interpolation.nearest_mode
        if rounding == "by_scale":  # what ORT does before version 11
            rounding = "ceil" if scale < 1 else "floor"
        nearest = np.clip(_ROUNDINGS[rounding](positions), 0, length - 1).astype(np.intp)
        repeats = size // length if length and size % length == 0 else 0
        is_repetition = outside is None and repeats and (nearest == np.arange(length).repeat(repeats)).all()
        return AxisResize(nearest[None], None, outside, repeats if is_repetition else 0)
    whole = np.floor(positions)
    taps, weights = _WEIGHTS[interpolation.mode](interpolation, positions - whole, scale)
    indices = taps[:, None] + whole.astype(np.intp)
    if interpolation.exclude_outside:
        weights = np.where((indices < 0) | (indices >= length), 0, weights)
        sums = weights.sum(axis=0)
        weights = weights / np.where(sums == 0, 1, sums)
    return AxisResize(np.clip(indices, 0, length - 1), weights, outside, 0)


def _source_positions(mode: str, length: int, size: int, scale: float, region: tuple[float, float]) -> Array:
    """The input coordinate of each output element: the specification's formulas.

    They are evaluated in float32, as other runtimes do, so that the nearest element of a coordinate in the middle
    between two is the same one.
    """
    x = np.arange(size, dtype=np.float32)
    ratio = np.float32(scale)
    resized = ratio * np.float32(length)
    start, end = (np.float32(bound) for bound in region)
    if mode == "asymmetric":
        positions = x / ratio
    elif mode == "align_corners":
        positions = x * 0 if resized == 1 else x * np.float32(length - 1) / (resized - 1)
    elif mode == "tf_crop_and_resize":
        if size == 1:
            positions = np.full(1, (start + end) * (length - 1) / 2, np.float32)
        else:
            positions = start * (length - 1) + x * (end - start) * (length - 1) / (resized - 1)
    elif mode == "tf_half_pixel_for_nn":
        positions = (x + np.float32(0.5)) / ratio
    elif mode == "pytorch_half_pixel" and size == 1:
        positions = x * 0
    elif mode in ("half_pixel", "pytorch_half_pixel"):
        positions = (x + np.float32(0.5)) / ratio - np.float32(0.5)
    elif mode == "half_pixel_symmetric":
        offset = np.float32(length / 2) * (1 - np.float32(size) / resized)
        positions = offset + (x + np.float32(0.5)) / ratio - np.float32(0.5)
    else:
        raise ValueError(f"Resize knows no coordinate_transformation_mode {mode!r}")
    return np.asarray(positions, np.float64)


_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _linear_weights(interpolation: Interpolation, fraction: Array, scale: float) -> tuple[Array, Array]:
    shrink = min(scale, 1.0) if interpolation.antialias else 1.0
    first = math.floor(-1 / shrink) + 1
    taps = np.arange(first, 2 - first)
    weights = np.maximum(1 - np.abs(taps[:, None] - fraction) * shrink, 0)
    return taps, weights / weights.sum(axis=0)


def _cubic_weights(interpolation: Interpolation, fraction: Array, scale: float) -> tuple[Array, Array]:
    """Keys, "Cubic convolution interpolation for digital image processing" (1981)."""
    shrink = min(scale, 1.0) if interpolation.antialias else 1.0
    a = interpolation.cubic_coefficient
    first = math.floor(-2 / shrink) + 1
    taps = np.arange(first, 2 - first)
    x = np.abs(taps[:, None] - fraction) * shrink
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    weights = np.where(x <= 1, near, np.where(x < 2, far, 0))
    return taps, weights / weights.sum(axis=0) if interpolation.antialias else weights


_WEIGHTS = {"linear": _linear_weights, "cubic": _cubic_weights}


@fast_path("Resize", "Upsample")
def _resize(node: KernelNode) -> PythonKernel:
    interpolation = Interpolation.of(node)
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    extrapolation_value: float = node.attribute("extrapolation_value", 0.0)
    chosen_axes = node.attribute("axes")

    def resize(x: Array, region: Array | None, scales: Sequence[float] | None, sizes: Sequence[int] | None) -> Array:
        axes = list(range(x.ndim)) if chosen_axes is None else [axis % x.ndim for axis in chosen_axes]
        if sizes is not None:
            scales, sizes = _scales_of_sizes([x.shape[axis] for axis in axes], sizes, policy)
        elif scales is not None:
            sizes = [math.floor(x.shape[axis] * scale) for axis, scale in zip(axes, scales, strict=True)]
        else:
            raise ValueError("Resize needs scales or sizes, and has neither")
        y = x
        crops = interpolation.coordinates == "tf_crop_and_resize"
        # From the last axis on: enlarged rows are copied as a whole afterwards.
        for position in reversed(range(len(axes))):
            axis, scale, size = axes[position], float(scales[position]), int(sizes[position])
            part = (
                (float(region[position]), float(region[position + len(axes)]))
                if crops and region is not None
                else (0.0, 1.0)
            )
            if size == x.shape[axis] and scale == 1 and part == (0, 1):
                continue
            if y is x and interpolation.mode != "nearest" and x.dtype != np.float32:
                y = x.astype(np.float64)
            y = axis_resize(interpolation, x.shape[axis], size, scale, part).apply(y, axis, extrapolation_value)
        return y if y.dtype == x.dtype else onnx.numpy_helper.saturate_cast(y, x.dtype)

    return _with_inputs_of_version(node, resize)


def _scales_of_sizes(lengths: list[int], sizes: Sequence[int], policy: str) -> tuple[list[float], list[int]]:
    scales = [int(size) / length for size, length in zip(sizes, lengths, strict=True)]
    if policy == "stretch":
        return scales, list(sizes)
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [scale] * len(scales), [math.floor(scale * length + 0.5) for length in lengths]


def _with_inputs_of_version(node: KernelNode, resize: PythonKernel) -> PythonKernel:
    if node.op_type == "Upsample" and node.since_version == 1:
        scales = [1.0, 1.0, node.attribute("height_scale"), node.attribute("width_scale")]
        return lambda x: resize(x, None, scales, None)
    if node.op_type == "Upsample" and node.since_version < 9:
        return lambda x: resize(x, None, node.attribute("scales"), None)
    if node.op_type == "Upsample" or node.since_version == 10:
        return lambda x, scales: resize(x, None, scales.tolist(), None)

    def kernel(x: Array, region: Array | None = None, scales: Array | None = None, sizes: Array | None = None) -> Array:
        # An empty tensor stands for an absent one.
        y: Array = resize(
            x,
            region if region is not None and region.size else None,
            scales.tolist() if scales is not None and scales.size else None,
            sizes.tolist() if sizes is not None and sizes.size else None,
        )
        return y

    return kernel
