"""Model-local functions are inlined; operators without a kernel run by the function bodies of their schemas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper
from onnx_models import BOOL, graph, model, node, opset, value

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import KernelRegistry

X = np.array([[-1, 2, -3, 4]], np.float32)


def function(name: str, inputs: Any, outputs: Any, nodes: Any, *, imports: Any = (), **given: Any) -> Any:
    return helper.make_function("local", name, inputs, outputs, nodes, [opset(17), *imports], **given)


def run(*nodes: Any, functions: Any, x: Any = X, **given: Any) -> Any:
    proto = model(list(nodes), imports=[("local", 1)], functions=functions, **given)
    return ort.InferenceSession(proto).run(None, {"x": x})[0]


def call(name: str = "F", inputs: Any = ("x",), outputs: Any = ("y",), **attributes: Any) -> Any:
    return node(name, list(inputs), list(outputs), name=f"call {name}", domain="local", **attributes)


def test_attributes_of_the_call_reach_the_body_and_defaults_fill_in() -> None:
    scale = node("LeakyRelu", ["a"], ["b"])
    scale.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    plain = function("F", ["a"], ["b"], [scale], attributes=["slope"])
    np.testing.assert_array_equal(run(call(slope=0.5), functions=[plain]), [[-0.5, 2, -1.5, 4]])
    np.testing.assert_allclose(run(call(), functions=[plain]), [[-0.01, 2, -0.03, 4]])
    defaulted = function("F", ["a"], ["b"], [scale], attribute_protos=[helper.make_attribute("slope", 0.25)])
    np.testing.assert_array_equal(run(call(), functions=[defaulted]), [[-0.25, 2, -0.75, 4]])


def test_functions_call_functions_and_names_do_not_clash() -> None:
    inner = function("G", ["a"], ["b"], [node("Relu", ["a"], ["t"], name="n"), node("Neg", ["t"], ["b"], name="m")])
    outer = function(
        "F", ["a"], ["b"],
        [node("G", ["a"], ["t"], domain="local", name="n"), node("G", ["t"], ["u"], domain="local", name="m"),
         node("Add", ["t", "u"], ["b"])],
        imports=[opset(1, "local")],
    )  # fmt: skip
    twice = [call(outputs=["t"]), node("F", ["t"], ["y"], name="n", domain="local")]

    def g(x: Any) -> Any:
        return -np.maximum(x, 0)

    def f(x: Any) -> Any:
        return g(x) + g(g(x))

    np.testing.assert_array_equal(run(*twice, functions=[outer, inner]), f(f(X)))


def test_a_function_may_import_another_opset_than_the_model() -> None:
    # Softmax of opset 12 works on the flattened matrix, that of 13 along the axis.
    old = helper.make_function("local", "F", ["a"], ["b"], [node("Softmax", ["a"], ["b"], axis=1)], [opset(12)])
    x = np.random.default_rng(0).standard_normal((2, 2, 3)).astype(np.float32)
    y = run(call(), functions=[old], x=x, inputs=[value("x", shape=[2, 2, 3])], outputs=[value("y", shape=[2, 2, 3])])
    flat = np.exp(x.reshape(2, 6))
    np.testing.assert_allclose(y, (flat / flat.sum(1, keepdims=True)).reshape(2, 2, 3), rtol=1e-5)


def test_optional_inputs_and_outputs_of_a_call_may_be_left_out() -> None:
    clip = function(
        "F", ["a", "low", "high"], ["b", "c"], [node("Clip", ["a", "low", "high"], ["b"]), node("Neg", ["b"], ["c"])]
    )
    one = {"x": X[:, 1:2], "inputs": [value("x", shape=[1, 1])], "outputs": [value("y", shape=[1, 1])]}
    np.testing.assert_array_equal(run(call(inputs=["x", "", "x"], outputs=["", "y"]), functions=[clip], **one), [[-2]])
    np.testing.assert_array_equal(run(call(), functions=[clip]), X)


def test_an_output_that_is_an_input() -> None:
    through = function("F", ["a"], ["a"], [])
    np.testing.assert_array_equal(run(call(outputs=["t"]), node("Neg", ["t"], ["y"]), functions=[through]), -X)


def test_a_body_with_a_subgraph_that_captures() -> None:
    then_branch = graph([node("Add", ["t", "a"], ["t2"])], [], [value("t2")], name="t")
    else_branch = graph([node("Neg", ["a"], ["t2"])], [], [value("t2")], name="e")
    body = [
        node("Abs", ["a"], ["t"]),
        node("ReduceSum", ["a"], ["s"], keepdims=0),
        node("Cast", ["s"], ["c"], to=BOOL),
        node("If", ["c"], ["b"], then_branch=then_branch, else_branch=else_branch),
    ]
    conditional = function("F", ["a"], ["b"], body)
    # The caller has values of the same names.
    caller = [node("Neg", ["x"], ["t"]), call(inputs=["t"], outputs=["t2"]), node("Identity", ["t2"], ["y"])]
    np.testing.assert_array_equal(run(*caller, functions=[conditional]), np.abs(X) - X)


def test_a_call_inside_of_a_subgraph_is_inlined_there() -> None:
    neg = function("F", ["a"], ["b"], [node("Neg", ["a"], ["b"])])
    inside = graph([call(outputs=["t"])], [], [value("t")], name="inside")
    proto = model(
        [node("If", ["c"], ["y"], then_branch=inside, else_branch=inside)],
        [value("c", BOOL, []), value("x")],
        imports=[("local", 1)],
        functions=[neg],
    )
    np.testing.assert_array_equal(ort.InferenceSession(proto).run(None, {"c": np.array(True), "x": X})[0], -X)


def test_a_function_that_calls_itself_is_refused() -> None:
    endless = function("F", ["a"], ["b"], [node("F", ["a"], ["b"], domain="local")], imports=[opset(1, "local")])
    with pytest.raises(ort.Error):
        run(call(), functions=[endless])


def test_too_many_inputs_of_a_call_are_refused() -> None:
    neg = function("F", ["a"], ["b"], [node("Neg", ["a"], ["b"])])
    with pytest.raises(ort.Error, match="call F"):
        run(call(inputs=["x", "x"]), functions=[neg])


def test_an_error_in_a_body_names_the_operator() -> None:
    bad = function("F", ["a"], ["b"], [node("Nope", ["a"], ["b"], name="bad")])
    with pytest.raises(ort.Error, match="Nope"):
        run(call(), functions=[bad])


def test_an_operator_without_kernel_runs_by_its_function_body() -> None:
    subtract = graph([node("Sub", ["e", "x"], ["f"])], [value("e")], [value("f")], name="m")
    proto = model(
        [
            node("Neg", ["x"], ["n"]),
            node("SequenceConstruct", ["n", "x"], ["q"]),
            node("SequenceMap", ["q"], ["r"], name="map", body=subtract),
            node("SequenceAt", ["r", "i"], ["y"]),
        ],
        initializers=[helper.make_tensor("i", TensorProto.INT64, [], [0])],
    )
    session = ort.InferenceSession(proto)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], -2 * X)
    assert {row.op_type for row in session.assignment() if row.expanded_from == "map"} >= {"Loop"}


def test_a_kernel_of_the_caller_keeps_an_operator_whole() -> None:
    registry = KernelRegistry("mine")
    registry.register_kernel("", "Celu", 1, None, {}, lambda resolved: lambda x: x * resolved.attributes["alpha"])
    options = ort.SessionOptions()
    options.add_kernel_registry(registry)
    session = ort.InferenceSession(model([node("Celu", ["x"], ["y"], alpha=3.0)]), options)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X * 3)
