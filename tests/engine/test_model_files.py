"""Models are loaded right, whatever their size, and however odd their bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto
from onnx_models import constant, model, node, value

import onnx_light_ort as ort
from onnx_light_ort._native import engine

X = np.arange(8, dtype=np.float32).reshape(2, 4)


def with_weights(count: int) -> ModelProto:
    """y = x + the sum of so many weights, which are 0, 1, 2, ..."""
    return model(
        [node("ReduceSum", ["w"], ["s"], keepdims=0), node("Add", ["x", "s"], ["y"], doc_string="note " * 200)],
        [value("x")],
        initializers=[constant("w", np.arange(count, dtype=np.float32))],
    )


@pytest.mark.parametrize("count", [1, 1000, 20_000, 400_000], ids=lambda count: f"{4 * count} bytes")
def test_a_model_of_any_size_is_loaded_from_a_file_and_from_bytes(tmp_path: Path, count: int) -> None:
    data = with_weights(count).SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    expected = X + np.arange(count, dtype=np.float32).sum(dtype=np.float64)
    for source in (str(path), path, data, bytearray(data), memoryview(data)):
        np.testing.assert_allclose(ort.InferenceSession(source).run(None, {"x": X})[0], expected, rtol=1e-5)


def test_weights_stay_where_they_are_and_notes_are_left_out() -> None:
    data = with_weights(20_000).SerializeToString()
    split = engine.split_model(data, b"nonce")
    assert split is not None
    skeleton, ((begin, end),) = split
    assert data[begin:end] == np.arange(20_000, dtype="<f4").tobytes()
    graph = ModelProto.FromString(skeleton).graph
    assert graph.initializer[0].raw_data == b"nonce" + bytes(8)
    assert [item.doc_string for item in graph.node] == ["", ""]
    assert len(skeleton) < 1000


def nested(depth: int) -> bytes:
    """A model whose graph has a node with a graph that has a node ..., so many deep, each too big to be only copied."""
    graph = GraphProto(name="innermost" * 100)
    for _ in range(depth):
        attribute = AttributeProto(name="body", type=AttributeProto.GRAPH, g=graph)
        graph = GraphProto(name="around", node=[NodeProto(op_type="Loop", attribute=[attribute])])
    return ModelProto(ir_version=9, graph=graph).SerializeToString()


def test_graphs_in_graphs_are_split_as_deep_as_protobuf_reads_them() -> None:
    data = nested(20)
    assert engine.split_model(data, b"nonce") == (data, [])


def test_what_is_no_message_is_left_to_the_parser() -> None:
    data = with_weights(20_000).SerializeToString()
    for damaged in (data[:-1], b"\xff" * 100, b"\x0b" + data, data + b"\x0a\x05"):
        assert engine.split_model(damaged, b"nonce") is None
    with pytest.raises(ort.InvalidProtobuf):
        ort.InferenceSession(data[:-1])


def test_graphs_nested_without_end_are_no_model() -> None:
    inner = b"a" * 600
    for number in (6, 5, 1) * 2000:  # AttributeProto.g, NodeProto.attribute, GraphProto.node, from inside
        size = len(inner)
        varint = bytes([*(size >> shift & 127 | 128 for shift in (0, 7)), size >> 14])
        inner = bytes([number << 3 | 2]) + varint + inner
    size = len(inner)
    data = b"\x3a" + bytes([*(size >> shift & 127 | 128 for shift in (0, 7)), size >> 14]) + inner
    assert engine.split_model(data, b"nonce") is None
