"""Normalisations: batch, layer, instance, group, RMS, mean-variance, Lp and local response normalisation.

Statistics of float16 and bfloat16 tensors are computed in float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.convolution import per_channel
from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel
from onnx_light_ort.engine.value_type import numpy_dtype


def _wide(x: Array) -> Array:
    return x if x.dtype.itemsize >= 4 else x.astype(np.float32)


@fast_path("BatchNormalization")
def _batch_normalization(node: KernelNode) -> PythonKernel | None:
    """In inference, scale and shift a channel: y = x * s + (b - mean * s), s = scale / sqrt(var + epsilon)."""
    if node.attribute("training_mode", 0) or node.output_count > 1 or not node.attribute("spatial", 1):
        return None
    epsilon: float = node.attribute("epsilon", 1e-5)

    def factors(scale: Array, bias: Array, mean: Array, variance: Array) -> tuple[Array, Array]:
        factor = _wide(scale) / np.sqrt(_wide(variance) + epsilon)
        return factor, _wide(bias) - _wide(mean) * factor

    fixed = None
    if all(position in node.constants for position in (1, 2, 3, 4)):
        fixed = factors(*(node.constants[position] for position in (1, 2, 3, 4)))

    def kernel(x: Array, scale: Array, bias: Array, mean: Array, variance: Array) -> Array:
        factor, shift = fixed or factors(scale, bias, mean, variance)
        spatial_rank = max(x.ndim - 2, 0)
        y = x * per_channel(factor, spatial_rank)
        y += per_channel(shift, spatial_rank)
        return y.astype(x.dtype, copy=False)

    return kernel


def standardized(x: Array, axes: tuple[int, ...], epsilon: float) -> tuple[Array, Array, Array]:
    """``x`` with mean 0 and variance 1 over ``axes``, the mean, and the reciprocal of the standard deviation."""
    mean = x.mean(axis=axes, keepdims=True)
    y: Array = x - mean
    inverse = 1 / np.sqrt(np.square(y).mean(axis=axes, keepdims=True) + x.dtype.type(epsilon))
    y *= inverse
    return y, mean, inverse


@fast_path("LayerNormalization")
def _layer_normalization(node: KernelNode) -> PythonKernel:
    axis: int = node.attribute("axis", -1)
    epsilon: float = node.attribute("epsilon", 1e-5)
    count = node.output_count
    # The stash_type of the two statistics, float32 by default, whatever the type of x.
    statistics_type = numpy_dtype(node.attribute("stash_type", 1))

    def kernel(x: Array, scale: Array, bias: Array | None = None) -> Any:
        dtype = x.dtype
        axes = tuple(range(axis % x.ndim, x.ndim))
        y, mean, inverse = standardized(_wide(x), axes, epsilon)
        y *= scale
        if bias is not None:
            y += bias
        y = y.astype(dtype, copy=False)
        statistics = (mean.astype(statistics_type, copy=False), inverse.astype(statistics_type, copy=False))
        return y if count == 1 else (y, *statistics)[:count]

    return kernel


@fast_path("RMSNormalization")
def _rms_normalization(node: KernelNode) -> PythonKernel:
    axis: int = node.attribute("axis", -1)
    epsilon: float = node.attribute("epsilon", 1e-5)

    def kernel(x: Array, scale: Array) -> Array:
        wide = _wide(x)
        axes = tuple(range(axis % x.ndim, x.ndim))
        mean_square = np.square(wide).mean(axis=axes, keepdims=True)
        y: Array = wide / np.sqrt(mean_square + wide.dtype.type(epsilon))
        # The scale is applied in the input's own type.
        return np.asarray(y.astype(x.dtype, copy=False) * scale).astype(x.dtype, copy=False)

    return kernel


@fast_path("InstanceNormalization")
def _instance_normalization(node: KernelNode) -> PythonKernel:
    epsilon: float = node.attribute("epsilon", 1e-5)

    def kernel(x: Array, scale: Array, bias: Array) -> Array:
        y, _, _ = standardized(_wide(x), tuple(range(2, x.ndim)), epsilon)
        y *= per_channel(scale, x.ndim - 2)
        y += per_channel(bias, x.ndim - 2)
        return y.astype(x.dtype, copy=False)

    return kernel


@fast_path("GroupNormalization")
def _group_normalization(node: KernelNode) -> PythonKernel:
    """``scale`` and ``bias`` hold one value a group in version 18, one a channel from 21 on."""
    groups: int = node.attribute("num_groups")
    epsilon: float = node.attribute("epsilon", 1e-5)

    def kernel(x: Array, scale: Array, bias: Array) -> Array:
        grouped = _wide(x).reshape(x.shape[0], groups, -1)
        y, _, _ = standardized(grouped, (2,), epsilon)
        if node.since_version < 21:
            scale, bias = (np.repeat(values, x.shape[1] // groups) for values in (scale, bias))
        y = np.reshape(y, x.shape)
        y *= per_channel(scale, x.ndim - 2)
        y += per_channel(bias, x.ndim - 2)
        return y.astype(x.dtype, copy=False)

    return kernel


@fast_path("MeanVarianceNormalization")
def _mean_variance_normalization(node: KernelNode) -> PythonKernel:
    axes = tuple(node.attribute("axes", (0, 2, 3)))

    def kernel(x: Array) -> Array:
        wide = _wide(x)
        y: Array = wide - wide.mean(axis=axes, keepdims=True)
        y /= np.sqrt(np.square(y).mean(axis=axes, keepdims=True)) + np.float32(1e-9)
        return y.astype(x.dtype, copy=False)

    return kernel


@fast_path("LRN")
def _lrn(node: KernelNode) -> PythonKernel:
    """x / (bias + alpha / size * s) ** beta, where s sums the squares of ``size`` channels around each."""
    size: int = node.attribute("size")
    alpha, beta, bias = node.attribute("alpha", 1e-4), node.attribute("beta", 0.75), node.attribute("bias", 1.0)
    before, after = (size - 1) // 2, math.ceil((size - 1) / 2)

    def kernel(x: Array) -> Array:
        wide = _wide(x)
        channels = x.shape[1]
        squares = np.zeros((x.shape[0], channels + size - 1, *x.shape[2:]), wide.dtype)
        np.square(wide, out=squares[:, before : channels + size - 1 - after])
        sums = squares[:, :channels].copy()
        for offset in range(1, size):
            sums += squares[:, offset : offset + channels]
        y: Array = wide / (bias + alpha / size * sums) ** beta
        return y.astype(x.dtype, copy=False)

    return kernel
