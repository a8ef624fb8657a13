"""Products and convolutions of 8-bit integers, against exact integer arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

BYTES = [np.dtype(np.uint8), np.dtype(np.int8)]
PAIRS = list(product(BYTES, BYTES))


def draw(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 1) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def number(dtype: np.dtype[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype)


def requantized(sums: Array, scale: Array, zero: Array) -> Array:
    """In single precision, half to even, saturated."""
    limits = np.iinfo(zero.dtype)
    rounded = np.rint(sums.astype(np.float32) * scale.astype(np.float32)).astype(np.float64) + zero
    return np.clip(rounded, limits.min, limits.max).astype(zero.dtype)


# Of A, of B, and of their zero points.
SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((5, 300), (300, 4), (), ()),
    ((5, 300), (300, 4), (5, 1), (4,)),
    ((5, 7), (7, 4), (5,), (1, 4)),
    ((2, 3, 5, 7), (7, 4), (), (4,)),
    ((2, 3, 5, 7), (7, 4), (2, 3, 5, 1), ()),
    ((5, 7), (3, 7, 4), (5, 1), (3, 1, 4)),
    ((2, 1, 5, 7), (3, 7, 4), (2, 1, 5, 1), (3, 1, 4)),
    ((2, 3, 5, 7), (7,), (), ()),
    ((7,), (7,), (), ()),
]


def spread(values: Array, operand: Array, axis: int) -> Array:
    """One value a row or a column, in the shape of the operand's last two dimensions."""
    if values.ndim == 1 and values.size > 1:
        return values.reshape(-1, 1) if axis == -2 else values
    return values


@pytest.mark.parametrize("constant", [(), (1, 3)])
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
@pytest.mark.parametrize("shapes", SHAPES)
def test_matrices_of_integers_have_zero_points(
    run_native: RunNative,
    shapes: tuple[tuple[int, ...], ...],
    left: np.dtype[Any],
    right: np.dtype[Any],
    constant: tuple[int, ...],
) -> None:
    a, b = draw(shapes[0], left, 1), draw(shapes[1], right, 2)
    a_zero, b_zero = draw(shapes[2], left, 3), draw(shapes[3], right, 4)
    (got,) = run_native("MatMulInteger", 10, [a, b, a_zero, b_zero], [TensorProto.INT32], constant=constant)
    wide = [x.astype(np.int64) for x in (a, b, a_zero, b_zero)]
    expected = np.matmul(wide[0] - spread(wide[2], a, -2), wide[1] - spread(wide[3], b, -1))
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, expected)
    (got,) = run_native("MatMulInteger", 10, [a, b], [TensorProto.INT32], constant=constant[:1])
    np.testing.assert_array_equal(got, np.matmul(wide[0], wide[1]))


@pytest.mark.parametrize("constant", [(), (3, 5)])
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
@pytest.mark.parametrize("shapes", SHAPES)
def test_quantized_matrices_have_scales(
    run_native: RunNative,
    shapes: tuple[tuple[int, ...], ...],
    left: np.dtype[Any],
    right: np.dtype[Any],
    constant: tuple[int, ...],
) -> None:
    generator = np.random.default_rng(7)
    a, b = draw(shapes[0], left, 1), draw(shapes[1], right, 2)
    a_zero, b_zero, y_zero = draw(shapes[2], left, 3), draw(shapes[3], right, 4), draw((), left, 5)
    y_scale = np.float32(1.5)
    for opset, kind in [(10, np.float32), (21, np.float32), (21, np.float16), (21, ml_dtypes.bfloat16)]:
        scales = [np.asarray(generator.uniform(0.01, 0.03, shape)).astype(kind) for shape in shapes[2:]]
        inputs = [a, scales[0], a_zero, b, scales[1], b_zero, np.asarray(y_scale).astype(kind), y_zero]
        (got,) = run_native("QLinearMatMul", opset, inputs, [number(left)], constant=constant)
        wide = [x.astype(np.int64) for x in (a, b, a_zero, b_zero)]
        sums = np.matmul(wide[0] - spread(wide[2], a, -2), wide[1] - spread(wide[3], b, -1))
        factors = [x.astype(np.float32) for x in scales]
        both = spread(factors[0], a, -2) * spread(factors[1], b, -1) / y_scale
        assert got.dtype == left
        np.testing.assert_array_equal(got, requantized(sums, np.asarray(both), y_zero))


