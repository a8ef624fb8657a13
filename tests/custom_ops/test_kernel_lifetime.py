"""A kernel is made once a node of a session, serves every run of it, and is destroyed once."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from custom_ops.custom_op_cases import X
from custom_ops.custom_op_model import FLOAT, INT64, model_of, node_model, value
from onnx import helper

from onnx_light_ort import InferenceSession

MakeSession = Callable[..., InferenceSession]
Counter = Callable[[str, str], int]


def counts(counter: Counter) -> tuple[int, int, int]:
    created, destroyed, computed = (
        counter("kernel_state", name) for name in ("kernels_created", "kernels_destroyed", "kernels_computed")
    )
    return created, destroyed, computed


def test_a_kernel_is_made_once_and_reused_over_1000_runs_and_three_shapes(
    session: MakeSession, counter: Counter
) -> None:
    counts(counter)
    gc.collect()
    created, destroyed, computed = counts(counter)
    nodes = [
        helper.make_node("Tally", ["x"], ["a"], domain="fixture", start=0),
        helper.make_node("Tally", ["a"], ["y"], domain="fixture", start=10),
    ]
    running = session(model_of(nodes, [value("x", FLOAT)], [value("y", FLOAT)]), "kernel_state")
    assert counts(counter) == (created + 2, destroyed, computed)
    for run in range(1000):
        x = np.full([(4,), (2, 3), (1, 0, 5)][run % 3], run, np.float32)
        (y,) = running.run(None, {"x": x})
        # Both kernels remember each run before.
        np.testing.assert_array_equal(y, x + run + (10 + run))
    assert counts(counter) == (created + 2, destroyed, computed + 2000)
    del running
    gc.collect()
    assert counts(counter) == (created + 2, destroyed + 2, computed + 2000)


def test_a_node_in_a_loop_has_one_kernel_for_all_iterations(session: MakeSession, counter: Counter) -> None:
    counts(counter)
    created, _, computed = counts(counter)
    body = helper.make_graph(
        [
            helper.make_node("AddOne", ["v"], ["w"], domain="fixture"),
            helper.make_node("Identity", ["go"], ["on"]),
        ],
        "body",
        [value("i", INT64, []), value("go", 9, []), value("v", FLOAT, [None, 3])],
        [value("on", 9, []), value("w", FLOAT, [None, 3])],
    )
    nodes = [
        helper.make_node("Constant", [], ["go"], value=helper.make_tensor("go", 9, [], [1])),
        helper.make_node("Loop", ["n", "go", "x"], ["y"], body=body),
    ]
    model = model_of(
        nodes, [value("n", INT64, []), value("x", FLOAT, [None, 3])], [value("y", FLOAT)], opsets={"fixture": 1}
    )
    running = session(model, "kernel_state")
    (y,) = running.run(None, {"n": np.array(7), "x": X})
    np.testing.assert_array_equal(y, X + 7)
    assert counts(counter)[0] == created + 1
    assert counts(counter)[2] == computed + 7


def test_runs_from_several_threads_share_one_kernel(session: MakeSession, counter: Counter) -> None:
    counts(counter)
    created, _, _ = counts(counter)
    running = session(node_model("AddOne", [value("x", FLOAT)], [value("y", FLOAT)]), "kernel_state")
    wrong: list[int] = []

    def work(number: int) -> None:
        x = np.full(64, number, np.float32)
        for _ in range(200):
            if not np.array_equal(running.run(None, {"x": x})[0], x + 1):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert counts(counter)[0] == created + 1


def test_an_output_outlives_its_session_and_the_library_s_kernel(session: MakeSession) -> None:
    running = session(node_model("AddOne", [value("x", FLOAT)], [value("y", FLOAT)]), "kernel_state")
    (y,) = running.run(None, {"x": X})
    del running
    gc.collect()
    np.testing.assert_array_equal(y, X + 1)


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.no_address_sanitizer(reason="AddressSanitizer keeps freed memory")
def test_memory_does_not_grow_over_many_runs(session: MakeSession) -> None:
    running = session(node_model("AddOne", [value("x", FLOAT)], [value("y", FLOAT)]), "kernel_state")
    shapes = [np.ones(4, np.float32), np.ones((2, 3), np.float32)]
    for run in range(20_000):
        running.run(None, {"x": shapes[run % 2]})
    before = resident_pages()
    for run in range(100_000):
        running.run(None, {"x": shapes[run % 2]})
    # A leak of one small object a run would be thousands of pages.
    assert resident_pages() - before < 200
