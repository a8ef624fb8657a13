"""Native kernels against the reference implementation of package onnx and numpy, over drawn shapes, axes and types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in (np.float32, np.float64, np.float16)] + [BFLOAT16]
INTEGERS = [np.dtype(t) for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")]
# Relative error of one rounding, with room for a few units in the last place of single-precision functions.
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}

# What package onnx computes in single precision for any type.
erf = np.vectorize(math.erf, otypes=[np.float64])
IN_DOUBLE: dict[str, Callable[[Array], Array]] = {
    "Erf": erf,
    "Gelu": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}

drawn = settings(
    deadline=None,
    derandomize=True,  # a change fails by what it changes; for other cases raise the number of examples
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
shapes = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def number(dtype: np.dtype[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype)


def values(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int, low: float = -3, high: float = 3) -> Array:
    generator = np.random.default_rng(seed)
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        return generator.integers(max(low, 0) if dtype.kind == "u" else low, high, shape, endpoint=True).astype(dtype)
    return np.asarray(generator.uniform(low, high, shape)).astype(dtype)


def reference(op_type: str, opset: int, inputs: list[Array | None], outputs: int = 1, **attributes: Any) -> list[Array]:
    """What package onnx computes; 16-bit floats in float, rounded at the end."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    node = helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], **attributes)
    widened = [x.astype(np.float32) if x is not None and x.dtype in FLOATS[2:] else x for x in inputs]
    formals = [
        helper.make_tensor_value_info(n, number(x.dtype), None)
        for n, x in zip(names, widened, strict=True)
        if x is not None
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in node.output]
    model = helper.make_model(
        helper.make_graph([node], "one node", formals, results), opset_imports=[helper.make_opsetid("", opset)]
    )
    feed = {n: x for n, x in zip(names, widened, strict=True) if x is not None}
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in ReferenceEvaluator(model).run(None, feed)]


def assert_close(got: Array, expected: Array, dtype: np.dtype[Any], scale: float = 1.0) -> None:
    assert got.shape == expected.shape
    assert got.dtype == dtype
    if dtype.kind in "iub":
        np.testing.assert_array_equal(got, expected)
    else:
        tolerance = TOLERANCE[dtype.name] * scale
        np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    "op_type",
    [
        "Abs",
        "Ceil",
        "Cos",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Log",
        "Neg",
        "Reciprocal",
        "Relu",
        "Round",
        "Sigmoid",
        "Sign",
        "Sin",
        "Softplus",
        "Sqrt",
        "Tanh",
    ],
)
def test_functions_of_one_float(run_native: RunNative, op_type: str, dtype: np.dtype[Any]) -> None:
    for shape in ((), (0, 3), (7,), (3, 700)):
        x = values(shape, dtype, 1, 0.1 if op_type in ("Log", "Sqrt", "Reciprocal") else -4, 4)
        if op_type in IN_DOUBLE:
            expected = np.asarray(IN_DOUBLE[op_type](x.astype(np.float64)))
        else:
            (expected,) = reference(op_type, 22, [x])
        (got,) = run_native(op_type, 22, [x], [number(dtype)])
        assert_close(got, expected, dtype)


@pytest.mark.parametrize("op_type", ["Abs", "Sign", "Neg", "Relu"])
def test_functions_of_one_integer(run_native: RunNative, op_type: str) -> None:
    for dtype in INTEGERS:
        if dtype.kind == "u" and op_type in ("Neg", "Relu"):
            continue
        x = values((5, 9), dtype, 2, -100, 100)
        (got,) = run_native(op_type, 14, [x], [number(dtype)])
        assert_close(
            got,
            {"Abs": np.abs, "Sign": np.sign, "Neg": np.negative, "Relu": lambda a: np.maximum(a, 0)}[op_type](x),
            dtype,
        )


