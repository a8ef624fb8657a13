"""Plugin EPs do here what they do in ONNX Runtime: the same nodes go to them, and the same values come out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from execution_provider_cases import CASES, PLUGINS, PUBLISHED, REAL_MODELS, Case, Record, run_case
from execution_provider_goldens import read_goldens, sampled
from execution_provider_host import HOST

GOLDENS = read_goldens()

#: Counted when ORT does what the ABI leaves to a host: offers packed weights for sharing, reuses memory, asks how data
#: are best laid out, and what memory an EP prefers.
_FREE = frozenset({
    "shared_packing_offered", "aliased", "computed_in_place", "layout_calls", "default_device_calls",
})  # fmt: skip

#: Claims that ORT mends, passes over with a line in its log, or finds out about when it is too late to say whose they
#: were. Here they end the creation of the session, with the EP, the nodes and the rule.
REFUSED = {
    "ggml mixed partial=1": "makes a cycle: node 'reshape1' (Reshape) -> node 'det' (Det) -> node 'matmul2' (MatMul)",
    "compiling_ep pairs claim=ends": "makes a cycle: node 'mul1' (Mul) -> ",
    "compiling_ep pairs claim=twice": "node 'mul1' (Mul), which 'CompilingEp' has claimed already",
    "compiling_ep pairs claim=node_twice": "node 'mul1' (Mul) twice in one partition",
    "compiling_ep pairs claim=overlap": "node 'add1' (Add), which 'CompilingEp' has claimed already",
    "compiling_ep pairs claim=fused_and_single": "node 'mul1' (Mul), which 'CompilingEp' has claimed already",
    "compiling_ep pairs claim=single_without_kernel": "node 'mul1' (Mul), but has no kernel for it",
    "compiling_ep pairs claim=no_nodes": "no nodes to fuse were given",
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_a_plugin_gets_the_nodes_that_it_gets_in_ort_and_computes_the_same(name: str, every_plugin: Path) -> None:
    case = CASES[name]
    golden, outputs = GOLDENS[name]
    record = run_case(HOST, case, every_plugin)
    assert record.error == golden.error
    if golden.error is None:
        assert (record.claimed, record.then) == (golden.claimed, golden.then)
    assert bound(record) == bound(golden)
    now = sampled(record.outputs)
    assert sorted(now) == sorted(outputs)
    for key, value in outputs.items():
        np.testing.assert_allclose(now[key], value, **tolerance(case), err_msg=key)


def bound(record: Record) -> dict[str, int]:
    """What was counted that any host must do alike."""
    return {name: count for name, count in record.counters.items() if name not in _FREE}


def tolerance(case: Case) -> dict[str, float]:
    # The processor that recorded may sum in another order than this one, and ggml rounds weights to half precision.
    return {"rtol": 1e-3, "atol": 1e-4} if case.plugin == "ggml" else {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("name", REFUSED)
def test_a_claim_that_cannot_be_is_refused(name: str, every_plugin: Path) -> None:
    case = CASES[name]
    plugin = PLUGINS[case.plugin]
    with pytest.raises((HOST.ort.EPFail, HOST.ort.InvalidArgument)) as refusal:
        HOST.session(case.model, HOST.options(plugin, case.options))
    assert f"execution provider '{plugin.ep_name}'" in str(refusal.value)
    assert REFUSED[name] in str(refusal.value)


@pytest.mark.parametrize("plugin", PUBLISHED)
def test_a_published_plugin_takes_at_least_four_models_whole(plugin: str, every_plugin: Path) -> None:
    whole = []
    for case in (case for case in CASES.values() if case.plugin == plugin and not (case.options or case.then)):
        session = HOST.session(case.model, HOST.options(PLUGINS[plugin], case.options))
        if {ep for ep, _ in HOST.placement(session)} == {PLUGINS[plugin].ep_name} and GOLDENS[case.name][
            0
        ].error is None:
            whole.append(case.model)
    assert len(whole) >= 4, whole


@pytest.mark.parametrize("model", REAL_MODELS)
def test_the_fixture_runs_a_third_of_a_real_model(model: str, every_plugin: Path) -> None:
    record = run_case(HOST, CASES[f"kernel_ep {model}"], every_plugin)
    session = HOST.session(model, HOST.options(PLUGINS["kernel_ep"], {"claim": "none"}))
    assert 3 * record.counters["kernels_created"] >= len(session.assignment())
    # In two runs each kernel computed twice, but in none that the plan left out.
    assert record.counters["kernels_computed"] == 2 * record.counters["kernels_created"]
