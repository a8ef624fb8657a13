"""Partitions of plugin EPs run from several threads at once, in one session and in several."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compiling_ep_session import PLUGIN, compiling_ep_session
from execution_provider_cases import Counters, counters_of

from onnx_light_ort import Error, InferenceSession

THREADS = 4
RUNS = 10_000


def in_threads(body: Callable[[int], None]) -> None:
    """Calls body(0), body(1) and so on, each in a thread of its own, all released at once."""
    gate = threading.Barrier(THREADS)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            gate.wait()
            body(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.fixture
def counters(every_plugin: Path) -> Counters:
    found = counters_of(PLUGIN.path(every_plugin))
    found.reset()
    return found


def run_one_pair(session: InferenceSession, number: int, runs: int) -> None:
    """Runs x * 2 + 1 on values and shapes that no other thread has."""
    for i in range(runs):
        x = np.full((1 + number, i % 5), number * RUNS + i, np.float32)
        (y,) = session.run(None, {"x": x})
        assert y.shape == x.shape
        assert (y == 2 * x + 1).all()


def one_pair(**ep_options: str) -> InferenceSession:
    return compiling_ep_session("one_pair", **ep_options)


@pytest.mark.parametrize("when", ["early", "lazily"])
def test_four_threads_run_one_session(counters: Counters, when: str) -> None:
    session = one_pair(compile=when)
    in_threads(lambda number: run_one_pair(session, number, RUNS // THREADS))
    assert counters["computed"] == RUNS
    assert (counters["states_created"], counters["programs_made"]) == (1, 1)


def test_four_sessions_of_one_ep_run_at_once(counters: Counters) -> None:
    sessions = [one_pair() for _ in range(THREADS)]
    in_threads(lambda number: run_one_pair(sessions[number], number, RUNS // THREADS))
    assert (counters["eps_created"], counters["computed"]) == (THREADS, RUNS)
    sessions.clear()
    assert (counters["states_released"], counters["infos_released"], counters["eps_released"]) == (THREADS,) * 3


def test_sessions_come_and_go_while_others_run(counters: Counters) -> None:
    lasting = one_pair()

    def body(number: int) -> None:
        for _ in range(10):
            session = lasting if number == 0 else one_pair(constants="drop")
            run_one_pair(session, number, 20)

    in_threads(body)
    assert counters["eps_created"] == 1 + 10 * (THREADS - 1)
    assert counters["states_released"] == counters["infos_released"] == counters["eps_released"] == 10 * (THREADS - 1)
    assert counters["computed"] == 20 * 10 * THREADS


def test_a_run_that_fails_leaves_the_others_alone(counters: Counters) -> None:
    session = one_pair(fail_at="777")
    failed: list[str] = []

    def body(number: int) -> None:
        for _ in range(RUNS // 10 // THREADS):
            try:
                run_one_pair(session, number, 1)
            except Error as error:
                failed.append(str(error))

    in_threads(body)
    (message,) = failed
    assert "CompilingEp was told to fail at call 777" in message
    run_one_pair(session, 0, 5)
