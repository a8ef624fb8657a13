"""Custom ops that a provider's factory brings: some run by their descriptor, some are names that only the provider can
compute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from execution_provider_cases import MODELS, PLUGINS, Counters, counters_of

import onnx_light_ort as ort

MODEL = MODELS["custom_ops"]


@pytest.fixture(autouse=True)
def _admitted() -> Iterator[None]:
    ort.set_admission("any")
    yield
    ort.set_admission("warn")


@pytest.fixture
def library(fixtures_dir: Path) -> Path:
    return PLUGINS["kernel_ep"].path(fixtures_dir)


@pytest.fixture
def counters(library: Path) -> Counters:
    counters = counters_of(library)
    counters.reset()
    return counters


@pytest.fixture
def registered(library: Path) -> Iterator[None]:
    ort.register_execution_provider_library("fixture", str(library))
    yield
    ort.unregister_execution_provider_library("fixture")


def session(**provider_options: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "KernelEp"]
    options.add_provider_for_devices(devices, provider_options)
    return ort.InferenceSession(MODEL.make().SerializeToString(), options)


def kernels(running: ort.InferenceSession) -> dict[str, tuple[str, str]]:
    return {row.op_type: (row.provider, row.kernel) for row in running.assignment()}


@pytest.mark.usefixtures("registered")
def test_an_op_with_a_kernel_runs_by_its_descriptor_where_the_provider_claims_it(counters: Counters) -> None:
    running = session()
    assert kernels(running)["Saxpy"] == ("KernelEp", "KernelEp kernel fixture.kernels::Saxpy (1 and later)")
    running.run(None, MODEL.feeds()[0])
    assert counters["custom_kernels_created"] == counters["custom_kernels_computed"] == 1
    assert (counters["placeholders_created"], counters["placeholders_computed"]) == (0, 0)
    del running
    assert (counters["custom_kernels_released"], counters["eps_released"]) == (1, 1)


@pytest.mark.usefixtures("registered")
def test_an_op_of_the_provider_alone_does_not_run_where_it_is_not_claimed() -> None:
    with pytest.raises(
        ort.NotImplemented, match=r"'saxpy'.*runs on execution provider 'KernelEp', which did not claim"
    ):
        session(claim="Add,Blend")


@pytest.mark.usefixtures("registered")
def test_a_placeholder_runs_by_the_providers_kernel(counters: Counters) -> None:
    provider, kernel = kernels(session())["Blend"]
    assert provider == "KernelEp"
    assert "Blend" in kernel
    assert counters["placeholders_created"] == 0


@pytest.mark.usefixtures("registered")
def test_a_placeholder_that_nobody_claims_does_not_pass_for_a_result(counters: Counters) -> None:
    running = session(claim="Add,Saxpy")
    with pytest.raises(ort.Error, match="Blend"):
        running.run(None, MODEL.feeds()[0])


@pytest.mark.usefixtures("registered")
def test_sessions_without_the_provider_do_not_know_its_ops() -> None:
    with pytest.raises(ort.Error, match=r"Saxpy|Blend"):
        ort.InferenceSession(MODEL.make().SerializeToString())


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("domains_fail", r"OrtEpFactory::GetNumCustomOpDomains failed: .*told to fail"),
        ("domains_throw", r"OrtEpFactory::GetNumCustomOpDomains failed: .*told to throw"),
        ("domain_null", "OrtEpFactory::GetCustomOpDomains left a domain null"),
    ],
)
def test_a_factory_that_does_not_say_its_ops_makes_no_session(
    library: Path, counters: Counters, variant: str, said: str
) -> None:
    ort.register_execution_provider_library(f"any:{variant}", str(library))
    try:
        with pytest.raises(ort.Error, match=f"'KernelEp': {said}"):
            session()
        assert (counters["eps_created"], counters["eps_released"]) == (1, 1)
    finally:
        ort.unregister_execution_provider_library(f"any:{variant}")
    assert counters["factories_released"] == counters["factories_created"]
