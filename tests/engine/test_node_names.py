"""Names of nodes are unique in a graph, but for constants."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

import onnx_light_ort as ort


def model(first: onnx.NodeProto, second: onnx.NodeProto) -> bytes:
    nodes = [first, second, make_node("Add", ["a", "b"], ["c"], name="sum")]
    output = make_tensor_value_info("c", TensorProto.FLOAT, [])
    graph = make_graph(nodes, "g", [make_tensor_value_info("x", TensorProto.FLOAT, [])], [output])
    return make_model(graph, opset_imports=[make_opsetid("", 20)]).SerializeToString()


def test_two_constants_may_share_a_name() -> None:
    nodes = [
        make_node("Constant", [], [output], name="same", value_float=value) for output, value in (("a", 1), ("b", 2))
    ]
    (c,) = ort.InferenceSession(model(*nodes)).run(None, {"x": np.zeros((), np.float32)})
    assert c == 3


def test_two_other_nodes_may_not() -> None:
    nodes = [make_node("Neg", ["x"], [output], name="same") for output in ("a", "b")]
    with pytest.raises(ort.Fail, match="have the name 'same'"):
        ort.InferenceSession(model(*nodes))