@drawn
@given(
    broadcast=npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, min_side=0, max_side=5),
    op_type=st.sampled_from(
        ["Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]
    ),
    dtype=st.sampled_from(FLOATS + INTEGERS),
    seed=st.integers(0, 99),
)
def test_binary_operators_broadcast(
    run_native: RunNative, broadcast: npst.BroadcastableShapes, op_type: str, dtype: np.dtype[Any], seed: int
) -> None:
    a, b = (values(shape, dtype, seed + i) for i, shape in enumerate(broadcast.input_shapes))
    if op_type == "Div":
        b = np.where(b == 0, np.ones_like(b), b)
    out = np.dtype(np.bool_) if op_type in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual") else dtype
    if op_type == "Div" and dtype.kind in "iu":
        expected = np.trunc(a.astype(np.float64) / b.astype(np.float64)).astype(dtype)
    else:
        (expected,) = reference(op_type, 19, [a, b])
    (got,) = run_native(op_type, 19, [a, b], [number(out)])
    if out == np.bool_ and dtype in FLOATS[2:]:
        np.testing.assert_array_equal(got, expected)
    else:
        assert_close(got, expected.astype(out) if out.kind in "iub" else expected, out)


@drawn
@given(
    broadcast=npst.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, min_side=0, max_side=4),
    op_type=st.sampled_from(["Max", "Min", "Sum", "Mean", "Where"]),
    dtype=st.sampled_from(FLOATS),
)
def test_operators_of_three_inputs_broadcast(
    run_native: RunNative, broadcast: npst.BroadcastableShapes, op_type: str, dtype: np.dtype[Any]
) -> None:
    a, b, c = (values(shape, dtype, i) for i, shape in enumerate(broadcast.input_shapes))
    if op_type == "Where":
        condition = values(broadcast.input_shapes[0], np.dtype(np.bool_), 7)
        (got,) = run_native("Where", 16, [condition, b, c], [number(dtype)])
        np.testing.assert_array_equal(got, np.where(condition, b, c))
        return
    wide = np.broadcast_arrays(*(x.astype(np.float64) for x in (a, b, c)))
    expected = {"Max": np.max, "Min": np.min, "Sum": np.sum, "Mean": np.mean}[op_type](wide, axis=0)
    (got,) = run_native(op_type, 13, [a, b, c], [number(dtype)])
    assert_close(got, np.asarray(expected), dtype, 4)


@drawn
@given(
    shape=npst.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6),
    op_type=st.sampled_from(["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare"]),
    dtype=st.sampled_from([*FLOATS, np.dtype(np.int32), np.dtype(np.int64)]),
    data=st.data(),
)
def test_reductions(
    run_native: RunNative, shape: tuple[int, ...], op_type: str, dtype: np.dtype[Any], data: st.DataObject
) -> None:
    if dtype.kind == "i" and op_type in ("L1", "L2", "SumSquare"):
        dtype = np.dtype(np.float64)
    rank = len(shape)
    axes = data.draw(st.lists(st.integers(0, rank - 1), unique=True, max_size=rank))
    axes = [axis - rank if data.draw(st.booleans()) else axis for axis in axes]
    keepdims = data.draw(st.integers(0, 1))
    x = values(shape, dtype, 3)
    inputs = [x, np.array(axes, np.int64)]
    wide = x.astype(np.float64) if dtype.kind != "i" else x
    numpy_axes = tuple(axes) or None
    function = {
        "Sum": np.sum,
        "Mean": np.mean,
        "Max": np.max,
        "Min": np.min,
        "Prod": np.prod,
        "L1": lambda a, **k: np.sum(np.abs(a), **k),
        "L2": lambda a, **k: np.sqrt(np.sum(a * a, **k)),
        "SumSquare": lambda a, **k: np.sum(a * a, **k),
    }[op_type]
    expected = function(wide, axis=numpy_axes, keepdims=bool(keepdims))
    expected = np.trunc(expected).astype(dtype) if dtype.kind == "i" else np.asarray(expected)
    if dtype in FLOATS[2:]:
        with np.errstate(over="ignore"):
            expected = expected.astype(dtype)  # a product may leave the range of float16
    constant = data.draw(st.sampled_from([(), (1,)]))
    (got,) = run_native(f"Reduce{op_type}", 20, inputs, [number(dtype)], constant=constant, keepdims=keepdims)
    assert_close(got, expected, dtype, 20)