def convolved(x: Array, w: Array, group: int, stride: int, pad: int) -> Array:
    """A two-dimensional convolution of integers, one window after the other."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    height, width = ((n - w.shape[2]) // stride + 1 for n in x.shape[2:])
    y = np.zeros((x.shape[0], w.shape[0], height, width), np.int64)
    each, filters = w.shape[1], w.shape[0] // group
    for i, j, g in np.ndindex(height, width, group):
        window = x[
            :, g * each : (g + 1) * each, i * stride : i * stride + w.shape[2], j * stride : j * stride + w.shape[3]
        ]
        own = slice(g * filters, (g + 1) * filters)
        y[:, own, i, j] = np.einsum("ncij,mcij->nm", window, w[own])
    return y


# Channels, filters and groups. The sums of the last are beyond what single precision holds.
CONVOLUTIONS = [(2, 3, 1), (4, 4, 2), (6, 6, 6), (6, 12, 6), (300, 2, 1)]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
@pytest.mark.parametrize(("channels", "filters", "group"), CONVOLUTIONS)
def test_convolutions_of_integers(
    run_native: RunNative,
    channels: int,
    filters: int,
    group: int,
    left: np.dtype[Any],
    right: np.dtype[Any],
    constant: bool,
) -> None:
    x, w = draw((2, channels, 7, 6), left, 1), draw((filters, channels // group, 3, 3), right, 2)
    x_zero, bias = draw((), left, 3), draw((filters,), np.dtype(np.int8), 4).astype(np.int32) * 100
    attributes = {"group": group, "strides": [2, 2], "pads": [1, 1, 1, 1]}
    for w_zero in (draw((), right, 5), draw((filters,), right, 6)):
        centred = w.astype(np.int64) - w_zero.astype(np.int64).reshape(-1, 1, 1, 1)
        sums = convolved(x.astype(np.int64) - int(x_zero), centred, group, 2, 1)
        (got,) = run_native(
            "ConvInteger",
            10,
            [x, w, x_zero, w_zero],
            [TensorProto.INT32],
            constant=(1, 3) if constant else (),
            **attributes,
        )
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, sums)
        for result in BYTES:
            y_zero = draw((), result, 7)
            w_scale = np.random.default_rng(8).uniform(0.01, 0.03, w_zero.shape).astype(np.float32)
            x_scale, y_scale = np.float32(0.02), np.float32(1.25)
            inputs = [x, np.asarray(x_scale), x_zero, w, w_scale, w_zero, np.asarray(y_scale), y_zero, bias]
            (got,) = run_native(
                "QLinearConv", 10, inputs, [number(result)], constant=(3, 5) if constant else (), **attributes
            )
            scale = (x_scale * w_scale / y_scale).reshape(-1, 1, 1)
            assert got.dtype == result
            np.testing.assert_array_equal(got, requantized(sums + bias.reshape(-1, 1, 1), scale, y_zero))


def test_quantized_products_refuse_what_does_not_fit(run_native: RunNative) -> None:
    a, zeros = draw((2, 3), BYTES[0]), draw((3,), BYTES[0])
    with pytest.raises(Exception, match="MatMulInteger: a_zero_point has shape"):
        run_native("MatMulInteger", 10, [a, a.T.copy(), zeros], [TensorProto.INT32])
    x, w = draw((1, 2, 4, 4), BYTES[0]), draw((3, 2, 2, 2), BYTES[0])
    with pytest.raises(Exception, match="ConvInteger: w_zero_point has shape"):
        run_native("ConvInteger", 10, [x, w, zeros[:1].reshape(()), zeros[:2]], [TensorProto.INT32])
