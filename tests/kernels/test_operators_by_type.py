"""Operators over every type that their schemas allow, against package onnx's reference implementation (16-bit floats
computed there in single precision) or numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
FLOATS = [np.dtype(np.float32), np.dtype(np.float64), *HALVES]
SIGNED = [np.dtype(t) for t in ("int8", "int16", "int32", "int64")]
UNSIGNED = [np.dtype(t) for t in ("uint8", "uint16", "uint32", "uint64")]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
WIDE_INTEGERS = [np.dtype(t) for t in ("int32", "int64", "uint32", "uint64")]
# Rounding of the result, with room for sums of products.
TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


def number(dtype: np.dtype[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype)


def draw(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 0, low: float = -4, high: float = 4) -> Array:
    generator = np.random.default_rng(seed)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        return generator.integers(max(0, low) if dtype.kind == "u" else low, high, shape, endpoint=True).astype(dtype)
    return np.asarray(generator.uniform(low, high, shape)).astype(dtype)


def reference(op_type: str, opset: int, inputs: list[Array | None], outputs: int = 1, **attributes: Any) -> list[Array]:
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    wide = [x.astype(np.float32) if x is not None and x.dtype in HALVES else x for x in inputs]
    feed = {n: x for n, x in zip(names, wide, strict=True) if x is not None}
    graph = helper.make_graph(
        [helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], **attributes)],
        "one node",
        [helper.make_tensor_value_info(n, number(x.dtype), None) for n, x in feed.items()],
        [helper.make_tensor_value_info(f"y{i}", TensorProto.UNDEFINED, None) for i in range(outputs)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in ReferenceEvaluator(model).run(None, feed)]  # type: ignore[union-attr]


def assert_close(got: Array, expected: Array, dtype: np.dtype[Any]) -> None:
    assert got.shape == expected.shape
    assert got.dtype == dtype
    if dtype.kind in "iub":
        np.testing.assert_array_equal(got, expected)
        return
    tolerance = TOLERANCE[dtype.name]
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance)


def compare(
    run_native: RunNative,
    op_type: str,
    opset: int,
    inputs: list[Array | None],
    outputs: list[np.dtype[Any]],
    **attributes: Any,
) -> None:
    expected = reference(op_type, opset, inputs, len(outputs), **attributes)
    got = run_native(op_type, opset, inputs, [number(dtype) for dtype in outputs], **attributes)
    for one, other, dtype in zip(got, expected, outputs, strict=True):
        assert_close(one, other, dtype)


UNARY: list[tuple[str, int, tuple[float, float], dict[str, Any]]] = [
    ("Acos", 22, (-1, 1), {}),
    ("Acosh", 22, (1, 4), {}),
    ("Asin", 22, (-1, 1), {}),
    ("Asinh", 22, (-4, 4), {}),
    ("Atan", 22, (-4, 4), {}),
    ("Atanh", 22, (-0.9, 0.9), {}),
    ("Sinh", 22, (-4, 4), {}),
    ("Cosh", 22, (-4, 4), {}),
    ("Tan", 22, (-1, 1), {}),
    ("Celu", 28, (-4, 4), {"alpha": 0.75}),
    ("Selu", 22, (-4, 4), {"alpha": 1.5, "gamma": 1.1}),
    ("Softsign", 22, (-4, 4), {}),
    ("Swish", 24, (-9, 9), {"alpha": 0.8}),
    ("Mish", 22, (-30, 30), {}),
    ("ThresholdedRelu", 22, (-4, 4), {"alpha": 0.5}),
    ("Hardmax", 13, (-4, 4), {"axis": 1}),
    ("LpNormalization", 22, (-4, 4), {"axis": -1, "p": 2}),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("op_type", "opset", "interval", "attributes"), UNARY)
def test_more_functions_of_floats(
    run_native: RunNative,
    op_type: str,
    opset: int,
    interval: tuple[float, float],
    attributes: dict[str, Any],
    dtype: np.dtype[Any],
) -> None:
    x = draw((3, 40, 9), dtype, 1, *interval)
    if op_type == "Mish":
        wide = x.astype(np.float64)
        (got,) = run_native(op_type, opset, [x], [number(dtype)])
        assert_close(got, wide * np.tanh(np.log1p(np.exp(wide))), dtype)
    elif op_type == "Celu":
        wide = x.astype(np.float64)
        (got,) = run_native(op_type, opset, [x], [number(dtype)], **attributes)
        assert_close(got, np.where(wide < 0, 0.75 * np.expm1(wide / 0.75), wide), dtype)
    else:
        compare(run_native, op_type, opset, [x], [dtype], **attributes)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_shrink_mod_and_powers(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((5, 60), dtype, 1, -9, 9)
    wide = x.astype(np.float64)
    (got,) = run_native("Shrink", 9, [x], [number(dtype)], lambd=2.0, bias=1.0)
    expected = np.where(wide < -2, wide + 1, np.where(wide > 2, wide - 1, 0))
    assert_close(got, expected.astype(dtype), dtype)
    divisor = draw((60,), dtype, 2, 1, 7)
    divisor = np.where(np.arange(60) % 2, divisor, -divisor) if dtype not in UNSIGNED else divisor
    divisor = divisor.astype(dtype)
    (got,) = run_native("Mod", 13, [x, divisor], [number(dtype)], fmod=1)
    assert_close(got, np.fmod(wide, divisor.astype(np.float64)).astype(dtype), dtype)
    if dtype not in FLOATS:
        (got,) = run_native("Mod", 13, [x, divisor], [number(dtype)])
        assert_close(got, np.mod(x, divisor), dtype)
    for base_type in [*FLOATS, np.dtype(np.int32), np.dtype(np.int64)]:
        base = draw((4, 3), base_type, 3, 1, 3)
        exponent = draw((4, 1), dtype, 4, 0, 3)
        (got,) = run_native("Pow", 15, [base, exponent], [number(base_type)])
        expected = np.power(base.astype(np.float64), exponent.astype(np.float64))
        assert_close(got, expected.astype(base_type), base_type)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_bits(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    a, b = draw((4, 50), dtype, 1, -100, 100), draw((50,), dtype, 2, -100, 100)
    for op_type, function in [
        ("BitwiseAnd", np.bitwise_and),
        ("BitwiseOr", np.bitwise_or),
        ("BitwiseXor", np.bitwise_xor),
    ]:
        (got,) = run_native(op_type, 18, [a, b], [number(dtype)])
        np.testing.assert_array_equal(got, function(a, b))
    (got,) = run_native("BitwiseNot", 18, [a], [number(dtype)])
    np.testing.assert_array_equal(got, np.invert(a))
    by = draw((4, 50), dtype, 3, 0, dtype.itemsize * 8 + 3)
    (left,) = run_native("BitShift", 28, [a, by], [number(dtype)], direction="LEFT")
    (right,) = run_native("BitShift", 28, [a, by], [number(dtype)], direction="RIGHT")
    np.testing.assert_array_equal(left, np.left_shift(a, by))
    np.testing.assert_array_equal(right, np.right_shift(a, by))


@pytest.mark.parametrize("dtype", FLOATS + WIDE_INTEGERS, ids=str)
def test_slopes_reductions_and_cumulation(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x, slope = draw((3, 4, 5), dtype, 1), draw((4, 1), dtype, 2)
    (got,) = run_native("PRelu", 16, [x, slope], [number(dtype)])
    wide = x.astype(np.float64)
    assert_close(got, np.where(wide < 0, wide * slope.astype(np.float64), wide).astype(dtype), dtype)

    axes = np.array([0, -1])
    both = (0, 2)
    expected = {
        "Sum": wide.sum(both),
        "Mean": wide.mean(both),
        "Max": wide.max(both),
        "Min": wide.min(both),
        "L1": np.abs(wide).sum(both),
        "L2": np.sqrt((wide * wide).sum(both)),
        "SumSquare": (wide * wide).sum(both),
        "Prod": wide[:, :, :2].prod(both),
    }
    for name, result in expected.items():
        data = x[:, :, :2] if name == "Prod" else x
        (got,) = run_native(f"Reduce{name}", 18, [np.ascontiguousarray(data), axes], [number(dtype)], keepdims=0)
        if dtype.kind in "iu":
            assert_close(got, np.trunc(result).astype(dtype), dtype)
        else:
            assert got.dtype == dtype
            limit = TOLERANCE[dtype.name]
            np.testing.assert_allclose(got.astype(np.float64), result, rtol=10 * limit, atol=10 * limit)

    for op_type, opset in (("CumSum", 14), ("CumProd", 26)):
        few = draw((4, 6), dtype, 5, 1, 2)
        for flags in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
            (got,) = run_native(op_type, opset, [few, np.array(1)], [number(dtype)], **flags)
            line = few.astype(np.float64)[:, :: -1 if "reverse" in flags else 1]
            total = np.cumsum(line, 1) if op_type == "CumSum" else np.cumprod(line, 1)
            if "exclusive" in flags:
                neutral = 0 if op_type == "CumSum" else 1
                total = np.concatenate([np.full((4, 1), neutral), total[:, :-1]], 1)
            expected_line = total[:, :: -1 if "reverse" in flags else 1]
            assert_close(got, np.ascontiguousarray(expected_line).astype(dtype), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op_type", ["ReduceLogSum", "ReduceLogSumExp"])
def test_logarithms_of_sums(run_native: RunNative, op_type: str, dtype: np.dtype[Any]) -> None:
    x = draw((4, 70, 3), dtype, 1, 1, 90)
    wide = x.astype(np.float64)
    summed = np.log(wide.sum(1)) if op_type == "ReduceLogSum" else np.logaddexp.reduce(wide, 1)
    (got,) = run_native(op_type, 18, [x, np.array([1])], [number(dtype)], keepdims=0)
    assert_close(got, summed, dtype)
    if op_type == "ReduceLogSumExp":
        infinite = np.array([[-np.inf, -np.inf], [np.inf, 1], [-np.inf, 2]]).astype(dtype)
        (got,) = run_native(op_type, 18, [infinite, np.array([1])], [number(dtype)], keepdims=0)
        np.testing.assert_array_equal(got.astype(np.float64), [-np.inf, np.inf, 2])


@pytest.mark.parametrize("dtype", WIDE_INTEGERS, ids=str)
def test_gemm_of_integers(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    a, b, c = draw((4, 5), dtype, 1), draw((3, 5), dtype, 2), draw((3,), dtype, 3)
    compare(run_native, "Gemm", 13, [a, b, c], [dtype], transB=1, alpha=2.0, beta=3.0)
    compare(run_native, "Gemm", 13, [np.ascontiguousarray(a.T), b], [dtype], transA=1, transB=1)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_top_k(run_native: RunNative, dtype: np.dtype[Any], largest: int, axis: int) -> None:
    x = draw((6, 7, 8), dtype, 1, -5, 5)  # with ties
    k = 3
    values, indices = run_native(
        "TopK", 24, [x, np.array([k])], [number(dtype), TensorProto.INT64], axis=axis, largest=largest
    )
    wide = x.astype(np.float64)
    order = np.argsort(-wide if largest else wide, axis=axis, kind="stable").take(range(k), axis)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values.astype(np.float64), np.take_along_axis(wide, order, axis))


def test_top_k_orders_special_numbers(run_native: RunNative) -> None:
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1], np.float32)
    (_, indices) = run_native("TopK", 11, [x, np.array([7])], [TensorProto.FLOAT, TensorProto.INT64])
    assert indices.tolist() == [2, 3, 5, 0, 1, 6, 4]
    (_, indices) = run_native("TopK", 11, [x, np.array([7])], [TensorProto.FLOAT, TensorProto.INT64], largest=0)
    assert indices.tolist() == [4, 6, 0, 1, 5, 3, 2]
    with pytest.raises(Exception, match="TopK: K is 8 for 7 elements along axis 0"):
        run_native("TopK", 11, [x, np.array([8])], [TensorProto.FLOAT, TensorProto.INT64])


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_positions_of_extrema(run_native: RunNative, op_type: str, dtype: np.dtype[Any]) -> None:
    x = draw((3, 20, 4), dtype, 1)
    for last in (0, 1):
        (got,) = run_native(op_type, 13, [x], [TensorProto.INT64], axis=1, keepdims=0, select_last_index=last)
        wide = x.astype(np.float64) if op_type == "ArgMax" else -x.astype(np.float64)
        expected = 19 - wide[:, ::-1].argmax(1) if last else wide.argmax(1)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("index_type", [t for t in NUMBERS if t != HALVES[1]], ids=str)
def test_one_hot(run_native: RunNative, index_type: np.dtype[Any]) -> None:
    indices = draw((3, 4), index_type, 1, -9, 9)
    if index_type.kind == "f":
        indices = np.trunc(indices)
    for dtype in [*NUMBERS, np.dtype(np.bool_), np.dtype(np.complex64)]:
        pair = np.array([2, 5]).astype(dtype) if dtype != np.bool_ else np.array([False, True])
        depth = np.array(6).astype(index_type)
        for axis in (-1, 0, 1):
            (got,) = run_native("OneHot", 11, [indices, depth, pair], [number(dtype)], axis=axis)
            position = indices.astype(np.int64)
            position = np.where((position < -6) | (position >= 6), 99, position % 6)
            hot = np.moveaxis(position[..., None] == np.arange(6), -1, axis)
            np.testing.assert_array_equal(got, np.where(hot, pair[1], pair[0]))


@pytest.mark.parametrize("dtype", [*NUMBERS, np.dtype(np.bool_), np.dtype(np.complex128)], ids=str)
def test_scattering(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    whole = dtype if dtype.kind in "iu" else np.dtype(np.int8)
    data, updates = draw((4, 5), whole, 1).astype(dtype), draw((3, 5), whole, 2).astype(dtype)
    indices = np.random.default_rng(3).permuted(np.tile(np.arange(4), (5, 1)), axis=1).T[:3].astype(np.int32) - 4
    expected = data.copy()
    np.put_along_axis(expected, indices % 4, updates, 0)
    for op_type, opset in (("Scatter", 9), ("ScatterElements", 18)):
        (got,) = run_native(op_type, opset, [data, np.ascontiguousarray(indices), updates], [number(dtype)], axis=0)
        np.testing.assert_array_equal(got, expected)
    places = np.array([[1], [-1]])
    (got,) = run_native("ScatterND", 18, [data, places, updates[:2]], [number(dtype)])
    expected = data.copy()
    expected[[1, -1]] = updates[:2]
    np.testing.assert_array_equal(got, expected)
    if dtype not in NUMBERS:
        return
    again = np.array([[2, 1, 0, 2, 2], [2, 1, 1, 3, 2], [2, 0, 0, 2, 3]])
    meeting = np.array([[1, 2], [1, 2], [0, 0], [1, 2]])
    for reduction, function in (("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)):
        expected = data.astype(np.float64)
        function.at(expected, (again, np.arange(5)[None, :]), updates.astype(np.float64))
        (got,) = run_native("ScatterElements", 18, [data, again, updates], [number(dtype)], reduction=reduction)
        assert_close(got, expected.astype(dtype), dtype)
        expected = data.astype(np.float64)
        function.at(expected, tuple(meeting.T), updates.reshape(-1)[:4].astype(np.float64))
        points = np.ascontiguousarray(updates.reshape(-1)[:4])
        (got,) = run_native("ScatterND", 18, [data, meeting, points], [number(dtype)], reduction=reduction)
        assert_close(got, expected.astype(dtype), dtype)


def test_scattering_refuses_what_does_not_fit(run_native: RunNative) -> None:
    data = np.zeros((2, 3), np.float32)
    with pytest.raises(Exception, match=r"ScatterElements: index 2 is outside \[-2, 2\)"):
        run_native("ScatterElements", 18, [data, np.array([[2]]), data[:1, :1]], [TensorProto.FLOAT])
    with pytest.raises(Exception, match="do not fit data"):
        run_native("ScatterND", 18, [data, np.array([[0, 0, 0]]), data[0, :1]], [TensorProto.FLOAT])


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_caches_are_written_from_an_index_on(run_native: RunNative, mode: str) -> None:
    cache, update = draw((2, 3, 5, 4), HALVES[1], 1), draw((2, 3, 2, 4), HALVES[1], 2)
    write = np.array([1, 3]) if mode == "linear" else np.array([4, 2])
    (got,) = run_native("TensorScatter", 24, [cache, update, write], [number(HALVES[1])], mode=mode)
    expected = cache.copy()
    for batch in range(2):
        for step in range(2):
            expected[batch, :, (write[batch] + step) % 5] = update[batch, :, step]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.dtype(np.bool_)], ids=str)
def test_selection_and_rearrangement(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((2, 8, 4, 6), dtype, 1, 0, 2)
    (got,) = run_native("NonZero", 13, [x], [TensorProto.INT64])
    np.testing.assert_array_equal(got, np.stack(np.nonzero(x.astype(np.float64))))
    condition = np.array([True, False, True])
    (got,) = run_native("Compress", 11, [x, condition], [number(dtype)], axis=1)
    np.testing.assert_array_equal(got, x[:, [0, 2]])
    (got,) = run_native("Compress", 11, [x, condition], [number(dtype)])
    np.testing.assert_array_equal(got, x.reshape(-1)[[0, 2]])
    for mode in ("DCR", "CRD"):
        compare(run_native, "DepthToSpace", 13, [x], [dtype], blocksize=2, mode=mode) if dtype not in HALVES else None
    (space,) = run_native("SpaceToDepth", 13, [x], [number(dtype)], blocksize=2)
    (back,) = run_native("DepthToSpace", 13, [space], [number(dtype)], blocksize=2)
    np.testing.assert_array_equal(back, x)
    (columns,) = run_native("SpaceToDepth", 28, [x], [number(dtype)], blocksize=2, mode="CRD")
    (back,) = run_native("DepthToSpace", 28, [columns], [number(dtype)], blocksize=2, mode="CRD")
    np.testing.assert_array_equal(back, x)
    for batch_axis in (0, 1):
        lengths = np.arange(x.shape[batch_axis]) % x.shape[1 - batch_axis] + 1
        attributes = {"batch_axis": batch_axis, "time_axis": 1 - batch_axis}
        (got,) = run_native("ReverseSequence", 10, [x, lengths], [number(dtype)], **attributes)
        expected = x.copy()
        for i, length in enumerate(lengths):
            if batch_axis == 0:
                expected[i, :length] = x[i, :length][::-1]
            else:
                expected[:length, i] = x[:length, i][::-1]
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.dtype(np.bool_)], ids=str)
def test_eyes_and_ranges(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = np.zeros((3, 5), np.float32)
    for k in (-3, -1, 0, 2, 5):
        (got,) = run_native("EyeLike", 22, [x], [number(dtype)], dtype=number(dtype), k=k)
        np.testing.assert_array_equal(got, np.eye(3, 5, k, dtype=np.float32).astype(dtype))
    if dtype in FLOATS or dtype in SIGNED[1:]:
        limits = [np.array(v).astype(dtype) for v in (1, 20, 3)]
        (got,) = run_native("Range", 27, limits, [number(dtype)])
        np.testing.assert_array_equal(got, np.arange(1, 20, 3).astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_normalization_over_groups(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x, scale, shift = draw((2, 6, 5, 7), dtype, 1), draw((6,), dtype, 2), draw((6,), dtype, 3)
    wide, factor, offset = (a.astype(np.float64) for a in (x, scale, shift))
    per_channel = (1, 6, 1, 1)
    for op_type, opset, groups in (("InstanceNormalization", 22, 6), ("GroupNormalization", 21, 3)):
        grouped = wide.reshape(2, groups, -1)
        centred = grouped - grouped.mean(-1, keepdims=True)
        normal = (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)).reshape(x.shape)
        expected = normal * factor.reshape(per_channel) + offset.reshape(per_channel)
        attributes = {"num_groups": groups} if op_type == "GroupNormalization" else {}
        (got,) = run_native(op_type, opset, [x, scale, shift], [number(dtype)], **attributes)
        assert_close(got, expected, dtype)

    (got,) = run_native("GroupNormalization", 18, [x, scale[:3], shift[:3]], [number(dtype)], num_groups=3)
    each = [a[:3].repeat(2).reshape(per_channel) for a in (factor, offset)]
    assert_close(got, normal * each[0] + each[1], dtype)

    weights = draw((5, 7), dtype, 4)
    root = np.sqrt((wide**2).mean((2, 3), keepdims=True) + 1e-5)
    (got,) = run_native("RMSNormalization", 23, [x, weights], [number(dtype)], axis=2)
    assert_close(got, wide / root * weights.astype(np.float64), dtype)
    for part in (weights[0], weights[:, :1], weights[0, 0]):
        part = np.ascontiguousarray(part).reshape(part.shape)
        (got,) = run_native("RMSNormalization", 23, [x, part], [number(dtype)], axis=2)
        assert_close(got, wide / root * part.astype(np.float64), dtype)

    (got,) = run_native("LpNormalization", 22, [x], [number(dtype)], axis=1, p=1)
    assert_close(got, wide / np.abs(wide).sum(1, keepdims=True), dtype)

    for axes in ((0, 2, 3), (1,), (2, 3)):
        centred = wide - wide.mean(axes, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axes, keepdims=True))
        (got,) = run_native("MeanVarianceNormalization", 13, [x], [number(dtype)], axes=list(axes))
        assert_close(got, centred / (deviation + 1e-9), dtype)

    (got,) = run_native("LRN", 13, [x], [number(dtype)], size=4, alpha=0.25, beta=0.625, bias=1.5)
    padded = np.pad(wide**2, [(0, 0), (1, 2), (0, 0), (0, 0)])
    sums = sum(padded[:, i : i + 6] for i in range(4))
    assert_close(got, wide / (1.5 + 0.25 / 4 * sums) ** 0.625, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
def test_regions_are_sampled(run_native: RunNative, dtype: np.dtype[Any], mode: str, coordinates: str) -> None:
    x = draw((2, 3, 8, 9), dtype, 1, 0.5, 4)
    # Corners that all types hold.
    regions = np.array([[0, 0, 8, 8], [2, 1, 5, 6], [-3, -2, 4, 3], [6, 5, 12, 11], [1, 1, 1.5, 1.25]]).astype(dtype)
    attributes = {
        "mode": mode,
        "coordinate_transformation_mode": coordinates,
        "output_height": 3,
        "output_width": 2,
        "sampling_ratio": 2,
        "spatial_scale": 0.5,
    }
    compare(run_native, "RoiAlign", 22, [x, regions, np.array([0, 1, 0, 1, 1])], [dtype], **attributes)
    attributes["sampling_ratio"] = 0
    compare(run_native, "RoiAlign", 16, [x, regions, np.array([0, 1, 0, 1, 1])], [dtype], **attributes)


@pytest.mark.parametrize("dtype", [FLOATS[0], *HALVES], ids=str)
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rotated", [0, 4])
def test_rotary_embedding(run_native: RunNative, dtype: np.dtype[Any], interleaved: int, rotated: int) -> None:
    half = (rotated or 8) // 2
    attributes = {"interleaved": interleaved, "rotary_embedding_dim": rotated}
    cosines, sines = draw((50, half), dtype, 1, -1, 1), draw((50, half), dtype, 2, -1, 1)
    positions = np.random.default_rng(3).integers(0, 50, (2, 5))
    by_head, flat = draw((2, 3, 5, 8), dtype, 4), draw((2, 5, 24), dtype, 5)
    compare(run_native, "RotaryEmbedding", 23, [by_head, cosines, sines, positions], [dtype], **attributes)
    compare(run_native, "RotaryEmbedding", 23, [flat, cosines, sines, positions], [dtype], num_heads=3, **attributes)
    own = [np.ascontiguousarray(cache[positions]) for cache in (cosines, sines)]
    compare(run_native, "RotaryEmbedding", 23, [by_head, *own], [dtype], **attributes)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("reset_after", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gru(run_native: RunNative, direction: str, reset_after: int, dtype: np.dtype[Any]) -> None:
    directions = 2 if direction == "bidirectional" else 1
    hidden, steps, batch, width = 5, 4, 3, 6
    inputs: list[Array | None] = [
        draw((steps, batch, width), dtype, 1, -1, 1),
        draw((directions, 3 * hidden, width), dtype, 2, -1, 1),
        draw((directions, 3 * hidden, hidden), dtype, 3, -1, 1),
        draw((directions, 6 * hidden), dtype, 4, -1, 1),
        None,
        draw((directions, batch, hidden), dtype, 5, -1, 1),
    ]
    attributes = {"hidden_size": hidden, "direction": direction, "linear_before_reset": reset_after}
    compare(run_native, "GRU", 22, inputs, [dtype, dtype], **attributes)
    compare(run_native, "GRU", 22, inputs[:3], [dtype, dtype], **attributes)


ATTENTION: list[tuple[str, dict[str, Any]]] = [
    ("plain", {}),
    ("causal", {"is_causal": 1}),
    ("scaled and capped", {"scale": 0.25, "softcap": 2.0}),
    ("windows", {"left_window_size": 2, "right_window_size": 1}),
    ("causal window", {"is_causal": 1, "left_window_size": 1}),
    ("scores", {"qk_matmul_output_mode": 0}),
    ("capped scores", {"qk_matmul_output_mode": 1, "softcap": 3.0}),
    ("biased scores", {"qk_matmul_output_mode": 2, "is_causal": 1}),
    ("weights", {"qk_matmul_output_mode": 3, "softcap": 3.0}),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("label", "attributes"), ATTENTION)
@pytest.mark.parametrize("mask", [None, "bool", "float", "short"])
@pytest.mark.parametrize("past", [False, True])
def test_attention(
    run_native: RunNative, dtype: np.dtype[Any], label: str, attributes: dict[str, Any], mask: str | None, past: bool
) -> None:
    heads, groups, queries, keys, width = 4, 2, 5, 6, 8
    total = keys + (3 if past else 0)
    given: dict[str | None, Array | None] = {
        None: None,
        "bool": draw((queries, total), np.dtype(np.bool_), 7),
        "float": draw((2, 1, queries, total), dtype, 7),
        "short": draw((1, heads, queries, total - 1), dtype, 7),
    }
    inputs: list[Array | None] = [
        draw((2, heads, queries, width), dtype, 1),
        draw((2, groups, keys, width), dtype, 2),
        draw((2, groups, keys, 7), dtype, 3),
        given[mask],
        draw((2, groups, 3, width), dtype, 4) if past else None,
        draw((2, groups, 3, 7), dtype, 5) if past else None,
    ]
    outputs = [dtype] * (4 if "scores" in label or label == "weights" else 3 if past else 1)
    compare(run_native, "Attention", 25, inputs, outputs, **attributes)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_attention_over_flat_heads_and_padded_caches(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    q, k, v = draw((2, 5, 24), dtype, 1), draw((2, 9, 8), dtype, 2), draw((2, 9, 10), dtype, 3)
    heads = {"q_num_heads": 6, "kv_num_heads": 2}
    compare(run_native, "Attention", 23, [q, k, v], [dtype], **heads)
    lengths = np.array([9, 3])  # fewer keys than queries: the first queries see none
    for attributes in ({}, {"is_causal": 1}):
        inputs: list[Array | None] = [q, k, v, None, None, None, lengths]
        compare(run_native, "Attention", 24, inputs, [dtype], **heads, **attributes)
    hidden = np.zeros((5, 9), np.bool_)
    (got,) = run_native("Attention", 23, [q, k, v, hidden], [number(dtype)], **heads)
    assert not got.astype(np.float32).any()


def test_attention_of_many_heads_is_computed_in_parts(run_native: RunNative) -> None:
    dtype = np.dtype(np.float32)
    q, k, v = (draw((1, 12, 1024, 4), dtype, i) for i in range(3))  # 48 MiB of scores
    (got,) = run_native("Attention", 23, [q, k, v], [number(dtype)])
    for head in (0, 11):
        scores = q[0, head].astype(np.float64) @ k[0, head].T / 2
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        expected = weights / weights.sum(-1, keepdims=True) @ v[0, head]
        np.testing.assert_allclose(got[0, head], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_special_numbers_of_what_looks_at_bits(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 1e-7, -1e-7, 60000]
    x = np.array(special * 7).astype(dtype)
    wide = x.astype(np.float64)
    for op_type, function in [("Neg", np.negative), ("Abs", np.abs)]:
        (got,) = run_native(op_type, 13, [x], [number(dtype)])
        expected = function(wide)
        np.testing.assert_array_equal(got.astype(np.float64), expected)
        numbers = ~np.isnan(expected)
        assert (np.signbit(got.astype(np.float64)) == np.signbit(expected))[numbers].all()
    (got,) = run_native("Relu", 14, [x], [number(dtype)])
    np.testing.assert_array_equal(got.astype(np.float64), np.where(wide < 0, 0, wide))
    y = x[np.random.default_rng(0).permutation(x.size)]
    for op_type, binary in [("Max", np.maximum), ("Min", np.minimum), ("Add", np.add), ("Mul", np.multiply)]:
        (got,) = run_native(op_type, 14, [x, y], [number(dtype)])
        with np.errstate(all="ignore"):
            expected = binary(wide, y.astype(np.float64)).astype(dtype)
        np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64), op_type)
        for scalar in x[:11]:
            for inputs in ([x, np.array(scalar)], [np.array(scalar), x]):
                (got,) = run_native(op_type, 14, inputs, [number(dtype)])
                with np.errstate(all="ignore"):
                    expected = binary(*(a.astype(np.float64) for a in inputs)).astype(dtype)
                np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64), op_type)
    for low in x[:11]:
        for high in x[:11]:
            (got,) = run_native("Clip", 13, [x, np.array(low), np.array(high)], [number(dtype)])
            raised = np.where(wide < float(low), float(low), wide)
            np.testing.assert_array_equal(got.astype(np.float64), np.where(raised > float(high), float(high), raised))


@pytest.mark.parametrize("dtype", [FLOATS[0], *HALVES], ids=str)
def test_outputs_larger_than_the_caches(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    n = (32 << 20) // dtype.itemsize + 13
    x = np.tile(np.linspace(-3, 3, 4099).astype(dtype), n // 4099 + 1)[:n]
    wide = x.astype(np.float32)
    (got,) = run_native("Neg", 13, [x], [number(dtype)])
    np.testing.assert_array_equal(got, (-wide).astype(dtype))
    (got,) = run_native("Mul", 14, [x, x], [number(dtype)])
    np.testing.assert_array_equal(got, (wide * wide).astype(dtype))
    (got,) = run_native("Less", 13, [x, np.array(0).astype(dtype)], [TensorProto.BOOL])
    np.testing.assert_array_equal(got, wide < 0)
    other = HALVES[1] if dtype != HALVES[1] else FLOATS[0]
    (got,) = run_native("Cast", 13, [x], [number(other)], to=number(other))
    np.testing.assert_array_equal(got, wide.astype(other))
    (got,) = run_native("Clip", 13, [x, np.array(-1).astype(dtype)], [number(dtype)])
    np.testing.assert_array_equal(got, np.maximum(wide, -1).astype(dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *WIDE_INTEGERS], ids=str)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5000, 3), (0,)),
        ((70, 9000), (0,)),
        ((3, 2000, 2, 70), (1,)),
        ((3, 50, 2, 700), (0, 2)),
        ((2, 3, 70000), (2,)),
        ((300_000,), (0,)),
        ((2_000_000, 2), (0,)),
        ((4, 1, 5), (1,)),
        ((1, 5), (0,)),
    ],
)
def test_large_reductions(
    run_native: RunNative, dtype: np.dtype[Any], shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = draw(shape, dtype, 1, -1, 1)
    wide = x.astype(np.float64)
    count = math.prod(shape[axis] for axis in axes)
    for name, expected in (("Sum", wide.sum(axes)), ("Max", wide.max(axes)), ("L1", np.abs(wide).sum(axes))):
        (got,) = run_native(
            f"Reduce{name}", 18 if name != "Sum" else 13, [x, np.array(axes)], [number(dtype)], keepdims=0
        )
        if dtype.kind in "iu":
            np.testing.assert_array_equal(got, expected.astype(dtype))
        else:
            atol = 1e-6 * count if dtype == np.float32 else 1e-12 * count
            if dtype in HALVES:
                with np.errstate(over="ignore"):
                    expected, atol = expected.astype(dtype).astype(np.float64), 1e-5 * count
            rtol = {"float16": 1e-3, "bfloat16": 8e-3}.get(dtype.name, 1e-6)
            np.testing.assert_allclose(got.astype(np.float64), expected, rtol=rtol, atol=atol)


def test_angles_beyond_the_vector_functions_are_exact_too(run_native: RunNative) -> None:
    x = np.array([1e4, -3e5, 1e8, 1e30, 5.0, -0.0, np.inf, np.nan] * 3, np.float32)
    for op_type, function in (("Sin", np.sin), ("Cos", np.cos), ("Tan", np.tan)):
        with np.errstate(all="ignore"):
            expected = function(x.astype(np.float64))
        (got,) = run_native(op_type, 22, [x], [TensorProto.FLOAT])
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("op_type", ["Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Tanh"])
def test_special_arguments_of_elementary_functions(run_native: RunNative, op_type: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1, -1, 2, -2, 0.0, -0.0, 89.2, -89.2, 1e-20, 1e20, 0.999999], np.float32)
    names = {"Asin": "arcsin", "Acos": "arccos", "Atan": "arctan"} | {
        f"A{name}h": f"arc{name}h" for name in ("sin", "cos", "tan")
    }
    function = getattr(np, names.get(op_type, op_type.lower()))
    (got,) = run_native(op_type, 22, [x], [TensorProto.FLOAT])
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    numbers = ~np.isnan(expected)
    assert (np.signbit(got) == np.signbit(expected))[numbers].all()


@pytest.mark.parametrize("parameters", FLOATS, ids=str)
@pytest.mark.parametrize("statistics", FLOATS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_batches_are_normalized_by_their_own_statistics_in_training(
    run_native: RunNative, dtype: np.dtype[Any], statistics: np.dtype[Any], parameters: np.dtype[Any]
) -> None:
    x, scale, shift = draw((3, 4, 5), dtype, 1), draw((4,), parameters, 2), draw((4,), parameters, 3)
    mean, variance = draw((4,), statistics, 4), draw((4,), statistics, 5, 0, 4)
    wide, factor, offset, old_mean, old_variance = (a.astype(np.float64) for a in (x, scale, shift, mean, variance))
    types = [number(dtype), number(statistics), number(statistics)]
    inputs = [x, scale, shift, mean, variance]
    got = run_native("BatchNormalization", 15, inputs, types, training_mode=1, momentum=0.75)
    new_mean, new_variance = wide.mean((0, 2)), wide.var((0, 2))
    columns = (slice(None), None)
    root = np.sqrt(new_variance + 1e-5)[columns]
    coarsest = max((dtype, statistics, parameters), key=lambda one: TOLERANCE[one.name])
    limit = 4 * TOLERANCE[coarsest.name]
    for mine, theirs, kind in zip(
        got,
        (
            (wide - new_mean[columns]) / root * factor[columns] + offset[columns],
            old_mean * 0.75 + new_mean * 0.25,
            old_variance * 0.75 + new_variance * 0.25,
        ),
        (dtype, statistics, statistics),
        strict=True,
    ):
        assert mine.dtype == kind
        np.testing.assert_allclose(mine.astype(np.float64), theirs, rtol=limit, atol=limit)
    (got_y,) = run_native("BatchNormalization", 15, inputs, types[:1])
    root = np.sqrt(old_variance + 1e-5)[columns]
    expected = (wide - old_mean[columns]) / root * factor[columns] + offset[columns]
    assert got_y.dtype == dtype
    np.testing.assert_allclose(got_y.astype(np.float64), expected, rtol=limit, atol=limit)


@pytest.mark.parametrize("other", FLOATS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_operators_of_several_types_compute_in_the_widest(
    run_native: RunNative, dtype: np.dtype[Any], other: np.dtype[Any]
) -> None:
    coarsest = max((dtype, other), key=lambda one: TOLERANCE[one.name])
    x, scale = draw((3, 7), dtype, 1), draw((7,), other, 2)
    wide, factor = x.astype(np.float64), scale.astype(np.float64)
    (got,) = run_native("RMSNormalization", 23, [x, scale], [number(other)])
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * factor
    assert got.dtype == other
    limit = 2 * TOLERANCE[coarsest.name]
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=limit, atol=limit)

    query, key, value = (
        draw((1, 2, 3, 4), dtype, 3),
        draw((1, 2, 5, 4), dtype, 4),
        draw((1, 2, 5, 6), other, 5),
    )
    (got,) = run_native("Attention", 24, [query, key, value], [number(dtype)])
    scores = query.astype(np.float64) @ key.astype(np.float64).swapaxes(-1, -2) / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ value.astype(np.float64)
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=2 * limit, atol=2 * limit)


def test_the_statistics_of_a_layer_of_doubles_are_floats(run_native: RunNative) -> None:
    x, scale = draw((3, 7), FLOATS[1], 1), draw((7,), FLOATS[1], 2)
    outputs = [TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.FLOAT]
    y, mean, inverse = run_native("LayerNormalization", 17, [x, scale], outputs)
    deviation = np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5))
    np.testing.assert_allclose(y, (x - x.mean(-1, keepdims=True)) / deviation * scale, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(mean, x.mean(-1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(inverse, 1 / deviation, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dropout_in_training_draws_what_the_reference_draws(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((40, 25), dtype, 1)
    types = [number(dtype), TensorProto.BOOL]
    for ratio, training in ((0.75, True), (0.0, True), (0.75, False)):
        inputs = [x, np.array(ratio).astype(dtype), np.array(training)]
        y, mask = run_native("Dropout", 22, inputs, types, seed=7)
        drawn = np.random.RandomState(7).uniform(0, 1, x.shape) >= ratio
        kept = drawn if training else np.ones_like(drawn)
        np.testing.assert_array_equal(mask, kept)
        scale = 1 / (1 - ratio) if training else 1
        np.testing.assert_array_equal(y, np.where(kept, x.astype(np.float64) * scale, 0).astype(dtype))
        assert (run_native("Dropout", 22, inputs, types[:1], seed=7)[0] == y).all()
    first, second = (run_native("Dropout", 22, [x, None, np.array(True)], types)[1] for _ in range(2))
    assert (first != second).any()
    with pytest.raises(Exception, match="Dropout: ratio is 1"):
        run_native("Dropout", 22, [x, np.array(1).astype(dtype), np.array(True)], types)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_the_error_function_of_integers_is_cut_to_integers(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((100,), dtype, 1, -6, 6)
    (got,) = run_native("Erf", 9, [x], [number(dtype)])
    expected = np.vectorize(math.erf, otypes=[np.float32])(x)
    np.testing.assert_array_equal(got, expected.astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_attention_may_weigh_in_double(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    query, key, value = (draw((1, 2, 5, 4), dtype, seed) for seed in (1, 2, 3))
    inputs: list[Array | None] = [query, key, value]
    (got,) = run_native("Attention", 24, inputs, [number(dtype)], softmax_precision=TensorProto.DOUBLE)
    wide_query, wide_key, wide_value = (x.astype(np.float64) for x in (query, key, value))
    scores = wide_query @ wide_key.swapaxes(-1, -2) / 2
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ wide_value
    assert_close(got, expected, dtype)


@pytest.mark.parametrize("dtype", [FLOATS[0], FLOATS[1], FLOATS[2]], ids=str)
def test_first_versions_name_the_inputs_that_they_consume(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((40,), dtype, 1, 0.25, 4)
    for op_type, newer in [
        *[(name, 6) for name in ("Abs", "Ceil", "Elu", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Log", "Neg")],
        *[(name, 6) for name in ("Reciprocal", "Relu", "Sigmoid", "Sqrt", "Tanh", "Clip")],
    ]:
        attributes = {"min": 1.0, "max": 2.0} if op_type == "Clip" else {}
        (expected,) = run_native(op_type, newer, [x], [number(dtype)], **attributes)
        (got,) = run_native(op_type, 1, [x], [number(dtype)], consumed_inputs=[0], **attributes)
        np.testing.assert_array_equal(got, expected)