@drawn
@given(shape=npst.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=40), log=st.booleans(), data=st.data())
def test_softmax(run_native: RunNative, shape: tuple[int, ...], log: bool, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(shape, np.dtype(np.float32), 4, -20, 20)
    op_type = "LogSoftmax" if log else "Softmax"
    (got,) = run_native(op_type, 13, [x], [TensorProto.FLOAT], axis=axis)
    wide = x.astype(np.float64) - x.max(axis, keepdims=True)
    sums = np.exp(wide).sum(axis, keepdims=True)
    assert_close(got, wide - np.log(sums) if log else np.exp(wide) / sums, x.dtype, 10)


@drawn
@given(
    broadcast=npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=1, max_side=3),
    m=st.integers(0, 20),
    n=st.integers(0, 40),
    k=st.integers(0, 20),
    dtype=st.sampled_from([*FLOATS, np.dtype(np.int32), np.dtype(np.uint64)]),
    constant=st.sampled_from([(), (1,)]),
)
def test_matmul(
    run_native: RunNative,
    broadcast: npst.BroadcastableShapes,
    m: int,
    n: int,
    k: int,
    dtype: np.dtype[Any],
    constant: tuple[int, ...],
) -> None:
    a = values((*broadcast.input_shapes[0], m, k), dtype, 5)
    b = values((*broadcast.input_shapes[1], k, n), dtype, 6)
    wide = np.float64 if dtype.kind not in "iu" else dtype
    (got,) = run_native("MatMul", 13, [a, b], [number(dtype)], constant=constant)
    assert_close(got, np.matmul(a.astype(wide), b.astype(wide)), dtype, 30)


@drawn
@given(
    c_shape=st.sampled_from([None, (), (1,), (6,), (1, 6), (5, 1), (5, 6)]),
    alpha=st.sampled_from([1.0, 0.5]),
    beta=st.sampled_from([1.0, 0.0, -2.0]),
    flips=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    constant=st.sampled_from([(), (1, 2)]),
)
def test_gemm(
    run_native: RunNative,
    c_shape: tuple[int, ...] | None,
    alpha: float,
    beta: float,
    flips: tuple[int, int],
    constant: tuple[int, ...],
) -> None:
    dtype = np.dtype(np.float32)
    a = values((5, 7), dtype, 1)
    b = values((7, 6), dtype, 2)
    c = None if c_shape is None else values(c_shape, dtype, 3)
    expected = alpha * (a @ b) + (beta * c if c is not None else 0)
    inputs = [np.ascontiguousarray(a.T) if flips[0] else a, np.ascontiguousarray(b.T) if flips[1] else b, c]
    attributes = {"alpha": alpha, "beta": beta, "transA": flips[0], "transB": flips[1]}
    (got,) = run_native("Gemm", 13, inputs, [TensorProto.FLOAT], constant=constant, **attributes)
    assert_close(got, expected.astype(dtype), dtype, 10)


