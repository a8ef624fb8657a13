"""Kernels of a plugin's provider run among the engine's, on memory that is theirs as long as they were promised."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from execution_provider_cases import PLUGINS, Counters, counters_of
from kernel_ep_session import engine_session, kernel_ep_session, kernels_by_node
from onnx_models import INT64, constant, model, node, value
from real_models import ALL_MODELS

import onnx_light_ort as ort
from onnx_light_ort.session import InferenceSession


@pytest.fixture
def counters(every_plugin: Path) -> Counters:
    counters = counters_of(PLUGINS["kernel_ep"].path(every_plugin))
    counters.reset()
    return counters


def random(*shape: int, seed: int = 0) -> np.ndarray:
    made: np.ndarray = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return made


@pytest.mark.parametrize("name", ["magika", "minilm_int8", "ocr_direction"])
def test_a_third_of_a_real_model_runs_on_the_plugin_and_gives_the_engines_values(name: str, counters: Counters) -> None:
    real = ALL_MODELS[name]
    proto = onnx.load(real.path())
    session = kernel_ep_session(proto)
    feeds = real.make_feeds()
    outputs = session.run(None, feeds)
    executed = [row for row in session.assignment() if row.kernel not in ("folded", "no-op", "dead")]
    assert counters["kernels_computed"] == sum(row.provider == "KernelEp" for row in executed)
    assert counters["kernels_computed"] >= len(executed) / 3
    for output, expected in zip(outputs, engine_session(proto).run(None, feeds), strict=True):
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)


def test_a_nodes_kernel_is_made_once_and_serves_every_run(counters: Counters) -> None:
    session = kernel_ep_session("one_pair")
    for rows in range(4):  # zero rows first
        x = random(rows, 3)
        np.testing.assert_allclose(session.run(None, {"x": x})[0], x * 2 + 1, rtol=1e-6)
    assert (counters["kernels_created"], counters["kernels_computed"]) == (2, 8)
    del session
    assert counters["kernels_released"] == 2


def test_kernels_see_dense_tensors_however_they_are_fed(counters: Counters) -> None:
    session = kernel_ep_session("one_pair")
    for x in (random(3, 5).T, random(5, 6)[:, ::2], random(5, 3)[::-1], np.broadcast_to(random(3), (5, 3))):
        np.testing.assert_allclose(session.run(None, {"x": x})[0], x * 2 + 1, rtol=1e-6)
    assert counters["kernels_computed"] == 8


def test_kernels_go_with_the_session_and_the_provider_after_them(counters: Counters) -> None:
    session = kernel_ep_session("one_pair")
    assert (counters["kernels_released"], counters["eps_released"]) == (0, 0)
    del session
    assert (counters["kernels_released"], counters["eps_released"]) == (2, 1)


def test_a_session_that_cannot_be_made_leaves_no_kernel_behind(counters: Counters) -> None:
    broken = model(
        [node("Add", ["x", "x"], ["a"], "add"), node("NoSuchOperator", ["a"], ["y"], "unheard", domain="nowhere")],
        [value("x")],
        [value("y")],
        imports=[("nowhere", 1)],
    )
    with pytest.raises(ort.Error, match="NoSuchOperator"):
        kernel_ep_session(broken)
    assert counters["kernels_created"] == counters["kernels_released"]
    assert counters["eps_created"] == counters["eps_released"]


def test_four_threads_get_right_values_from_one_session(counters: Counters) -> None:
    session = kernel_ep_session("kernels_17_float")
    plain = engine_session("kernels_17_float")
    feeds = [{"x": random(2 + i, 3, 4, seed=i), "y": random(3, 1, seed=9)} for i in range(4)]
    expected = [plain.run(None, each)[0] for each in feeds]
    wrong: list[int] = []

    def work(which: int) -> None:
        for _ in range(250):
            if not np.allclose(session.run(None, feeds[which])[0], expected[which], rtol=1e-4, atol=1e-5):
                wrong.append(which)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert counters["kernels_computed"] == 4 * 250 * counters["kernels_created"]


# Aliases


def relu_of_input(*also: str) -> onnx.ModelProto:
    """Relu, which may take its input's buffer, of the model's input and of a value that is read again."""
    nodes = [
        node("Relu", ["x"], ["first"], "of_input"),
        node("Neg", ["first"], ["negative"], "neg"),
        node("Add", ["first", "negative"], ["y"], "add"),
    ]
    return model(nodes, [value("x")], [value("y"), *map(value, also)])


def test_a_mutable_alias_never_writes_what_the_caller_fed(counters: Counters) -> None:
    x = random(3, 4)
    before = x.copy()
    session = kernel_ep_session(relu_of_input())
    (y,) = session.run(None, {"x": x})
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(y, np.zeros((3, 4), np.float32))
    assert counters["computed_in_place"] == 0


def test_a_mutable_alias_takes_the_buffer_of_its_last_reader(counters: Counters) -> None:
    nodes = [node("Add", ["x", "x"], ["double"], "add"), node("Relu", ["double"], ["y"], "relu")]
    session = kernel_ep_session(model(nodes, [value("x")], [value("y")]))
    x = random(3, 4)
    (y,) = session.run(None, {"x": x})
    np.testing.assert_array_equal(y, np.maximum(2 * x, 0))
    assert counters["computed_in_place"] == 1


def test_a_mutable_alias_leaves_an_output_of_the_model_alone(counters: Counters) -> None:
    nodes = [node("Add", ["x", "x"], ["double"], "add"), node("Relu", ["double"], ["y"], "relu")]
    session = kernel_ep_session(model(nodes, [value("x")], [value("y"), value("double")]))
    x = random(3, 4)
    y, double = session.run(None, {"x": x})
    np.testing.assert_array_equal(double, 2 * x)
    np.testing.assert_array_equal(y, np.maximum(2 * x, 0))
    assert counters["computed_in_place"] == 0


def reshaped(*also: str) -> onnx.ModelProto:
    nodes = [node("Add", ["x", "x"], ["double"], "add"), node("Reshape", ["double", "flat"], ["y"], "reshape")]
    return model(nodes, [value("x")], [value("y", shape=[None]), *map(value, also)], [constant("flat", [-1], np.int64)])


@pytest.mark.parametrize(("also", "shared"), [((), 1), (("double",), 0)])
def test_an_alias_begins_with_its_inputs_content_shared_or_copied(
    also: tuple[str, ...], shared: int, counters: Counters
) -> None:
    session = kernel_ep_session(reshaped(*also))
    x = random(3, 4)
    y, *rest = session.run(None, {"x": x})
    np.testing.assert_array_equal(y, (2 * x).ravel())
    for double in rest:
        np.testing.assert_array_equal(double, 2 * x)
    assert counters["aliased"] == shared


# Packing of weights


def packing_session(counters: Counters, **config: str) -> tuple[InferenceSession, dict[str, Any]]:
    """x W, x being fed."""
    weight = random(4, 5, seed=1)
    proto = model(
        [node("MatMul", ["x", "w"], ["y"], "matmul")], [value("x")], [value("y", shape=None)], [constant("w", weight)]
    )
    session = kernel_ep_session(proto, {name.replace("__", "."): text for name, text in config.items()})
    x = random(3, 4, seed=2)
    return session, {"x": x, "expected": x @ weight}


def test_a_kernel_packs_the_constants_that_it_is_offered_and_frees_them_itself(counters: Counters) -> None:
    session, data = packing_session(counters)
    assert (counters["weights_offered"], counters["weights_packed"], counters["shared_packing_offered"]) == (1, 1, 0)
    for _ in range(2):
        np.testing.assert_allclose(session.run(None, {"x": data["x"]})[0], data["expected"], rtol=1e-5, atol=1e-6)
    assert counters["computed_with_packed_weights"] == 2
    del session
    assert (counters["packed_weights_freed"], counters["kernels_released"]) == (1, 1)


def test_a_kernel_works_where_packing_is_switched_off(counters: Counters) -> None:
    session, data = packing_session(counters, session__disable_prepacking="1")
    np.testing.assert_allclose(session.run(None, {"x": data["x"]})[0], data["expected"], rtol=1e-5, atol=1e-6)
    assert (counters["weights_offered"], counters["computed_with_packed_weights"]) == (0, 0)


def test_constants_stay_for_other_readers_of_what_was_packed(counters: Counters) -> None:
    weight = random(4, 4, seed=1)
    nodes = [node("MatMul", ["x", "w"], ["p"], "matmul"), node("Sub", ["p", "w"], ["y"], "sub"),
             node("Sigmoid", ["w"], ["s"], "sigmoid"), node("Add", ["y", "s"], ["z"], "add")]  # fmt: skip
    proto = model(nodes, [value("x", shape=[4, 4])], [value("z", shape=[4, 4])], [constant("w", weight)])
    x = random(4, 4, seed=2)
    session = kernel_ep_session(proto)
    np.testing.assert_allclose(
        session.run(None, {"x": x})[0], x @ weight - weight + 1 / (1 + np.exp(-weight)), rtol=1e-5, atol=1e-5
    )
    assert counters["weights_packed"] == 1


def test_weights_that_a_kernel_packs_count_against_the_sessions_limit(every_plugin: Path) -> None:
    proto = model(
        [node("MatMul", ["x", "w"], ["y"], "matmul")],
        [value("x", shape=[1, 512])],
        [value("y", shape=None)],
        [constant("w", np.zeros((512, 512)))],
    )
    options = ort.SessionOptions()
    options.memory_limit = 512 * 512 * 4 // 2
    options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "KernelEp"], {})
    with pytest.raises(ort.Error, match=r"node 'matmul' \(MatMul\).*'KernelEp'"):
        ort.InferenceSession(proto.SerializeToString(), options)


def test_placement_tells_the_kernel_that_runs_a_node(every_plugin: Path) -> None:
    session = kernel_ep_session("one_pair")
    assert kernels_by_node(session) == {"mul": "KernelEp", "add": "KernelEp"}
    (row,) = [row for row in session.assignment() if row.name == "add"]
    assert row.kernel.startswith("KernelEp kernel Add (13 to 1000; T: ")


def test_integers_of_an_optional_attribute_reach_a_kernel(every_plugin: Path) -> None:
    turned = model([node("Transpose", ["x"], ["y"], "transpose", perm=[1, 0])], [value("x", INT64)],
                   [value("y", INT64, [4, None])])  # fmt: skip
    x = np.arange(8).reshape(2, 4)
    np.testing.assert_array_equal(kernel_ep_session(turned).run(None, {"x": x})[0], x.T)
