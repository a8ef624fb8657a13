"""A plugin's kernel gets the nodes that its definition describes, and the assignment tells why it gets no others."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest
from execution_provider_cases import MODELS
from kernel_ep_session import declines, engine_session, kernel_ep_session, kernels_by_node
from onnx import ModelProto, NodeProto, TensorProto, helper
from onnx_models import FLOAT, model, node, value

import onnx_light_ort as ort
from onnx_light_ort.host.plugin_kernels import PluginKernels

pytestmark = pytest.mark.usefixtures("every_plugin")

ENGINE = "CPUExecutionProvider"


TYPES = "T: tensor(double), tensor(float), tensor(int32), tensor(int64)"


def one_node(made: NodeProto, inputs: Sequence[int], output: int, opset: int = 17) -> ModelProto:
    """A model of one node, with inputs and an output of these element types."""
    shape = [2, 4]
    return model(
        [made],
        [value(name, kind, shape) for name, kind in zip(made.input, inputs, strict=True)],
        [value(made.output[0], output, shape)],
        opset=opset,
    )


def add(kind: int = FLOAT, opset: int = 17) -> ModelProto:
    return one_node(node("Add", ["a", "b"], ["y"], "add"), [kind, kind], kind, opset)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64])
@pytest.mark.parametrize("opset", [7, 12, 13, 17])
def test_each_type_and_version_of_a_definition_is_served(kind: int, opset: int) -> None:
    assert kernels_by_node(kernel_ep_session(add(kind, opset))) == {"add": "KernelEp"}


def test_a_type_that_no_definition_has_is_left_to_the_engine() -> None:
    session = kernel_ep_session(add(TensorProto.FLOAT16))
    assert kernels_by_node(session) == {"add": ENGINE}
    why = "T is tensor(float16); it serves tensor(double), tensor(float)"
    assert "KernelEp: not claimed" in declines(session, "add")
    assert f"KernelEp kernel Add (13 to 1000; {TYPES}): type parameter {why}" in declines(session, "add")
    assert why in reasons(add(TensorProto.FLOAT16))


def test_a_version_below_every_definition_is_left_to_the_engine() -> None:
    old = one_node(node("Add", ["a", "b"], ["y"], "add", broadcast=0), [FLOAT, FLOAT], FLOAT, 6)
    assert kernels_by_node(kernel_ep_session(old)) == {"add": ENGINE}
    assert "it serves versions 7 to 12, the node has version 6" in reasons(old)


def test_a_definition_without_an_end_serves_its_first_version_alone() -> None:
    assert kernels_by_node(kernel_ep_session(add(opset=13), variant="definition_open_end")) == {"add": "KernelEp"}
    assert kernels_by_node(kernel_ep_session(add(opset=14), variant="definition_open_end")) == {"add": ENGINE}


def test_every_argument_of_a_type_parameter_counts_not_the_first_alone() -> None:
    # Where's condition is no T, and neither is Reshape's shape.
    shaped = model(
        [node("Reshape", ["x", "shape"], ["y"], "reshape")],
        [value("x", TensorProto.FLOAT16, [2, 4]), value("shape", TensorProto.INT64, [2])],
        [value("y", TensorProto.FLOAT16, [None, None])],
    )
    session = kernel_ep_session(shaped)
    assert kernels_by_node(session) == {"reshape": ENGINE}
    assert "type parameter T is tensor(float16)" in reasons(shaped)


def test_an_operator_of_the_same_name_in_another_domain_is_another_one() -> None:
    function = helper.make_function(
        "my.domain", "Add", ["a", "b"], ["y"], [node("Sub", ["a", "b"], ["y"], "sub")], [helper.make_opsetid("", 17)]
    )
    called = model(
        [node("Add", ["a", "b"], ["y"], "call", domain="my.domain")],
        [value("a"), value("b")],
        [value("y")],
        imports=[("my.domain", 1)],
        functions=[function],
    )
    session = kernel_ep_session(called)
    (y,) = session.run(None, {"a": np.full((1, 4), 5, np.float32), "b": np.full((1, 4), 3, np.float32)})
    np.testing.assert_array_equal(y, np.full((1, 4), 2, np.float32))
    # The function's body is offered after it was inlined.
    assert "KernelEp" in kernels_by_node(session).values()


def test_a_domain_that_is_left_out_is_that_of_onnx() -> None:
    session = kernel_ep_session(add(), variant="definition_without_domain")
    assert kernels_by_node(session) == {"add": "KernelEp"}


def test_control_flow_stays_with_the_engine_and_its_bodies_nodes_do_not() -> None:
    session = kernel_ep_session("captures")
    placed = kernels_by_node(session)
    assert placed.pop("if") == ENGINE
    assert "control flow runs on the engine" in reasons(MODELS["captures"].make())
    assert set(placed.values()) == {"KernelEp"}


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("definition_without_operator", "names no operator: call KernelDefBuilder_SetOperatorType"),
        ("definition_without_provider", "is for execution provider ''"),
        ("definition_of_other_provider", "is for execution provider 'SomebodyElse': pass 'KernelEp'"),
        ("definition_unknown_constraint", "constrains Unheard, and the type parameters of ai.onnx::Add(14) are T"),
        ("definition_constraint_by_argument", "constrains A, and the type parameters of ai.onnx::Add(14) are T"),
    ],
)
def test_a_definition_that_can_serve_nothing_is_passed_over_with_a_warning(
    variant: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "onnx_light_ort"):
        session = kernel_ep_session("one_pair", variant=variant)
    assert kernels_by_node(session) == {"mul": "KernelEp", "add": ENGINE}
    assert any("'KernelEp'" in text and "serves no node" in text and words in text for text in caplog.messages)


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("definition_memory_type_77", "asks for memory type 77 for input 0, which is no OrtMemType"),
        ("definition_alias_of_input_9", "lets output 0 share input 9; ai.onnx::Add(14) has no such pair"),
        ("definition_alias_of_output_9", "lets output 9 share input 0"),
        ("definition_negative_alias", "lets output 0 share input -1"),
    ],
)
def test_what_is_odd_in_a_definition_that_serves_all_the_same_is_told(
    variant: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "onnx_light_ort"):
        session = kernel_ep_session("one_pair", variant=variant)
    assert set(kernels_by_node(session).values()) == {"KernelEp"}
    assert any("'KernelEp'" in text and "Add" in text and words in text for text in caplog.messages)
    x = np.array([[1, -2, 3]], np.float32)
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], engine_session("one_pair").run(None, {"x": x})[0])


def test_memory_that_is_asked_for_on_the_cpu_is_where_it_is_anyway() -> None:
    session = kernel_ep_session("one_pair", variant="definition_cpu_memory")
    assert set(kernels_by_node(session).values()) == {"KernelEp"}


def test_alike_nodes_are_matched_once() -> None:
    count = 10_000
    nodes = [node("Add", [f"v{i}", "v0"], [f"v{i + 1}"], f"add{i}") for i in range(count)]
    proto = model(nodes, [value("v0")], [value(f"v{count}")])
    session = kernel_ep_session(proto)
    assert set(kernels_by_node(session).values()) == {"KernelEp"}
    (provider,) = session._plan.placement.providers
    assert isinstance(provider.kernel_registry, PluginKernels)
    assert len(provider.kernel_registry._found) == 1


def reasons(proto: ModelProto) -> str:
    """Why each definition of the fixture for a model's node does not serve it, of a claim that it should."""
    with pytest.raises(ort.EPFail, match=r"KernelEp.*has no kernel for it") as caught:
        kernel_ep_session(proto, variant="claims_without_kernel")
    return str(caught.value)