@drawn
@given(
    spatial=st.integers(1, 3), auto_pad=st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]), data=st.data()
)
def test_convolution(run_native: RunNative, spatial: int, auto_pad: str, data: st.DataObject) -> None:
    small = st.integers(1, 2)
    groups = data.draw(st.integers(1, 3))
    draw_each = lambda strategy: data.draw(st.lists(strategy, min_size=spatial, max_size=spatial))  # noqa: E731
    kernel = draw_each(st.integers(1, 3))
    dtype = data.draw(st.sampled_from(FLOATS))
    x = values((2, groups * data.draw(small), *draw_each(st.integers(5, 8))), dtype, 8)
    w = values((groups * data.draw(small), x.shape[1] // groups, *kernel), dtype, 9)
    attributes: dict[str, Any] = {"group": groups, "strides": draw_each(small), "kernel_shape": kernel}
    if auto_pad != "NOTSET":
        attributes |= {"auto_pad": auto_pad, "dilations": [1] * spatial}
    else:
        attributes |= {"pads": draw_each(st.integers(0, 2)) * 2, "dilations": draw_each(small)}
    bias = values((w.shape[0],), dtype, 10)
    (expected,) = reference("Conv", 11, [x, w, bias], **attributes)
    (got,) = run_native("Conv", 22, [x, w, bias], [number(dtype)], constant=(1,), **attributes)
    assert_close(got, expected, dtype, 30)


@drawn
@given(data=st.data(), op_type=st.sampled_from(["MaxPool", "AveragePool"]), ceil_mode=st.integers(0, 1))
def test_pooling(run_native: RunNative, data: st.DataObject, op_type: str, ceil_mode: int) -> None:
    kernel = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    pads = [data.draw(st.integers(0, k - 1)) for k in kernel]
    x = values((2, 3, *data.draw(st.tuples(st.integers(4, 9), st.integers(4, 9)))), np.dtype(np.float32), 11)
    attributes = {
        "kernel_shape": list(kernel),
        "strides": list(data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))),
        "pads": pads * 2,
        "ceil_mode": ceil_mode,
    }
    # Each window by itself, cut off at the input, as many as fit into the padded input (ceil_mode: begin in it).
    counts, windows = [], []
    for extent, size, step, pad in zip(x.shape[2:], kernel, attributes["strides"], pads, strict=True):
        room = extent + 2 * pad - size
        count = room // step + 1
        if ceil_mode and room % step and count * step < extent + pad:
            count += 1
        counts.append(count)
        windows.append([slice(max(0, o * step - pad), o * step - pad + size) for o in range(count)])
    function = np.max if op_type == "MaxPool" else np.mean
    expected = np.array([[function(x[:, :, h, w], (2, 3)) for w in windows[1]] for h in windows[0]])
    (got,) = run_native(op_type, 22, [x], [TensorProto.FLOAT], **attributes)
    assert_close(got, expected.reshape(*counts, *x.shape[:2]).transpose(2, 3, 0, 1), x.dtype, 4)


@drawn
@given(shape=npst.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5), data=st.data())
def test_moves_of_elements(run_native: RunNative, shape: tuple[int, ...], data: st.DataObject) -> None:
    rank = len(shape)
    dtype = data.draw(st.sampled_from([np.dtype(t) for t in ("uint8", "int16", "float32", "int64", "complex128")]))
    x = values(shape, np.dtype(np.float64), 12, 0, 100).astype(dtype)
    axis = data.draw(st.integers(-rank, rank - 1))
    perm = data.draw(st.permutations(range(rank)))
    (got,) = run_native("Transpose", 21, [x], [number(dtype)], perm=list(perm))
    np.testing.assert_array_equal(got, x.transpose(perm))
    (got,) = run_native("Concat", 13, [x, x, x], [number(dtype)], axis=axis)
    np.testing.assert_array_equal(got, np.concatenate([x, x, x], axis))
    cut = data.draw(st.integers(0, shape[axis]))
    sizes = np.array([cut, shape[axis] - cut], np.int64)
    parts = run_native("Split", 18, [x, sizes], [number(dtype)] * 2, axis=axis)
    np.testing.assert_array_equal(parts[0], np.split(x, [cut], axis)[0])
    np.testing.assert_array_equal(parts[1], np.split(x, [cut], axis)[1])
    indices = data.draw(npst.arrays(np.int64, shapes, elements=st.integers(-shape[axis], shape[axis] - 1)))
    (got,) = run_native("Gather", 13, [x, indices], [number(dtype)], axis=axis)
    np.testing.assert_array_equal(got, np.take(x, indices, axis))
    repeats = np.array(data.draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank)), np.int64)
    (got,) = run_native("Tile", 13, [x, repeats], [number(dtype)])
    np.testing.assert_array_equal(got, np.tile(x, repeats))
    wanted = np.array([data.draw(st.integers(0, 2)), *(extent if data.draw(st.booleans()) else 1 for extent in shape)])
    (got,) = run_native("Expand", 13, [x, wanted.astype(np.int64)], [number(dtype)])
    np.testing.assert_array_equal(got, np.broadcast_to(x, np.broadcast_shapes(shape, tuple(wanted))))


