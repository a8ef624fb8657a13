"""What goes wrong in a plugin's kernels or its registry is an error that names the provider, the node and the rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from execution_provider_cases import MODELS, PLUGINS, Counters, counters_of
from kernel_ep_session import kernel_ep_session, kernels_by_node

import onnx_light_ort as ort


@pytest.fixture
def counters(every_plugin: Path) -> Counters:
    counters = counters_of(PLUGINS["kernel_ep"].path(every_plugin))
    counters.reset()
    return counters


NODE = r"node 'mul' \(Mul\)"
PROVIDER = r"execution provider 'KernelEp'"


@pytest.mark.parametrize(
    ("variant", "error", "words"),
    [
        ("create_kernel_fails", ort.Fail, "OrtKernelCreateFunc failed: KernelEp was told to fail"),
        ("create_kernel_throws", ort.Error, "OrtKernelCreateFunc threw an exception: KernelEp was told to throw"),
        ("create_kernel_gives_null", ort.EPFail, r"OrtKernelCreateFunc reported success and made no kernel: set \*ker"),
        ("kernel_without_compute", ort.EPFail, "its OrtKernelImpl has no Compute: set the callback"),
        ("kernel_without_release", ort.EPFail, "its OrtKernelImpl has no Release: set the callback"),
    ],
)
def test_a_kernel_that_cannot_be_made_ends_the_making_of_the_session(
    variant: str, error: type[Exception], words: str, counters: Counters
) -> None:
    with pytest.raises(error, match=f"{NODE}: .*{PROVIDER}: .*{words}"):
        kernel_ep_session("one_pair", variant=variant)
    kept = 1 if variant == "kernel_without_release" else 0
    assert counters["kernels_created"] - counters["kernels_released"] == kept
    assert (counters["eps_created"], counters["eps_released"]) == (1, 1)


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("prepack_fails", "OrtKernelImpl::PrePackWeight failed: KernelEp was told to fail"),
        ("prepack_throws", "OrtKernelImpl::PrePackWeight threw an exception: KernelEp was told to throw"),
    ],
)
def test_packing_that_fails_ends_the_making_of_the_session(variant: str, words: str, counters: Counters) -> None:
    with pytest.raises(ort.Error, match=rf"node 'matmul' \(MatMul\): .*{PROVIDER}: .*{words}"):
        kernel_ep_session("kernels_17_float", variant=variant)
    assert counters["kernels_created"] == counters["kernels_released"] > 0
    assert (counters["eps_created"], counters["eps_released"]) == (1, 1)


def test_a_kernel_that_declines_to_pack_gets_its_weight_at_every_run(counters: Counters) -> None:
    session = kernel_ep_session("kernels_17_float", variant="prepack_declines")
    for feeds in MODELS["kernels_17_float"].feeds():
        session.run(None, feeds)
    assert (counters["weights_offered"], counters["weights_packed"]) == (1, 0)


@pytest.mark.parametrize(
    ("variant", "error", "words"),
    [
        ("compute_fails", ort.Fail, "OrtKernelImpl::Compute failed: KernelEp was told to fail"),
        ("compute_throws", ort.Error, "OrtKernelImpl::Compute threw an exception: KernelEp was told to throw"),
        ("compute_asks_for_input_9", ort.Fail, "OrtKernelImpl::Compute failed: an input is absent"),
        (
            "compute_asks_twice",
            ort.InvalidArgument,
            r"output 0 was asked for with dimensions \[3\] and then with \[2, 5\]",
        ),
        ("compute_negative_extent", ort.Fail, "output 0 was asked for with a negative dimension"),
    ],
)
def test_a_run_fails_whose_kernel_does(variant: str, error: type[Exception], words: str, counters: Counters) -> None:
    session = kernel_ep_session("one_pair", variant=variant)
    assert set(kernels_by_node(session).values()) == {"KernelEp"}
    for _ in range(2):
        with pytest.raises(error, match=f"{NODE}: .*{PROVIDER}: .*{words}"):
            session.run(None, {"x": np.ones((2, 3), np.float32)})
    del session
    assert counters["kernels_created"] == counters["kernels_released"] == 2


def test_a_kernel_that_reports_success_and_makes_no_output_is_named(counters: Counters) -> None:
    session = kernel_ep_session("one_pair", variant="compute_without_output")
    with pytest.raises(
        ort.Fail, match=rf"{NODE}: the kernel of {PROVIDER} returned success and made no output 0 \('m'\)"
    ):
        session.run(None, {"x": np.ones((2, 3), np.float32)})


def test_an_output_that_the_node_has_not_is_null(counters: Counters) -> None:
    # The fixture does not look at what it got, and so asks for the data of null.
    session = kernel_ep_session("one_pair", variant="compute_asks_for_output_9")
    with pytest.raises(ort.Error, match=f"{NODE}: .*{PROVIDER}"):
        session.run(None, {"x": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("registry_fails", "OrtEp::GetKernelRegistry failed: KernelEp was told to fail"),
        ("registry_throws", "OrtEp::GetKernelRegistry threw an exception: KernelEp was told to throw"),
    ],
)
def test_a_registry_that_is_not_given_ends_the_making_of_the_session(
    variant: str, words: str, counters: Counters
) -> None:
    with pytest.raises(ort.Error, match=f"{PROVIDER}: .*{words}"):
        kernel_ep_session("one_pair", variant=variant)
    assert (counters["eps_created"], counters["eps_released"]) == (1, 1)


def test_a_provider_without_a_registry_has_no_kernels(counters: Counters) -> None:
    session = kernel_ep_session("one_pair", variant="registry_null")
    assert set(kernels_by_node(session).values()) == {"CPUExecutionProvider"}


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("definition_inverted_range", "since-versions 12 to 7 are no range: start at 1 or later"),
        ("definition_empty_constraint", "type parameter 'T' is given no type: pass those that the kernel serves"),
        ("definition_twice", "KernelRegistry_AddKernel: parameter 'kernel_def' must not be null"),
        ("definition_without_version", "'KernelEp' has a kernel for ai.onnx::Add since 1 already"),
    ],
)
def test_a_definition_that_the_slots_refuse_is_the_providers_failure(
    variant: str, words: str, counters: Counters
) -> None:
    with pytest.raises(ort.Error, match=f"{PROVIDER}: .*{words}"):
        kernel_ep_session("one_pair", variant=variant)
    assert counters["eps_created"] == counters["eps_released"]
