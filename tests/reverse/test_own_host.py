"""The library for a real ONNX Runtime in this project's own host: as a custom-op library and as a provider."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

import onnx_light_ort as ort
from onnx_light_ort import reverse

FLOAT, BFLOAT16 = TensorProto.FLOAT, TensorProto.BFLOAT16


def model() -> onnx.ModelProto:
    """Attributes left out, an absent optional input, a list of strings, types that change, a constant."""
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
        make_node("Cast", ["s"], ["b"], to=BFLOAT16),
        make_node("Add", ["b", "b"], ["twice"]),
        make_node("Cast", ["twice"], ["c"], to=FLOAT),
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


OPERATORS = {"LSTM", "Squeeze", "Cast", "Add", "Softmax", "Clip"}


def feed(steps: int = 4) -> dict[str, Any]:
    return {"x": np.random.default_rng(steps).normal(size=(steps, 2, 3)).astype(np.float32)}


@pytest.fixture(autouse=True)
def _admitted() -> Iterator[None]:
    before = ort.admission_rule()
    ort.set_admission("any")
    yield
    ort.set_admission(before)


@pytest.fixture
def devices() -> Iterator[list[Any]]:
    ort.register_execution_provider_library("onnx_light", reverse.library_path())
    yield [device for device in ort.get_ep_devices() if device.ep_name == reverse.get_ep_name()]
    ort.unregister_execution_provider_library("onnx_light")


def options(devices: list[Any], claim: str) -> ort.SessionOptions:
    made = ort.SessionOptions()
    made.add_provider_for_devices(devices, {"claim": claim})
    return made


def taken(session: ort.InferenceSession) -> list[str]:
    return [node.op_type for node in session.assignment() if node.provider == reverse.get_ep_name()]


def test_a_rewritten_model_runs_with_the_custom_operators() -> None:
    rewritten = reverse.rewrite(model(), OPERATORS)
    with_library = ort.SessionOptions()
    with_library.register_custom_ops_library(reverse.library_path())
    session = ort.InferenceSession(rewritten.SerializeToString(), with_library)
    assert {node.domain for node in session.assignment()} == {"onnx_light"}
    reference = ort.InferenceSession(model().SerializeToString())
    for steps in (4, 1):
        np.testing.assert_array_equal(session.run(None, feed(steps))[0], reference.run(None, feed(steps))[0])


@pytest.mark.parametrize(
    ("claim", "operators"),
    [("all", OPERATORS), ("missing", {"Add"}), ("Softmax,Clip", {"Softmax", "Clip"})],
)
def test_the_provider_takes_what_its_option_says(devices: list[Any], claim: str, operators: set[str]) -> None:
    session = ort.InferenceSession(model().SerializeToString(), options(devices, claim))
    assert set(taken(session)) == operators
    reference = ort.InferenceSession(model().SerializeToString())
    for steps in (4, 1):
        np.testing.assert_array_equal(session.run(None, feed(steps))[0], reference.run(None, feed(steps))[0])


def test_an_option_that_names_nothing_is_an_error(devices: list[Any]) -> None:
    with pytest.raises(ort.Error, match="'Nonsense'"):
        ort.InferenceSession(model().SerializeToString(), options(devices, "Nonsense"))


def test_what_a_kernel_declines_is_left_to_the_host(devices: list[Any]) -> None:
    """Axes that are no constants: the kernel refuses the node, and so does the claim."""
    graph = make_graph(
        [make_node("Identity", ["text"], ["copy"]), make_node("Neg", ["x"], ["y"])],
        "g",
        [make_tensor_value_info("text", TensorProto.STRING, [1]), make_tensor_value_info("x", FLOAT, [1])],
        [make_tensor_value_info("copy", TensorProto.STRING, [1]), make_tensor_value_info("y", FLOAT, [1])],
    )
    made = make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(made.SerializeToString(), options(devices, "all"))
    assert taken(session) == ["Neg"]
    copy, y = session.run(None, {"text": np.array(["a"], object), "x": np.ones(1, np.float32)})
    assert copy.tolist() == ["a"]
    assert y.tolist() == [-1]


def test_operator_cases_pass_with_the_provider(devices: list[Any]) -> None:
    from onnx.backend.test.case.node import collect_testcases
    from onnx.backend.test.runner import Runner

    with np.errstate(all="ignore"):
        # Random numbers differ from run to run.
        cases = [case for case in collect_testcases(None)[::7] if "bernoulli" not in case.name]
    with_provider = options(devices, "all")
    claimed, wrong = 0, {}
    for case in cases:
        inputs = list(map(as_value, case.data_sets[0][0]))
        try:
            session = ort.InferenceSession(case.model.SerializeToString(), with_provider)
        except ort.Error:
            continue  # what no provider can load, as tests/backend lists it
        if not taken(session) or any(isinstance(value, list) for value in inputs):
            continue
        claimed += 1
        arrays = dict(zip([value.name for value in session.get_inputs()], inputs, strict=True))
        try:
            actual = session.run(None, arrays)
            expected = ort.InferenceSession(case.model.SerializeToString()).run(None, arrays)
            Runner.assert_similar_outputs(expected, actual, rtol=1e-6, atol=1e-6)
        except (ort.Error, AssertionError) as error:
            wrong[case.name] = str(error)
    assert wrong == {}
    assert claimed > 80


def as_value(value: Any) -> Any:
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def test_the_library_goes_when_nobody_uses_it() -> None:
    """As a provider, and as a custom-op library: its code is unmapped, in a process of its own."""
    script = """
        import gc, sys
        from pathlib import Path
        import onnx_light_ort as ort
        from onnx_light_ort import reverse

        def mapped():
            return "libonnx_light_reverse" in Path("/proc/self/maps").read_text()

        ort.set_admission("any")
        for _ in range(3):
            ort.register_execution_provider_library("onnx_light", reverse.library_path())
            assert mapped()
            ort.unregister_execution_provider_library("onnx_light")
            gc.collect()
            assert not mapped(), "after the provider"
            options = ort.SessionOptions()
            options.register_custom_ops_library(reverse.library_path())
            assert mapped()
            del options
            gc.collect()
            assert not mapped(), "after the custom operators"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
