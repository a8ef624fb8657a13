"""Several plugin providers share a model in the caller's order, and the layouts that they ask for are not made up."""

from __future__ import annotations

import numpy as np
import pytest
from execution_provider_cases import MODELS, PLUGINS

import onnx_light_ort as ort

pytestmark = pytest.mark.usefixtures("every_plugin")


def session(model: str, *providers: tuple[str, dict[str, str]]) -> ort.InferenceSession:
    options = ort.SessionOptions()
    for name, provider_options in providers:
        wanted = PLUGINS[name].ep_name
        options.add_provider_for_devices(
            [device for device in ort.get_ep_devices() if device.ep_name == wanted], provider_options
        )
    return ort.InferenceSession(MODELS[model].make().SerializeToString(), options)


def providers(running: ort.InferenceSession) -> dict[str, str]:
    return {row.name: row.provider for row in running.assignment()}


def test_each_node_goes_to_the_first_provider_that_claims_it() -> None:
    """one_pair is Mul, then Add."""
    both = ("kernel_ep", {}), ("kernel_ep_c", {})
    adds = ("kernel_ep", {"claim": "Add"}), ("kernel_ep_c", {})
    feeds = MODELS["one_pair"].feeds()[0]
    (expected,) = session("one_pair").run(None, feeds)
    for order, names in (
        (both, {"mul": "KernelEp", "add": "KernelEp"}),
        (both[::-1], {"mul": "KernelEpC", "add": "KernelEpC"}),
        (adds, {"mul": "KernelEpC", "add": "KernelEp"}),
    ):
        running = session("one_pair", *order)
        assert providers(running) == names
        assert running.get_providers() == [PLUGINS[name].ep_name for name, _ in order] + ["CPUExecutionProvider"]
        np.testing.assert_array_equal(running.run(None, feeds)[0], expected)


def test_partitions_and_kernels_of_two_providers_run_together() -> None:
    feeds = MODELS["pairs"].feeds()[0]
    expected = session("pairs").run(None, feeds)
    running = session("pairs", ("compiling_ep", {}), ("kernel_ep", {}))
    assert {"CompilingEp", "KernelEp"} <= set(providers(running).values())
    for output, wanted in zip(running.run(None, feeds), expected, strict=True):
        np.testing.assert_allclose(output, wanted, rtol=1e-6)


def test_who_was_asked_before_says_why_it_declined() -> None:
    running = session("one_pair", ("kernel_ep", {"claim": "none"}), ("kernel_ep_c", {"claim": "none"}))
    for row in running.assignment():
        assert row.provider == "CPUExecutionProvider"
        assert {str(decline).split(":")[0].split()[0] for decline in row.declined} >= {"KernelEp", "KernelEpC"}


def test_a_claim_that_needs_another_layout_is_refused() -> None:
    with pytest.raises(ort.NotImplemented, match=r"'KernelEp' takes node 'add' \(Add\) with the channels last"):
        session("one_pair", ("kernel_ep", {"variant": "converts_add"}))


def test_a_claim_that_needs_no_other_layout_is_taken() -> None:
    running = session("one_pair", ("kernel_ep", {"variant": "converts_add", "claim": "Mul"}))
    assert providers(running) == {"mul": "KernelEp", "add": "CPUExecutionProvider"}
    running = session("pairs", ("compiling_ep", {"variant": "prefers_nhwc"}))
    assert "CompilingEp" in providers(running).values()
