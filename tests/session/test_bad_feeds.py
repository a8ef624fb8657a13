"""Feeds that are wrong: the class that ORT 1.32.0's Python package raises, the name, and a session that goes on."""

from __future__ import annotations

import copy
import pickle
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from onnx_models import INT64, chain, model, node, relu, value

import onnx_light_ort as ort

X = np.ones((2, 4), np.float32)


@pytest.fixture(scope="module")
def session() -> ort.InferenceSession:
    return ort.InferenceSession(relu())


@pytest.mark.parametrize(
    ("feed", "outputs", "expected", "part"),
    [
        ({}, None, ValueError, "'x'"),
        ({}, None, ort.InvalidArgument, "'x'"),
        ({"x": X, "q": X}, None, ort.InvalidArgument, "'q'"),
        ({"x": X.astype(np.float64)}, None, ort.InvalidArgument, "'x'"),
        ({"x": X.astype(np.int64)}, None, ort.InvalidArgument, "'x'"),
        ({"x": X[0]}, None, ort.InvalidArgument, "'x'"),
        ({"x": np.ones((2, 5), np.float32)}, None, ort.InvalidArgument, "'x'"),
        ({"x": np.array([["a"] * 4], object)}, None, ort.InvalidArgument, "'x'"),
        ({"x": None}, None, ort.InvalidArgument, "'x'"),
        ({"x": "hello"}, None, ort.InvalidArgument, "'x'"),
        ({"x": X}, ["nope"], ort.InvalidArgument, "'nope'"),
        ({"x": X}, "y", TypeError, "'y'"),
        ([X], None, TypeError, "dictionary"),
    ],
    ids=[
        "missing",
        "missing, as InvalidArgument",
        "extra",
        "double for float",
        "int64 for float",
        "rank",
        "dimension",
        "strings for float",
        "None",
        "str",
        "unknown output",
        "output names as str",
        "no dictionary",
    ],
)
def test_a_bad_feed_names_what_is_wrong_and_the_next_run_works(
    session: ort.InferenceSession, feed: Any, outputs: Any, expected: type[Exception], part: str
) -> None:
    with pytest.raises(expected, match=part):
        session.run(outputs, feed)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X)


@pytest.mark.parametrize(
    "fed",
    [
        X,
        X.tolist(),
        np.asfortranarray(X),
        X.astype(">f4"),
        np.ones((2, 8), np.float32)[:, ::2],
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 4),
        ort.OrtValue.ortvalue_from_numpy(X),
    ],
    ids=["array", "list", "column-major", "big-endian", "strided", "misaligned", "OrtValue"],
)
def test_every_layout_is_taken(session: ort.InferenceSession, fed: Any) -> None:
    np.testing.assert_array_equal(session.run(None, {"x": fed})[0], X)


def test_zero_size_and_scalars() -> None:
    empty = ort.InferenceSession(relu()).run(None, {"x": np.ones((0, 4), np.float32)})[0]
    assert empty.shape == (0, 4)
    scalar = model([node("Neg", ["x"], ["y"])], [value("x", shape=[])], [value("y", shape=[])])
    assert ort.InferenceSession(scalar).run(None, {"x": np.array(3, np.float32)})[0] == -3
    assert ort.InferenceSession(scalar).run(None, {"x": np.float32(3)})[0].shape == ()


def fill() -> ort.InferenceSession:
    return ort.InferenceSession(
        model(
            [node("ConstantOfShape", ["s"], ["y"], name="fill")], [value("s", INT64, [None])], [value("y", shape=None)]
        )
    )


@pytest.mark.parametrize("shape", [[-3, 3], [2**40, 2**40], [2**45]], ids=["negative", "overflowing", "too big"])
def test_dimensions_that_no_tensor_has_fail_the_run_only(shape: list[int]) -> None:
    session = fill()
    with pytest.raises(ort.Error, match="fill"):
        session.run(None, {"s": np.array(shape, np.int64)})
    assert session.run(None, {"s": np.array([2, 2])})[0].shape == (2, 2)
    assert session.run(None, {"s": np.array([], np.int64)})[0].shape == ()
    assert session.run(None, {"s": np.array([0, 3])})[0].shape == (0, 3)