@drawn
@given(
    shape=npst.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=6),
    mode=st.sampled_from(["constant", "edge", "reflect", "wrap"]),
    data=st.data(),
)
def test_padding(run_native: RunNative, shape: tuple[int, ...], mode: str, data: st.DataObject) -> None:
    x = values(shape, np.dtype(np.float32), 13)
    begin, end = ([data.draw(st.integers(0, 4)) for _ in shape] for _ in range(2))
    (got,) = run_native("Pad", 21, [x, np.array(begin + end, np.int64)], [TensorProto.FLOAT], mode=mode)
    np.testing.assert_array_equal(got, np.pad(x, list(zip(begin, end, strict=True)), mode=mode))  # type: ignore[call-overload]


@drawn
@given(
    mode=st.sampled_from(["nearest", "linear"]),
    coordinates=st.sampled_from(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]),
    rounding=st.sampled_from(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_resizing(run_native: RunNative, mode: str, coordinates: str, rounding: str, sizes: tuple[int, int]) -> None:
    x = values((1, 2, 4, 4), np.dtype(np.float32), 14)
    # Factors that are powers of two: positions are exact, and no tie is decided by a rounding error.
    scales = np.array([1, 1, 2.0 ** (sizes[0] % 3 - 1), 2.0 ** (sizes[1] % 3 - 1)], np.float32)
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
    (expected,) = reference("Resize", 19, [x, None, scales], **attributes)
    (got,) = run_native("Resize", 19, [x, None, scales], [TensorProto.FLOAT], **attributes)
    if coordinates == "align_corners" and mode == "nearest":
        assert got.shape == expected.shape  # positions are thirds: floor and ceil may differ by rounding errors
        return
    assert_close(got, expected, x.dtype, 4)


@pytest.mark.parametrize("source", FLOATS + INTEGERS + [np.dtype(np.bool_)], ids=str)
def test_casts_between_all_types(run_native: RunNative, source: np.dtype[Any]) -> None:
    x = values((3, 333), source, 15, -100, 100)
    for target in FLOATS + INTEGERS + [np.dtype(np.bool_)]:
        (got,) = run_native("Cast", 13, [x], [number(target)], to=number(target))
        if target.kind == "u" and source.kind not in "iub":
            continue  # numpy leaves negative numbers to the platform
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, x.astype(target), err_msg=str(target))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_lstm(run_native: RunNative, direction: str, dtype: np.dtype[Any]) -> None:
    directions, hidden, steps, batch, width = (2 if direction == "bidirectional" else 1), 5, 4, 3, 6
    x = values((steps, batch, width), dtype, 1, -1, 1)
    w = values((directions, 4 * hidden, width), dtype, 2, -1, 1)
    r = values((directions, 4 * hidden, hidden), dtype, 3, -1, 1)
    b = values((directions, 8 * hidden), dtype, 4, -1, 1)
    h = values((directions, batch, hidden), dtype, 5, -1, 1)
    c = values((directions, batch, hidden), dtype, 6, -1, 1)
    attributes = {"hidden_size": hidden, "direction": direction}
    got = run_native("LSTM", 22, [x, w, r, b, None, h, c], [number(dtype)] * 3, constant=(1, 2), **attributes)

    def sigmoid(a: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-a)))

    wide = [np.asarray(a, np.float64) for a in (x, w, r, b, h, c)]
    for d in range(directions):
        order = range(steps) if d == 0 and direction != "reverse" else range(steps - 1, -1, -1)
        state, memory = wide[4][d], wide[5][d]
        for t in order:
            bias = wide[3][d][: 4 * hidden] + wide[3][d][4 * hidden :]
            i, o, f, g = np.split(wide[0][t] @ wide[1][d].T + state @ wide[2][d].T + bias, 4, axis=1)
            memory = sigmoid(f) * memory + sigmoid(i) * np.tanh(g)
            state = sigmoid(o) * np.tanh(memory)
            assert_close(got[0][t, d], state, dtype, 10)
        assert_close(got[1][d], state, dtype, 10)
        assert_close(got[2][d], memory, dtype, 10)


