"""The kernels as custom operators in a real ORT session: rewritten models compute what the originals do."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.runner import Runner
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from reverse_session import as_value, run, session, taken

from onnx_light_ort import reverse
from onnx_light_ort._native import engine

FLOAT = TensorProto.FLOAT


def custom_op_session(model: onnx.ModelProto) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    options.register_custom_ops_library(reverse.library_path())
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def small_model() -> onnx.ModelProto:
    """Attributes left out, an absent optional input, a list of strings, types that change, symbolic shapes."""
    generator = np.random.default_rng(0)
    constants = {
        "w": generator.normal(size=(1, 20, 3)).astype(np.float32),
        "r": generator.normal(size=(1, 20, 5)).astype(np.float32),
        "axis": np.array([0]),
        "most": np.float32(0.5),
    }
    nodes = [
        make_node("LSTM", ["x", "w", "r"], ["", "h"], hidden_size=5, activations=["Sigmoid", "Tanh", "Tanh"]),
        make_node("Squeeze", ["h", "axis"], ["s"]),
        make_node("Cast", ["s"], ["half"], to=TensorProto.FLOAT16),
        make_node("Cast", ["half"], ["c"], to=FLOAT),
        make_node("Softmax", ["c"], ["p"]),
        make_node("Clip", ["p", "", "most"], ["y"]),
    ]
    graph = make_graph(
        nodes,
        "g",
        [make_tensor_value_info("x", FLOAT, ["steps", 2, 3])],
        [make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8)


def test_a_rewritten_model_computes_what_the_original_does() -> None:
    model = small_model()
    operators = {node.op_type for node in model.graph.node}
    rewritten = reverse.rewrite(model, operators)
    assert {node.domain for node in rewritten.graph.node} == {"onnx_light"}
    assert {node.domain for node in model.graph.node} == {""}, "the model that was given is left alone"
    x = np.random.default_rng(1).normal(size=(4, 2, 3)).astype(np.float32)
    for steps in (4, 1, 3):
        expected = run(session(model, None), {"x": x[:steps]})[0]
        actual = run(custom_op_session(rewritten), {"x": x[:steps]})[0]
        np.testing.assert_allclose(actual, expected, rtol=2e-3)


def test_only_the_operators_that_are_named_are_rewritten() -> None:
    rewritten = reverse.rewrite(small_model(), ["Cast"])
    assert [node.op_type for node in rewritten.graph.node if node.domain == "onnx_light"] == ["Cast", "Cast"]


def test_an_operator_without_kernel_is_named() -> None:
    with pytest.raises(ValueError, match="no kernel computes Scan"):
        reverse.rewrite(small_model(), ["Cast", "Scan"])


def test_subgraphs_are_rewritten() -> None:
    branches = [
        make_graph([make_node(op_type, ["x", "x"], [name])], name, [], [make_tensor_value_info(name, FLOAT, ["n"])])
        for op_type, name in (("Mul", "product"), ("Add", "sum"))
    ]
    graph = make_graph(
        [make_node("If", ["choice"], ["y"], then_branch=branches[0], else_branch=branches[1])],
        "g",
        [make_tensor_value_info("x", FLOAT, ["n"]), make_tensor_value_info("choice", TensorProto.BOOL, [])],
        [make_tensor_value_info("y", FLOAT, ["n"])],
    )
    model = make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8)
    made = custom_op_session(reverse.rewrite(model, ["Mul", "Add"]))
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(run(made, {"x": x, "choice": np.array(True)})[0], x * x)
    np.testing.assert_array_equal(run(made, {"x": x, "choice": np.array(False)})[0], x + x)


def test_shapes_are_inferred_from_the_kernels(tmp_path: Any) -> None:
    """Without what onnx inferred: MatMul, Add, Transpose and Softmax pass extents and symbols on."""
    nodes = [
        make_node("MatMul", ["x", "w"], ["a"]),
        make_node("Add", ["a", "b"], ["c"]),
        make_node("Softmax", ["c"], ["d"]),
        make_node("Transpose", ["d"], ["y"], perm=[1, 0, 2]),
    ]
    graph = make_graph(
        nodes,
        "g",
        [make_tensor_value_info("x", FLOAT, ["n", 3, 8])],
        [make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in {"w": (8, 5), "b": (5,)}.items()],
    )
    model = make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8)
    rewritten = reverse.rewrite(model, ["MatMul", "Add", "Softmax", "Transpose"])
    del rewritten.graph.value_info[:]
    del rewritten.graph.output[0].type.tensor_type.shape.dim[:]
    rewritten.graph.output[0].type.tensor_type.ClearField("shape")
    made = custom_op_session(rewritten)
    assert made.get_outputs()[0].shape == [3, "n", 5]
    assert made.get_outputs()[0].type == "tensor(float)"


def test_extents_that_contents_decide_are_not_made_up() -> None:
    """A kernel that is asked with made-up contents would say any shape: the runtime must not believe it."""
    nodes = [make_node("Reshape", ["x", "shape"], ["a"]), make_node("Relu", ["a"], ["y"])]
    graph = make_graph(
        nodes,
        "g",
        [
            make_tensor_value_info("x", FLOAT, [2, 6]),
            make_tensor_value_info("shape", TensorProto.INT64, [3]),
        ],
        [make_tensor_value_info("y", FLOAT, None)],
    )
    rewritten = reverse.rewrite(make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8), ["Reshape"])
    made = custom_op_session(rewritten)
    feed = {"x": np.ones((2, 6), np.float32), "shape": np.array([3, 2, 2])}
    assert run(made, feed)[0].shape == (3, 2, 2)
    assert made.get_outputs()[0].shape in ([], [None, None, None], ["unk__0", "unk__1", "unk__2"])


def test_a_node_without_a_kernel_for_its_types_says_so() -> None:
    graph = make_graph(
        [make_node("MatMul", ["x", "x"], ["y"])],
        "g",
        [make_tensor_value_info("x", TensorProto.STRING, [2, 2])],
        [make_tensor_value_info("y", TensorProto.STRING, [2, 2])],
    )
    model = make_model(graph, opset_imports=[make_opsetid("onnx_light", 1)], ir_version=8)
    model.graph.node[0].domain = "onnx_light"
    with pytest.raises(Exception, match=r"MatMul.*the C ABI does not show"):
        custom_op_session(model)


def test_operator_cases_pass_as_custom_operators() -> None:
    """Every third case of package onnx of one node that the EP would take."""
    known = {entry.op_type for entry in engine.native_kernels()}
    with np.errstate(all="ignore"):
        cases = [case for case in collect_testcases(None) if len(case.model.graph.node) == 1][::3]
    failures, passed = {}, 0
    for case in cases:
        node = case.model.graph.node[0]
        if node.op_type not in known or node.domain or not the_provider_takes(case.model):
            continue
        values = [*case.model.graph.input, *case.model.graph.output]
        if any(value.type.tensor_type.elem_type > TensorProto.FLOAT4E2M1 for value in values):
            continue  # ORT lets no custom operator see int2, uint2 and float8e8m0
        names = [value.name for value in case.model.graph.input]
        for inputs, outputs in case.data_sets:
            try:
                made = custom_op_session(reverse.rewrite(case.model, [node.op_type]))
                actual = run(made, dict(zip(names, map(as_value, inputs), strict=True)))
                Runner.assert_similar_outputs(list(map(as_value, outputs)), actual, rtol=case.rtol, atol=case.atol)
                passed += 1
            except (Exception, AssertionError) as error:
                failures[case.name] = str(error)[:200]
    assert failures == {}
    assert passed > 150


def the_provider_takes(model: onnx.ModelProto) -> bool:
    try:
        return taken(session(model, "all")) == [model.graph.node[0].op_type]
    except Exception:
        return False
