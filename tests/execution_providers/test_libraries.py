"""Libraries of execution providers are registered and unregistered whole, and show what they offer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from custom_ops.custom_op_cases import library_path
from execution_provider_cases import MODELS, PLUGINS

import onnx_light_ort as ort
from onnx_light_ort._native import abi
from onnx_light_ort.host.memory_map import mapped_files


@pytest.fixture(autouse=True)
def _admitted() -> Iterator[None]:
    ort.set_admission("any")
    yield
    ort.set_admission("warn")


@pytest.fixture
def library(fixtures_dir: Path) -> str:
    return str(PLUGINS["kernel_ep"].path(fixtures_dir))


@pytest.fixture
def registered(library: str) -> Iterator[str]:
    """The name under which the fixture is registered while a test runs."""
    ort.register_execution_provider_library("fixture", library)
    yield "fixture"
    ort.unregister_execution_provider_library("fixture")


def devices(name: str = "KernelEp") -> list[ort.OrtEpDevice]:
    return [device for device in ort.get_ep_devices() if device.ep_name == name]


def options_for(name: str = "KernelEp", **provider_options: str) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices(name), provider_options)
    return options


def model(name: str = "one_pair") -> bytes:
    return MODELS[name].make().SerializeToString()


def cpu_vendor() -> str:
    text = Path("/proc/cpuinfo").read_text()
    return next(line.split(":")[1].strip() for line in text.splitlines() if line.startswith("vendor_id"))


# Devices


def test_without_libraries_there_is_the_engine_on_the_hosts_cpu() -> None:
    (device,) = ort.get_ep_devices()
    assert device.ep_name == "CPUExecutionProvider"
    assert device.ep_metadata == {"version": ort.__version__}
    assert device.device.type == ort.OrtHardwareDeviceType.CPU
    assert device.device.origin == "host"


@pytest.mark.skipif(cpu_vendor() not in ("AuthenticAMD", "GenuineIntel"), reason="a vendor that ORT does not name")
def test_the_hosts_cpu_is_described_as_ort_describes_it() -> None:
    hardware = ort.get_ep_devices()[0].device
    expected = {"AuthenticAMD": ("AMD", 0x1022), "GenuineIntel": ("Intel", 0x8086)}[cpu_vendor()]
    assert (hardware.vendor, hardware.vendor_id, hardware.device_id, hardware.metadata) == (*expected, 0, {})


def test_a_library_shows_its_devices(registered: str, library: str) -> None:
    (device,) = devices()
    assert (device.ep_vendor, device.ep_options) == ("fixture", {})
    assert device.ep_metadata == {"version": "1.2.3", "library_path": library}
    assert device.device == ort.get_ep_devices()[0].device
    assert devices() == [device]


def test_a_caller_describes_hardware_that_the_host_does_not_see(library: str) -> None:
    hardware = ort.HardwareDevice(ort.OrtHardwareDeviceType.CPU, 0x1234, 7, "Caller", {"socket": "1"})
    ort.register_execution_provider_library("fixture", library, hardware_devices=[hardware])
    try:
        own, given = devices()
        assert (own.device.origin, given.device.origin) == ("host", "caller")
        assert given.device is hardware
        session = ort.InferenceSession(model(), sess_options=_with([given]))
        assert session.get_providers() == ["KernelEp", "CPUExecutionProvider"]
        del session
    finally:
        ort.unregister_execution_provider_library("fixture")


def _with(chosen: list[ort.OrtEpDevice]) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.add_provider_for_devices(chosen, {"claim": "none"})
    return options


def test_hardware_that_a_plugin_made_up_is_told_from_the_hosts(library: str) -> None:
    ort.register_execution_provider_library("any:made_up_hardware", library)
    try:
        own, made_up = devices()
        assert (own.device.origin, made_up.device.origin) == ("host", "plugin")
        assert made_up.device.type == ort.OrtHardwareDeviceType.NPU
        assert (made_up.device.vendor_id, made_up.device.device_id, made_up.device.vendor) == (0xF1C5, 7, "fixture")
    finally:
        ort.unregister_execution_provider_library("any:made_up_hardware")


def test_memory_that_is_not_the_cpus_is_refused(library: str) -> None:
    with pytest.raises(ort.EntryPointError, match=r"'KernelEp'.*claims GPU memory \('fixture GPU'\)") as caught:
        ort.register_execution_provider_library("any:gpu_memory", library)
    assert caught.value.code == 9
    assert devices() == []


# Names


def test_a_name_is_taken_once(registered: str, library: str) -> None:
    with pytest.raises(ort.Fail, match="already registered under 'fixture'"):
        ort.register_execution_provider_library("fixture", library)
    assert len(devices()) == 1


def test_a_name_is_free_again(library: str) -> None:
    for _ in range(2):
        ort.register_execution_provider_library("fixture", library)
        ort.unregister_execution_provider_library("fixture")
    assert devices() == []


def test_a_library_may_have_two_names(registered: str, library: str) -> None:
    ort.register_execution_provider_library("other", library)
    assert len(devices()) == 2
    report = ort.unregister_execution_provider_library("other")
    assert not report.unmapped
    assert "loaded it 1 more time" in str(report)
    assert len(devices()) == 1


def test_an_unknown_name_is_refused(registered: str) -> None:
    with pytest.raises(ort.Fail, match="no library is registered under 'unheard'; registered: 'fixture'"):
        ort.unregister_execution_provider_library("unheard")


def test_an_empty_name_is_refused(library: str) -> None:
    with pytest.raises(ort.InvalidArgument, match="empty"):
        ort.register_execution_provider_library("", library)


def test_a_library_without_providers_is_refused(fixtures_dir: Path) -> None:
    with pytest.raises(ort.LibraryError, match="it serves custom ops, not execution providers"):
        ort.register_execution_provider_library("ops", library_path(fixtures_dir, "legacy"))


# Choosing devices


def test_options_reach_the_plugin_as_configuration_entries(registered: str) -> None:
    options = options_for(claim="Add", Other="1")
    assert options.session_config_entries == {"ep.kernelep.claim": "Add", "ep.kernelep.Other": "1"}


def test_no_devices_are_refused() -> None:
    with pytest.raises(ort.InvalidArgument, match="got none"):
        ort.SessionOptions().add_provider_for_devices([])


def test_devices_of_two_providers_are_refused(registered: str) -> None:
    with pytest.raises(ort.InvalidArgument, match="'CPUExecutionProvider' and 'KernelEp'"):
        ort.SessionOptions().add_provider_for_devices(ort.get_ep_devices())


def test_adding_the_engine_changes_nothing() -> None:
    options = options_for("CPUExecutionProvider")
    assert not options.has_providers()
    assert ort.InferenceSession(model(), options).get_providers() == ["CPUExecutionProvider"]


def test_a_provider_is_added_once(registered: str) -> None:
    options = options_for()
    options.add_provider_for_devices(devices())
    with pytest.raises(ort.InvalidArgument, match="'KernelEp' is there twice"):
        ort.InferenceSession(model(), options)


def test_devices_of_a_library_that_is_gone_are_refused(library: str) -> None:
    ort.register_execution_provider_library("fixture", library)
    chosen = devices()
    options = options_for()
    ort.unregister_execution_provider_library("fixture")
    assert chosen[0].ep_name == "KernelEp"
    with pytest.raises(ort.InvalidArgument, match=r"'fixture'.*was unregistered"):
        ort.SessionOptions().add_provider_for_devices(chosen)
    with pytest.raises(ort.InvalidArgument, match=r"'fixture'.*was unregistered"):
        ort.InferenceSession(model(), options)


def test_a_too_long_option_leaves_the_options_as_they_were(registered: str) -> None:
    options = ort.SessionOptions()
    with pytest.raises(RuntimeError, match="bytes in UTF-8"):
        options.add_provider_for_devices(devices(), {"fine": "1", "long": "x" * 9000})
    assert not options.has_providers()
    assert options.session_config_entries == {}


# Unregistering


def test_a_library_in_use_is_not_unregistered(registered: str, tmp_path: Path) -> None:
    path = tmp_path / "in_use.onnx"
    path.write_bytes(model())
    named = options_for(claim="none")
    named.logid = "the second one"
    sessions = [ort.InferenceSession(str(path), options_for(claim="none")), ort.InferenceSession(model(), named)]
    with pytest.raises(ort.Fail, match="used by 2 session") as caught:
        ort.unregister_execution_provider_library("fixture")
    assert f"the session of {path}; the second one" in str(caught.value)
    feeds = MODELS["one_pair"].feeds()[0]
    first, second = (session.run(None, feeds) for session in sessions)
    np.testing.assert_array_equal(first, second)


def test_a_session_that_failed_does_not_use_the_library(registered: str) -> None:
    for variant in ("ep_version_22", "capability_fails", "initialization_end_fails", "create_ep_fails"):
        with pytest.raises(ort.Error):
            ort.InferenceSession(model(), options_for(variant=variant))
    with pytest.raises(ort.NoSuchFile):
        ort.InferenceSession("/nowhere/model.onnx", options_for())


def test_a_library_leaves_the_process(library: str) -> None:
    # A copy: other tests count inside the fixture itself, which keeps it.
    copy = Path(library).with_name("libleaves.so")
    copy.write_bytes(Path(library).read_bytes())
    ort.register_execution_provider_library("fixture", str(copy))
    session = ort.InferenceSession(model(), options_for(claim="none"))
    session.run(None, MODELS["one_pair"].feeds()[0])
    assert copy in mapped_files()
    del session
    report = ort.unregister_execution_provider_library("fixture")
    assert (report.unmapped, report.reasons) == (True, ())
    assert copy not in mapped_files()


def test_virtual_devices_are_allowed_while_a_library_of_such_a_name_is_registered(library: str) -> None:
    assert environment() == {}
    ort.register_execution_provider_library("fixture.virtual", library)
    assert environment() == {"allow_virtual_devices": "1"}
    ort.unregister_execution_provider_library("fixture.virtual")
    assert environment() == {}
    with pytest.raises(ort.LibraryError):
        ort.register_execution_provider_library("any:creation_fails.virtual", "/nowhere/library.so")
    assert environment() == {}


def environment() -> dict[str, str]:
    return dict(abi.environment_entries())