@drawn
@given(
    shape=npst.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=40),
    dtype=st.sampled_from(FLOATS),
    data=st.data(),
)
def test_normalization(
    run_native: RunNative, shape: tuple[int, ...], dtype: np.dtype[Any], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), -1))
    x = values(shape, dtype, 16)
    scale, bias = values(shape[axis:], dtype, 17), values(shape[axis:], dtype, 18)
    axes = tuple(range(axis, 0))
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axes, keepdims=True)
    variance = np.mean(centred * centred, axes, keepdims=True)
    epsilon = np.float64(np.float32(1e-5))  # attributes are floats
    expected = centred / np.sqrt(variance + epsilon) * scale.astype(np.float64) + bias.astype(np.float64)
    (got,) = run_native("LayerNormalization", 17, [x, scale, bias], [number(dtype)], axis=axis)
    assert_close(got, expected, dtype, 300 if dtype == np.float32 else 10)

    scale, bias, mean = (values((shape[1],), dtype, seed) for seed in (19, 20, 21))
    deviation = values((shape[1],), dtype, 22, 0.5, 2)
    per_channel = [a.astype(np.float64).reshape(-1, *[1] * (len(shape) - 2)) for a in (scale, bias, mean, deviation)]
    expected = (wide - per_channel[2]) / np.sqrt(per_channel[3] + epsilon) * per_channel[0] + per_channel[1]
    (got,) = run_native("BatchNormalization", 15, [x, scale, bias, mean, deviation], [number(dtype)])
    assert_close(got, expected, dtype, 20)


@drawn
@given(
    axis=st.sampled_from([None, 0, 1, -1]),
    dtype=st.sampled_from([np.dtype(t) for t in ("int8", "uint8", "int16", "uint16")]),
)
def test_quantization(run_native: RunNative, axis: int | None, dtype: np.dtype[Any]) -> None:
    x = values((4, 5, 6), np.dtype(np.float32), 23, -300, 300)
    shape = () if axis is None else (x.shape[axis],)
    scale, zero = values(shape, np.dtype(np.float32), 24, 0.5, 2), values(shape, dtype, 25, 0, 50)
    attributes = {} if axis is None else {"axis": axis}
    (expected,) = reference("QuantizeLinear", 21, [x, scale, zero], **attributes)
    (got,) = run_native("QuantizeLinear", 21, [x, scale, zero], [number(dtype)], **attributes)
    np.testing.assert_array_equal(got, expected)
    (expected,) = reference("DequantizeLinear", 21, [got, scale, zero], **attributes)
    (back,) = run_native("DequantizeLinear", 21, [got, scale, zero], [TensorProto.FLOAT], **attributes)
    np.testing.assert_array_equal(back, expected)


@drawn
@given(
    types=st.tuples(*[st.sampled_from([np.dtype(np.int8), np.dtype(np.uint8)])] * 2),
    k=st.sampled_from([1, 7, 256, 300]),
    by_line=st.booleans(),
)
def test_integer_products_are_exact(
    run_native: RunNative, types: tuple[np.dtype[Any], np.dtype[Any]], k: int, by_line: bool
) -> None:
    a, b = values((3, k), types[0], 26, -128, 127), values((k, 9), types[1], 27, -128, 127)
    a_zero, b_zero = (
        values((3,) if by_line else (), types[0], 28, 0, 9),
        values((9,) if by_line else (), types[1], 29, 0, 9),
    )
    wide = (a.astype(np.int32) - a_zero.astype(np.int32).reshape(-1, 1)) @ (
        b.astype(np.int32) - b_zero.astype(np.int32)
    )
    (got,) = run_native("MatMulInteger", 10, [a, b, a_zero, b_zero], [TensorProto.INT32])
    np.testing.assert_array_equal(got, wide)