def test_a_failing_node_is_named_and_publishes_nothing() -> None:
    session = ort.InferenceSession(
        model(
            [node("Reshape", ["x", "s"], ["y"], name="resh")],
            [value("x"), value("s", INT64, [None])],
            [value("y", shape=[None, None])],
        )
    )
    for shape in ([3, 3], [-3, 3]):
        with pytest.raises(ort.Error, match="resh"):
            session.run(None, {"x": X, "s": np.array(shape)})
    assert session.run(None, {"x": X, "s": np.array([4, 2])})[0].shape == (4, 2)


def test_inputs_are_never_written() -> None:
    x = -np.ones(4, np.float32)
    x.flags.writeable = False
    session = ort.InferenceSession(chain(50, "Neg"))
    y = session.run(None, {"v0": x})[0]
    np.testing.assert_array_equal(x, -np.ones(4))
    np.testing.assert_array_equal(y, -np.ones(4))
    assert not np.shares_memory(x, y)


def test_outputs_belong_to_the_caller(session: ort.InferenceSession) -> None:
    first = session.run(None, {"x": X})[0]
    first[...] = 7
    second = session.run(None, {"x": X})[0]
    np.testing.assert_array_equal(second, X)
    through = ort.InferenceSession(model([node("Identity", ["x"], ["y"])]))
    x = X.copy()
    through.run(None, {"x": x})[0][...] = 7
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    ("operator", "second"),
    [("Add", np.ones(3, np.float32)), ("Gather", np.array([7]))],
    ids=["ORT raises Fail", "ORT raises InvalidArgument"],
)
def test_a_node_that_cannot_compute_its_inputs_is_caught_under_either_class_of_ort(operator: str, second: Any) -> None:
    kind = INT64 if second.dtype == np.int64 else 1
    inputs = [value("x", shape=[4]), value("s", kind, ["n"])]
    session = ort.InferenceSession(
        model([node(operator, ["x", "s"], ["y"], name="n")], inputs, [value("y", shape=None)])
    )
    for expected in (ort.Fail, ort.InvalidArgument):
        with pytest.raises(expected, match="'n'"):
            session.run(None, {"x": X[0], "s": second})


def test_a_python_kernel_that_cannot_compute_its_inputs_is_caught_under_either_class_of_ort() -> None:
    nodes = [node("SequenceConstruct", ["x"], ["s"]), node("SequenceAt", ["s", "i"], ["y"], name="at")]
    session = ort.InferenceSession(model(nodes, [value("x", shape=[4]), value("i", INT64, [])]))
    for expected in (ort.Fail, ort.InvalidArgument):
        with pytest.raises(expected, match="'at'"):
            session.run(None, {"x": X[0], "i": np.array(4)})


def test_a_mapping_that_is_no_dict_is_a_feed(session: ort.InferenceSession) -> None:
    np.testing.assert_array_equal(session.run(None, MappingProxyType({"x": X}))[0], X)


def test_a_session_is_neither_copied_nor_pickled(session: ort.InferenceSession) -> None:
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="path or bytes"):
            duplicate(session)


@pytest.mark.parametrize("options", [ort.SessionOptions(), ort.RunOptions()], ids=["session", "run"])
def test_a_misspelt_option_is_an_error(options: Any) -> None:
    with pytest.raises(AttributeError, match="intra_op_num_thread"):
        options.intra_op_num_thread = 1


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("intra_op_num_threads", 1 << 40, ort.InvalidArgument),
        ("intra_op_num_threads", "2", TypeError),
        ("intra_op_num_threads", 2.5, TypeError),
        ("memory_limit", -1, ort.InvalidArgument),
        ("memory_limit", 1 << 70, ort.InvalidArgument),
    ],
)
def test_options_that_are_no_such_number_are_refused(name: str, value: Any, expected: type[Exception]) -> None:
    options = ort.SessionOptions()
    setattr(options, name, value)
    with pytest.raises(expected, match=name if expected is ort.InvalidArgument else "integer"):
        ort.InferenceSession(relu(), options)
