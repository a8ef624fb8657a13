"""What sessions may ask of a compiling EP, what it is held to, and what it leaves behind."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import pytest
from compiling_ep_session import PLUGIN, compiling_ep_options, compiling_ep_session
from execution_provider_cases import MODELS, PLUGINS, Counters, counters_of
from onnx_models import constant, graph, model, node, opset, value

import onnx_light_ort as ort
from onnx_light_ort.host import log_delivery

#: Counted once for each that was made, and once when it is released.
_PAIRS = (
    ("infos_made", "infos_released"),
    ("states_created", "states_released"),
    ("eps_created", "eps_released"),
)


@pytest.fixture
def counters(every_plugin: Path) -> Iterator[Counters]:
    """Starts at zero; in the end, everything that was made must have been released."""
    found = counters_of(PLUGIN.path(every_plugin))
    gc.collect()
    found.reset()
    yield found
    gc.collect()
    for made, released in _PAIRS:
        assert found[made] == found[released], made


def session(model: str = "pairs", **ep_options: str) -> ort.InferenceSession:
    return compiling_ep_session(model, **ep_options)


def outputs(made: ort.InferenceSession, name: str = "pairs") -> list[list[np.ndarray]]:
    return [made.run(None, feeds) for feeds in MODELS[name].feeds()]


def expected(name: str) -> list[list[np.ndarray]]:
    """By the engine alone."""
    return outputs(ort.InferenceSession(MODELS[name].make().SerializeToString()), name)


def assert_right(made: ort.InferenceSession, name: str = "pairs") -> None:
    for some, others in zip(outputs(made, name), expected(name), strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@contextmanager
def refused(error: type[ort.Error], *parts: str) -> Iterator[None]:
    """The message has these parts."""
    with pytest.raises(error) as caught:
        yield
    for part in ("'CompilingEp'", *parts):
        assert part in str(caught.value), caught.value


def configured(key: str, text: str, **ep_options: str) -> ort.SessionOptions:
    made = compiling_ep_options(**ep_options)
    made.add_session_config_entry(key, text)
    return made


def test_no_provider_is_made_for_a_model_that_is_wrong(counters: Counters) -> None:
    with pytest.raises(ort.InvalidProtobuf):
        ort.InferenceSession(b"no model", compiling_ep_options())
    wrong = model([node("Nope", ["x"], ["y"])], [value("x")]).SerializeToString()
    with pytest.raises(ort.InvalidGraph):
        ort.InferenceSession(wrong, compiling_ep_options())
    assert counters["eps_created"] == 0


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("ep.context_enable", "compiled models (EPContext) are not written"),
        ("ep.enable_weightless", "weightless"),
        ("ep.enable_weightless_ep_context_nodes", "weightless"),
    ],
)
def test_a_session_that_asks_for_a_compiled_model_is_refused(counters: Counters, key: str, reason: str) -> None:
    with pytest.raises(ort.NotImplemented) as caught:
        compiling_ep_session("pairs", configured(key, "1"))
    assert key in str(caught.value)
    assert reason in str(caught.value)
    assert counters["eps_created"] == 0
    assert_right(compiling_ep_session("pairs", configured(key, "0")))


def test_a_session_that_forbids_compiling_is_refused_where_there_is_something_to_compile(counters: Counters) -> None:
    with refused(ort.ModelRequiresCompilation, "session.disable_model_compile"):
        compiling_ep_session("pairs", configured("session.disable_model_compile", "1"))
    assert counters["compile_calls"] == 0
    assert_right(compiling_ep_session("pairs", configured("session.disable_model_compile", "1", claim="none")))


@pytest.mark.parametrize(
    ("variant", "parts"),
    [
        ("compile_fails", ["OrtEp::Compile failed", "told to fail in Compile"]),
        ("compile_throws", ["OrtEp::Compile", "threw", "told to throw in Compile"]),
        ("compile_fails_late", ["OrtEp::Compile failed", "after its first partition"]),
        ("compile_gives_fewer", ["no OrtNodeComputeInfo", "graph 1 of 2"]),
        ("compile_gives_one_twice", ["the same OrtNodeComputeInfo for two partitions"]),
        ("no_compile_callback", ["has no Compile", "needs both"]),
        ("no_release_infos_callback", ["has no ReleaseNodeComputeInfos", "needs both"]),
        ("no_create_state_callback", ["has no CreateState", "partition"]),
        ("no_compute_callback", ["has no Compute:", "partition"]),
        ("no_release_state_callback", ["has no ReleaseState", "partition"]),
        ("create_state_fails", ["OrtNodeComputeInfo::CreateState failed", "told to fail at create_state"]),
        ("create_state_throws", ["OrtNodeComputeInfo::CreateState", "threw", "told to throw at create_state"]),
        ("capability_fails", ["OrtEp::GetCapability failed", "told to fail at capability"]),
        ("capability_throws", ["OrtEp::GetCapability", "threw", "told to throw at capability"]),
    ],
)
def test_what_fails_while_a_session_is_made_fails_the_session(
    counters: Counters, variant: str, parts: list[str]
) -> None:
    with refused(ort.Error, *parts):
        session(variant=variant)
    assert counters["computed"] == 0, "nothing falls back"
    assert counters["release_infos_calls"] == (1 if counters["infos_made"] else 0)


@pytest.mark.parametrize("variant", ["info_version_0", "info_version_22", "info_version_30", "info_version_40"])
def test_the_version_of_a_compute_info_does_not_matter(counters: Counters, variant: str) -> None:
    assert_right(session(variant=variant))


def test_a_null_state_is_a_state_and_is_not_released(counters: Counters) -> None:
    made = session(variant="create_state_gives_null")
    with refused(ort.EPFail, "computes nothing without its state"):
        outputs(made)
    del made
    gc.collect()
    assert counters["states_released"] == 0
    counters.reset()  # It counts the states that it was asked for.


@pytest.mark.parametrize("variant", ["compute_fails", "compute_throws"])
def test_what_fails_in_a_run_fails_each_run(counters: Counters, variant: str) -> None:
    made = session(variant=variant)
    for _ in range(2):
        with refused(ort.Error, "OrtNodeComputeInfo::Compute", "at compute", "node 'CompilingEp_"):
            outputs(made)


def test_a_run_that_fails_in_its_middle_leaves_a_session_that_runs(counters: Counters) -> None:
    made = session(fail_at="2")  # The second partition of the first run; the engine has run a node between the two.
    with refused(ort.EPFail, "told to fail at call 2"):
        outputs(made)
    assert_right(made)


def test_an_output_that_is_not_made_is_an_error(counters: Counters) -> None:
    made = session(compute="nothing")
    with pytest.raises(ort.Fail, match="made no output 0"):
        outputs(made)


@pytest.mark.parametrize(
    ("variant", "callback"),
    [
        ("release_state_throws", "OrtNodeComputeInfo::ReleaseState"),
        ("release_infos_throws", "OrtEp::ReleaseNodeComputeInfos"),
    ],
)
def test_what_throws_while_it_is_released_is_logged(
    counters: Counters, caplog: pytest.LogCaptureFixture, variant: str, callback: str
) -> None:
    options = compiling_ep_options(variant=variant)
    options.log_severity_level = 3
    with caplog.at_level(logging.ERROR, logger="onnx_light_ort"):
        made = compiling_ep_session("pairs", options)
        assert_right(made)
        del made
        gc.collect()
        log_delivery.flush()
    assert any("'CompilingEp'" in record.message and callback in record.message for record in caplog.records)


@pytest.mark.parametrize(
    ("claim", "name", "parts"),
    [
        ("ends", "pairs", ["'mul1'", "'sub'", "cycle", "node 'mul1' (Mul) -> node 'add1' (Add)"]),
        ("node_twice", "pairs", ["node 'mul1' (Mul) twice"]),
        ("twice", "pairs", ["node 'mul1' (Mul)", "claimed already"]),
        ("overlap", "pairs", ["node 'add1' (Add)", "claimed already"]),
        ("fused_and_single", "pairs", ["node 'mul1' (Mul)", "claimed already"]),
        ("inner_node", "captures", ["is no node of graph"]),
    ],
)
def test_what_cannot_be_claimed_is_refused_before_anything_is_compiled(
    counters: Counters, claim: str, name: str, parts: list[str]
) -> None:
    with refused(ort.Error, *parts):
        session(name, claim=claim)
    assert counters["compile_calls"] == 0


def test_nodes_of_a_view_are_claimed_also_where_the_view_is_released_before_the_answer(counters: Counters) -> None:
    made = session(claim="released_view")
    assert_right(made)
    assert counters["infos_made"] == counters["partitions_claimed"] > 0
    assert counters["computed"] > 0


def test_a_capability_that_claims_nothing_leaves_all_to_the_engine(counters: Counters) -> None:
    made = session(claim="none")
    assert_right(made)
    assert {row.provider for row in made.assignment()} == {"CPUExecutionProvider"}
    assert counters["compile_calls"] == 0


def test_what_the_first_of_two_eps_took_is_closed_to_the_second(counters: Counters) -> None:
    options = compiling_ep_options(claim="pairs")
    kernels = PLUGINS["kernel_ep"]
    devices = [device for device in ort.get_ep_devices() if device.ep_name == kernels.ep_name]
    options.add_provider_for_devices(devices, {"claim": "Sigmoid,Add,Mul"})
    made = compiling_ep_session("pairs", options)
    assert_right(made)
    by_name = {row.name: row.provider for row in made.assignment()}
    assert by_name["mul1"] == by_name["add1"] == by_name["mul2"] == by_name["add2"] == "CompilingEp"
    assert "CompilingEp" in made.get_providers()


def test_a_large_partition_runs_with_all_its_constants_as_inputs(counters: Counters) -> None:
    """More inputs than a context holds in place."""
    nodes = [node("Add", ["x" if i == 0 else f"a{i - 1}", f"c{i}"], [f"a{i}"], f"add{i}") for i in range(40)]
    constants = [constant(f"c{i}", [i]) for i in range(40)]
    proto = model(nodes, [value("x", shape=[4])], [value("a39", shape=[4])], constants)
    made = compiling_ep_session(proto, claim="all")
    x = np.arange(4, dtype=np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(made.run(None, {"x": x})[0], x + sum(range(40)))
    assert counters["fused_inputs"] == 41


def partitions(made: ort.InferenceSession) -> list[list[str]]:
    """The names of each partition's nodes."""
    found: dict[str, list[str]] = {}
    for row in made.assignment():
        if row.partition is not None:
            found.setdefault(row.partition, []).append(row.name)
    return sorted(found.values())


