"""What Python kernels are to a session: silent, refused with a reason, and named in its assignment."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import python_registry


def session_of(
    node: onnx.NodeProto, inputs: dict[str, int], outputs: dict[str, int], rank: int = 1, opset: int = 25
) -> ort.InferenceSession:
    """A session on one node, whose kernel is a Python one; all its values have the rank."""
    shape = [None] * rank
    graph = make_graph(
        [node],
        "one node",
        [make_tensor_value_info(name, element, shape) for name, element in inputs.items()],
        [make_tensor_value_info(name, element, shape) for name, element in outputs.items()],
    )
    model = make_model(graph, opset_imports=[make_opsetid(node.domain, opset)])
    options = ort.SessionOptions()
    options.add_kernel_registry(python_registry())
    return ort.InferenceSession(model.SerializeToString(), options)


def test_a_run_emits_no_numpy_warnings() -> None:
    session = session_of(make_node("Log", ["x"], ["y"]), {"x": TensorProto.FLOAT}, {"y": TensorProto.FLOAT})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y,) = session.run(None, {"x": np.array([0, -1], np.float32)})
    assert np.isneginf(y[0])
    assert np.isnan(y[1])


def test_the_assignment_names_the_python_kernel() -> None:
    session = session_of(make_node("Erf", ["x"], ["y"]), {"x": TensorProto.FLOAT}, {"y": TensorProto.FLOAT})
    (row,) = session.assignment()
    assert "python" in row.kernel


def test_a_failing_kernel_names_its_node_and_the_session_runs_on() -> None:
    node = make_node("GatherElements", ["x", "i"], ["y"], name="gather")
    session = session_of(node, {"x": TensorProto.FLOAT, "i": TensorProto.INT64}, {"y": TensorProto.FLOAT})
    x = np.arange(3, dtype=np.float32)
    with pytest.raises(ort.Fail, match=r"gather.*out of bounds"):
        session.run(None, {"x": x, "i": np.array([7])})
    np.testing.assert_array_equal(session.run(None, {"x": x, "i": np.array([2])})[0], [2])


def test_threads_run_one_kernel_with_windows_of_their_own_sizes() -> None:
    node = make_node("Conv", ["x", "w"], ["y"], pads=[1, 0, 1, 1], strides=[1, 2])
    session = session_of(node, {"x": TensorProto.FLOAT, "w": TensorProto.FLOAT}, {"y": TensorProto.FLOAT}, rank=4)
    generator = np.random.default_rng(1)
    feeds = []
    for size in range(40):
        kernel = (1 + size % 3, 1 + size % 2)
        x, w = generator.normal(size=(1, 2, 5 + size, 6)), generator.normal(size=(3, 2, *kernel))
        feeds.append({"x": x.astype(np.float32), "w": w.astype(np.float32)})
    alone = [session.run(None, feed)[0] for feed in feeds]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda feed: session.run(None, feed)[0], feeds * 5))
    for index, y in enumerate(together):
        np.testing.assert_array_equal(y, alone[index % len(feeds)])


@pytest.mark.parametrize(
    "dtype",
    [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn, ml_dtypes.int4, ml_dtypes.uint2, object],
)
def test_types_that_numpy_lacks_travel_between_kernels_as_arrays_of_their_own(dtype: Any) -> None:
    element = TensorProto.STRING if dtype is object else onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = np.array([["a", "b", "c"]], object) if dtype is object else np.ones((1, 3)).astype(dtype)
    session = session_of(make_node("Transpose", ["x"], ["y"]), {"x": element}, {"y": element}, rank=2)
    (y,) = session.run(None, {"x": x})
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x.T)


def test_an_operator_that_nothing_implements_is_refused_when_the_session_is_made() -> None:
    node = make_node("Gradient", ["x"], ["y"], domain="ai.onnx.preview.training", xs=["x"], y="y")
    with pytest.raises(ort.NotImplemented, match="Gradient"):
        session_of(node, {"x": TensorProto.FLOAT}, {"y": TensorProto.FLOAT}, opset=1)


@pytest.mark.parametrize("length", [0, 3])
def test_a_sequence_is_mapped_with_another_sequence_and_a_tensor(length: int) -> None:
    tensor = onnx.helper.make_tensor_type_proto(TensorProto.FLOAT, [None])
    sequence = onnx.helper.make_sequence_type_proto(tensor)
    body = make_graph(
        [make_node("Add", ["a", "b"], ["ab"]), make_node("Mul", ["ab", "c"], ["y"])],
        "body",
        [onnx.helper.make_value_info(name, tensor) for name in "abc"],
        [onnx.helper.make_value_info("y", tensor)],
    )
    graph = make_graph(
        [make_node("SequenceMap", ["p", "q", "r"], ["s"], body=body)],
        "map",
        [onnx.helper.make_value_info(name, sequence if name in "pq" else tensor) for name in "pqr"],
        [onnx.helper.make_value_info("s", sequence)],
    )
    session = ort.InferenceSession(make_model(graph, opset_imports=[make_opsetid("", 17)]).SerializeToString())
    p, q = ([np.full(2, base + n, np.float32) for n in range(length)] for base in (1, 10))
    (s,) = session.run(None, {"p": p, "q": q, "r": np.array([2], np.float32)})
    assert len(s) == length
    for n, item in enumerate(s):
        np.testing.assert_array_equal(item, (11 + 2 * n) * np.full(2, 2, np.float32))


def test_maps_leave_a_session_and_are_fed_to_it() -> None:
    values = onnx.helper.make_tensor_type_proto(TensorProto.FLOAT, [None, 2])
    a_map = onnx.TypeProto()
    a_map.map_type.key_type = TensorProto.STRING
    a_map.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    zip_map = make_node("ZipMap", ["x"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog"])
    graph = make_graph(
        [zip_map],
        "to maps",
        [onnx.helper.make_value_info("x", values)],
        [onnx.helper.make_value_info("maps", onnx.helper.make_sequence_type_proto(a_map))],
    )
    imports = [make_opsetid("ai.onnx.ml", 3), make_opsetid("", 17)]
    session = ort.InferenceSession(make_model(graph, opset_imports=imports).SerializeToString())
    (maps,) = session.run(None, {"x": np.array([[1, 2], [3, 4]], np.float32)})
    assert maps == [{"cat": 1, "dog": 2}, {"cat": 3, "dog": 4}]

    vectorizer = make_node(
        "DictVectorizer", ["m"], ["y"], domain="ai.onnx.ml", string_vocabulary=["dog", "bird", "cat"]
    )
    graph = make_graph(
        [vectorizer],
        "from a map",
        [onnx.helper.make_value_info("m", a_map)],
        [make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
    )
    session = ort.InferenceSession(make_model(graph, opset_imports=imports).SerializeToString())
    (y,) = session.run(None, {"m": {"cat": np.float32(1), "dog": np.float32(2)}})
    np.testing.assert_array_equal(y, np.array([[2, 0, 1]], np.float32))
