"""Forms that an operator has in some versions only: attributes that became inputs, and changes of meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def int64(*values: int) -> Array:
    return np.array(values, np.int64)


@pytest.mark.parametrize("opset", [7, 11, 13, 21, 25])
def test_squeeze_and_unsqueeze_take_axes_as_attribute_before_13(run_native: RunNative, opset: int) -> None:
    column = X.reshape(1, 2, 3, 4, 1)
    given: dict[str, Any] = {} if opset >= 13 else {"axes": [0, -1]}
    if opset < 11:
        given = {"axes": [0, 4]}
    axes = [int64(0, -1)] if opset >= 13 else []
    (squeezed,) = run_native("Squeeze", opset, [column, *axes], [TensorProto.FLOAT], **given)
    np.testing.assert_array_equal(squeezed, X)
    (all_squeezed,) = run_native("Squeeze", opset, [column], [TensorProto.FLOAT])
    np.testing.assert_array_equal(all_squeezed, X)
    (back,) = run_native("Unsqueeze", opset, [X, *axes], [TensorProto.FLOAT], **given)
    np.testing.assert_array_equal(back, column)


@pytest.mark.parametrize("opset", [7, 11, 12, 13])
def test_clip_takes_limits_as_attributes_before_11(run_native: RunNative, opset: int) -> None:
    limits = [np.array(3, np.float32), np.array(9, np.float32)]
    if opset < 11:
        (got,) = run_native("Clip", opset, [X], [TensorProto.FLOAT], min=3.0, max=9.0)
    else:
        (got,) = run_native("Clip", opset, [X, *limits], [TensorProto.FLOAT])
        (upper,) = run_native("Clip", opset, [X, None, limits[1]], [TensorProto.FLOAT])
        np.testing.assert_array_equal(upper, np.minimum(X, 9))
    np.testing.assert_array_equal(got, np.clip(X, 3, 9))


@pytest.mark.parametrize("opset", [7, 10, 11, 13])
def test_slice_takes_bounds_as_attributes_before_10(run_native: RunNative, opset: int) -> None:
    if opset < 10:
        attributes = {"starts": [1, -3], "ends": [3, 1000], "axes": [1, 2]}
        (got,) = run_native("Slice", opset, [X], [TensorProto.FLOAT], **attributes)
        np.testing.assert_array_equal(got, X[:, 1:3, -3:])
        return
    bounds = [int64(-1, 3), int64(-1000, 0), int64(1, 2), int64(-2, -1)]
    for index_type in (np.int64, np.int32):
        inputs = [b.clip(-(2**31), 2**31 - 1).astype(index_type) for b in bounds]
        (got,) = run_native("Slice", opset, [X, *inputs], [TensorProto.FLOAT], constant=(1, 2, 3, 4))
        np.testing.assert_array_equal(got, X[:, ::-2, 3:0:-1])


@pytest.mark.parametrize("opset", [7, 11, 13, 18])
def test_split_takes_sizes_as_attribute_before_13_and_uneven_parts_from_18_on(
    run_native: RunNative, opset: int
) -> None:
    outputs = [TensorProto.FLOAT] * 2
    if opset < 13:
        got = run_native("Split", opset, [X], outputs, axis=2, split=[1, 3])
    else:
        got = run_native("Split", opset, [X, int64(1, 3)], outputs, axis=2)
    np.testing.assert_array_equal(got[0], X[..., :1])
    np.testing.assert_array_equal(got[1], X[..., 1:])
    (first, second) = run_native("Split", opset, [X], outputs, axis=-1, **({"num_outputs": 2} if opset >= 18 else {}))
    np.testing.assert_array_equal(np.concatenate([first, second], -1), X)
    if opset >= 18:
        uneven = run_native("Split", opset, [X], outputs, axis=1, num_outputs=2)
        assert [part.shape[1] for part in uneven] == [2, 1]
    else:
        with pytest.raises(Exception, match="equal parts"):
            run_native("Split", opset, [X], outputs, axis=1)


@pytest.mark.parametrize("opset", [7, 11, 13, 18, 20])
@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"])
def test_reductions_take_axes_as_an_input_from_13_or_18_on(run_native: RunNative, op_type: str, opset: int) -> None:
    function = {
        "ReduceSum": np.sum,
        "ReduceMean": np.mean,
        "ReduceMax": np.max,
        "ReduceL2": lambda a, axis: np.sqrt(np.sum(a * a, axis=axis)),
    }[op_type]
    by_input = opset >= (13 if op_type == "ReduceSum" else 18)
    inputs = [X, int64(0, 2)] if by_input else [X]
    attributes: dict[str, Any] = {"keepdims": 0} | ({} if by_input else {"axes": [0, 2]})
    (got,) = run_native(op_type, opset, inputs, [TensorProto.FLOAT], **attributes)
    np.testing.assert_allclose(got, function(X, axis=(0, 2)), rtol=1e-6)


def test_reduction_without_axes_reduces_all_or_nothing(run_native: RunNative) -> None:
    (everything,) = run_native("ReduceSum", 13, [X], [TensorProto.FLOAT], keepdims=0)
    assert everything.shape == ()
    assert everything == X.sum()
    (nothing,) = run_native("ReduceSum", 13, [X, int64()], [TensorProto.FLOAT], noop_with_empty_axes=1)
    np.testing.assert_array_equal(nothing, X)


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax"])
def test_softmax_before_13_takes_all_dimensions_from_the_axis_on(run_native: RunNative, op_type: str) -> None:
    def softmax(a: Array, axis: tuple[int, ...]) -> Array:
        e = np.exp(a - a.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)
        return np.asarray(np.log(y) if op_type == "LogSoftmax" else y)

    for opset in (7, 11):
        (got,) = run_native(op_type, opset, [X], [TensorProto.FLOAT], axis=1)
        np.testing.assert_allclose(got, softmax(X, (1, 2)), rtol=1e-4)
    (got,) = run_native(op_type, 13, [X], [TensorProto.FLOAT], axis=1)
    np.testing.assert_allclose(got, softmax(X, (1,)), rtol=1e-5)


def test_reshape_copies_dimensions_for_zero_unless_zero_is_allowed(run_native: RunNative) -> None:
    for opset in (7, 13, 14, 21):
        (got,) = run_native("Reshape", opset, [X, int64(0, -1)], [TensorProto.FLOAT])
        assert got.shape == (2, 12)
    empty = np.zeros((0, 3), np.float32)
    (got,) = run_native("Reshape", 14, [empty, int64(3, 0)], [TensorProto.FLOAT], allowzero=1)
    assert got.shape == (3, 0)
    with pytest.raises(Exception, match="cannot take the shape"):
        run_native("Reshape", 13, [X, int64(5, -1)], [TensorProto.FLOAT])


@pytest.mark.parametrize("opset", [7, 11, 13, 18, 21])
def test_pad_takes_pads_as_attribute_before_11_and_axes_from_18_on(run_native: RunNative, opset: int) -> None:
    expected = np.pad(X, [(0, 0), (1, 2), (0, 0)], constant_values=7)
    if opset < 11:
        (got,) = run_native("Pad", opset, [X], [TensorProto.FLOAT], pads=[0, 1, 0, 0, 2, 0], value=7.0)
    elif opset < 18:
        (got,) = run_native("Pad", opset, [X, int64(0, 1, 0, 0, 2, 0), np.array(7, np.float32)], [TensorProto.FLOAT])
    else:
        inputs = [X, int64(1, 2), np.array(7, np.float32), int64(-2)]
        (got,) = run_native("Pad", opset, inputs, [TensorProto.FLOAT])
    np.testing.assert_array_equal(got, expected)


def test_negative_pads_crop(run_native: RunNative) -> None:
    (got,) = run_native("Pad", 13, [X, int64(0, -1, 1, 0, 0, -2)], [TensorProto.FLOAT])
    np.testing.assert_array_equal(got, np.pad(X, [(0, 0), (0, 0), (1, 0)])[:, 1:, :-2])


def test_shape_takes_a_slice_from_15_on(run_native: RunNative) -> None:
    assert run_native("Shape", 13, [X], [TensorProto.INT64])[0].tolist() == [2, 3, 4]
    assert run_native("Shape", 15, [X], [TensorProto.INT64], start=-2, end=-1)[0].tolist() == [3]
    assert run_native("Shape", 15, [X], [TensorProto.INT64], start=9)[0].tolist() == []
    assert run_native("Size", 13, [X], [TensorProto.INT64])[0] == 24


@pytest.mark.parametrize("opset", [7, 10, 12, 13])
def test_dropout_in_inference_keeps_everything(run_native: RunNative, opset: int) -> None:
    mask_type = TensorProto.BOOL if opset >= 10 else 0
    got = run_native("Dropout", opset, [X], [TensorProto.FLOAT, mask_type])
    np.testing.assert_array_equal(got[0], X)
    if opset >= 10:
        assert got[1].all()


def test_kernels_decline_what_they_do_not_compute(run_native: RunNative) -> None:
    image = X.reshape(1, 2, 3, 4)
    with pytest.raises(Exception, match="outputs of training"):
        run_native("BatchNormalization", 9, [image, *[np.ones(2, np.float32)] * 4], [TensorProto.FLOAT] * 5)
    with pytest.raises(Exception, match="more than three spatial dimensions"):
        run_native("MaxPool", 12, [X.reshape(1, 1, 2, 3, 2, 2)], [TensorProto.FLOAT], kernel_shape=[1, 1, 1, 1])


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_a_scalar_is_reduced_along_its_one_axis(run_native: RunNative, axis: int, keepdims: int) -> None:
    scalar = np.array(-3, np.float32)
    for op_type, expected in [("ReduceSum", -3), ("ReduceMax", -3), ("ReduceL1", 3), ("ReduceSumSquare", 9)]:
        (got,) = run_native(op_type, 18, [scalar, int64(axis)], [TensorProto.FLOAT], keepdims=keepdims)
        assert got.shape == ()
        assert got == expected
    for op_type in ("ArgMax", "ArgMin"):
        (index,) = run_native(op_type, 13, [scalar], [TensorProto.INT64], axis=axis, keepdims=keepdims)
        assert index.shape == ()
        assert index == 0


@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
def test_an_axis_that_does_not_exist_is_refused_in_the_name_of_the_operator(
    run_native: RunNative, op_type: str
) -> None:
    with pytest.raises(Exception, match=rf"{op_type}: axis 3 is outside \[-3, 3\)"):
        run_native(op_type, 13, [X], [TensorProto.INT64], axis=3)
    with pytest.raises(Exception, match=rf"{op_type}: axis 1 is outside \[-1, 1\)"):
        run_native(op_type, 13, [np.array(1, np.float32)], [TensorProto.INT64], axis=1)
    with pytest.raises(Exception, match=rf"{op_type}: axis 0 of shape \[0,2\] is empty"):
        run_native(op_type, 13, [np.empty((0, 2), np.float32)], [TensorProto.INT64], axis=0)
    with pytest.raises(Exception, match="Concat: axis 0 is given for a scalar"):
        run_native("Concat", 13, [np.array(1, np.float32)], [TensorProto.FLOAT], axis=0)


def test_reductions_take_an_axis_named_more_than_once(run_native: RunNative) -> None:
    functions = {"ReduceL1": np.abs, "ReduceL2": np.square, "ReduceSumSquare": np.square, "ReduceSum": np.positive}
    for op_type, function in functions.items():
        expected = function(X).sum((0, 2))
        expected = np.sqrt(expected) if op_type == "ReduceL2" else expected
        (got,) = run_native(op_type, 18, [X, int64(2, 0, -1, 2)], [TensorProto.FLOAT], keepdims=0)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