def test_an_ep_is_shown_the_nodes_in_the_order_that_ort_lists_them_in(counters: Counters) -> None:
    # It walks back from the ends of the graph, and begins with the last one: so that one is listed first.
    nodes = [
        node("Add", ["x", "x"], ["s"], "add"),
        node("Neg", ["x"], ["o"], "other"),
        node("Sigmoid", ["s"], ["y"], "sigmoid"),
    ]
    results = [value("y"), value("o")]
    assert partitions(compiling_ep_session(model(nodes, outputs=results), claim="runs")) == [["add"], ["other"]]
    nodes.append(nodes.pop(1))
    assert partitions(compiling_ep_session(model(nodes, outputs=results), claim="runs")) == [["add", "other"]]


def test_a_call_that_no_ep_takes_is_no_border_between_partitions(counters: Counters) -> None:
    nodes = [
        node("Relu", ["x"], ["a"], "before"),
        node("Twice", ["a"], ["b"], "call", domain="own"),
        node("Neg", ["b"], ["y"], "after"),
    ]
    function = onnx.helper.make_function(
        "own", "Twice", ["p"], ["q"], [node("Add", ["p", "p"], ["q"], "add")], [opset(17)]
    )
    made = compiling_ep_session(model(nodes, imports=[("own", 1)], functions=[function]), claim="runs")
    assert counters["compile_calls"] == counters["infos_made"] == 1
    (array,) = made.run(None, {"x": np.array([[1, -2, 3, 4]], np.float32)})
    np.testing.assert_array_equal(array, np.array([[-2, 0, -6, -8]], np.float32))


def test_an_operator_that_has_no_kernel_is_offered_as_its_body(counters: Counters) -> None:
    """SequenceMap, here of an operator that the EP takes."""
    twice = graph([node("Add", ["e", "e"], ["f"], "inner")], [value("e")], [value("f")], name="body")
    nodes = [
        node("SequenceConstruct", ["x"], ["q"]),
        node("SequenceMap", ["q"], ["r"], "map", body=twice),
        node("SequenceAt", ["r", "first"], ["y"]),
    ]
    made = compiling_ep_session(model(nodes, initializers=[constant("first", 0, np.int64)]), claim="runs")
    taken = [row.op_type for row in made.assignment() if row.expanded_from == "map" and row.provider == "CompilingEp"]
    assert taken == ["Add"]
    (array,) = made.run(None, {"x": np.array([[1, -2, 3, 4]], np.float32)})
    np.testing.assert_array_equal(array, np.array([[2, -4, 6, 8]], np.float32))
