"""A plugin provider is told of its session and of each run, and what it says of them counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from execution_provider_cases import MODELS, PLUGINS, Counters, counters_of

import onnx_light_ort as ort

FEEDS = MODELS["one_pair"].feeds()[0]


@pytest.fixture(autouse=True)
def _registered(fixtures_dir: Path) -> Iterator[None]:
    ort.set_admission("any")
    ort.register_execution_provider_library("fixture", str(PLUGINS["kernel_ep"].path(fixtures_dir)))
    yield
    ort.unregister_execution_provider_library("fixture")
    ort.set_admission("warn")


@pytest.fixture
def counters(fixtures_dir: Path) -> Counters:
    counters = counters_of(PLUGINS["kernel_ep"].path(fixtures_dir))
    counters.reset()
    return counters


def session(model: str = "one_pair", **provider_options: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    devices = [device for device in ort.get_ep_devices() if device.ep_name == "KernelEp"]
    options.add_provider_for_devices(devices, {"claim": "none", **provider_options})
    return ort.InferenceSession(MODELS[model].make().SerializeToString(), options)


def test_a_provider_is_told_of_the_session_and_of_each_run(counters: Counters) -> None:
    running = session()
    assert (counters["initialization_ends"], counters["run_starts"]) == (1, 0)
    for _ in range(3):
        running.run(None, FEEDS)
    assert (counters["run_starts"], counters["run_ends"], counters["run_ends_with_sync"]) == (3, 3, 3)
    del running
    assert (counters["eps_created"], counters["eps_released"]) == (1, 1)


def test_a_provider_reads_the_runs_options(counters: Counters) -> None:
    running = session()
    options = ort.RunOptions()
    options.add_run_config_entry("fixture.note", "1")
    options.add_run_config_entry("disable_synchronize_execution_providers", "1")
    running.run(None, FEEDS, options)
    running.run(None, FEEDS)
    assert (counters["run_entries_read"], counters["run_ends_with_sync"]) == (1, 1)


def test_a_provider_without_hooks_costs_a_run_nothing(counters: Counters) -> None:
    running = session(variant="no_hooks")
    assert running._told is None
    running.run(None, FEEDS)
    assert (counters["run_starts"], counters["run_ends"]) == (0, 0)


@pytest.mark.parametrize(("way", "raised"), [("fails", ort.Fail), ("throws", ort.RuntimeException)])
def test_a_run_fails_whose_start_or_end_a_provider_refuses(
    counters: Counters, way: str, raised: type[ort.Error]
) -> None:
    for hook, callback, ends in (("run_start", "OnRunStart", 0), ("run_end", "OnRunEnd", 1)):
        running = session(variant=f"{hook}_{way}")
        counters.reset()
        with pytest.raises(raised, match=rf"'KernelEp': OrtEp::{callback} failed: .*told to (fail|throw)"):
            running.run(None, FEEDS)
        assert (counters["run_starts"], counters["run_ends"]) == (1, ends)


def test_a_run_that_is_refused_tells_nobody(counters: Counters) -> None:
    running = session()
    for feeds in (
        {name: array[None] for name, array in FEEDS.items()},
        {name: array.astype(np.float64) for name, array in FEEDS.items()},
        {**FEEDS, "another": np.zeros(1, np.float32)},
        {},
    ):
        with pytest.raises(ort.InvalidArgument):
            running.run(None, feeds)
    with pytest.raises(ort.InvalidArgument, match="no output 'another'"):
        running.run(["another"], FEEDS)
    with pytest.raises(TypeError):
        running.run(3, FEEDS)  # type: ignore[arg-type]
    assert (counters["run_starts"], counters["run_ends"]) == (0, 0)
    running.run(None, FEEDS)
    assert (counters["run_starts"], counters["run_ends"]) == (1, 1)


def test_a_failed_run_ends_too(counters: Counters) -> None:
    running = session(claim="all", variant="compute_fails")
    with pytest.raises(ort.Fail):
        running.run(None, FEEDS)
    assert (counters["run_starts"], counters["run_ends"]) == (1, 1)


def test_lists_are_fed_in_one_run(counters: Counters) -> None:
    session().run(None, {name: array.tolist() for name, array in FEEDS.items()})
    assert (counters["run_starts"], counters["run_ends"]) == (1, 1)


@pytest.mark.parametrize("way", ["fails", "throws"])
@pytest.mark.parametrize("hook", ["initialization_end", "layout", "concurrency", "capability"])
def test_a_session_is_not_made_that_a_provider_refuses(counters: Counters, hook: str, way: str) -> None:
    refusal = r"execution provider 'KernelEp': OrtEp::.* failed: .*told to (fail|throw)"
    with pytest.raises(ort.Error, match=refusal) as remembered:
        session(claim="all", variant=f"{hook}_{way}")
    assert counters["kernels_created"] == counters["kernels_released"]
    assert (counters["eps_created"], counters["eps_released"]) == (1, 1)
    assert remembered.tb is not None  # It knows the session, and keeps nothing of the plugin.


def test_a_run_that_a_kernel_fails_is_not_tried_again(counters: Counters) -> None:
    running = session(claim="all", variant="compute_asks_twice")
    for feeds in (
        {name: array.tolist() for name, array in FEEDS.items()},
        {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in FEEDS.items()},
    ):
        counters.reset()
        with pytest.raises(ort.InvalidArgument, match="was asked for with dimensions"):
            running.run(None, feeds)
        assert (counters["run_starts"], counters["kernels_computed"], counters["run_ends"]) == (1, 1, 1)


def test_a_provider_waits_for_its_device_when_asked(counters: Counters) -> None:
    running = session()
    running.run(None, FEEDS)
    assert counters["syncs"] == 0
    running.synchronize_providers()
    assert counters["syncs"] == 1


def test_a_failing_wait_is_an_error() -> None:
    running = session(variant="sync_fails")
    with pytest.raises(ort.Fail, match=r"OrtEp::Sync failed: .*told to fail"):
        running.synchronize_providers()


def test_runs_do_not_overlap_where_a_provider_takes_one_at_a_time(counters: Counters) -> None:
    running = session(variant="one_run_at_a_time")
    entered = threading.Barrier(2)

    def run() -> None:
        entered.wait()
        for _ in range(50):
            running.run(None, FEEDS)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    with running._told._one_at_a_time:  # type: ignore[union-attr]
        done = counters["run_ends"]
        assert counters["run_starts"] == done, "no run is under way while somebody else has the turn"
    for thread in threads:
        thread.join()
    assert (counters["run_starts"], counters["run_ends"]) == (100, 100)


def test_concurrent_runs_are_not_held_up() -> None:
    assert "lock" not in type(session()._told._one_at_a_time).__name__  # type: ignore[union-attr]


def test_options_do_not_change_while_a_session_lives(counters: Counters) -> None:
    running = session()
    with pytest.raises(ort.NotImplemented, match=r"\['claim'\] cannot be changed: make a new session"):
        running.set_ep_dynamic_options({"claim": "all"})
    assert counters["dynamic_option_calls"] == 0


def test_a_layout_that_no_claimed_node_needs_is_accepted() -> None:
    session(variant="prefers_nhwc").run(None, FEEDS)
