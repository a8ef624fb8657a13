"""Tests of ScaledSum; SCALED_SUM_LIBRARY is the path of the built library."""

from __future__ import annotations

import os

import numpy as np
import pytest
from onnx import TensorProto, helper

import onnx_light_ort as ort


def session(**attributes: float) -> ort.InferenceSession:
    node = helper.make_node("ScaledSum", ["a", "b"], ["y"], domain="my.domain", **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "ab"],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("my.domain", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.register_custom_ops_library(os.environ["SCALED_SUM_LIBRARY"])
    return ort.InferenceSession(model.SerializeToString(), options)


def test_scaled_sum_adds_and_scales() -> None:
    running = session(scale=0.5)
    for shape in ((3,), (2, 4), (0,), ()):
        a, b = np.full(shape, 3, np.float32), np.full(shape, -1, np.float32)
        np.testing.assert_array_equal(running.run(None, {"a": a, "b": b})[0], np.full(shape, 1, np.float32))


def test_scaled_sum_refuses_different_shapes() -> None:
    with pytest.raises(ort.InvalidArgument, match="must have one shape"):
        session(scale=1.0).run(None, {"a": np.zeros(2, np.float32), "b": np.zeros(3, np.float32)})


def test_scaled_sum_needs_its_scale() -> None:
    with pytest.raises(ort.Fail, match="scale"):
        session()
