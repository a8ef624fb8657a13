"""If, Loop and Scan in the executor: captures, carried values, axes and directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from onnx_light_ort._native import engine

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def executor_of(builder: engine.PlanBuilder) -> engine.Executor:
    return engine.Executor(builder.build(), 1, engine.MemoryBudget())


def branch(function: Any, outer: int) -> engine.Plan:
    """A subgraph that applies a function to a value of the graph around it."""
    builder = engine.PlanBuilder()
    captured = builder.add_value("captured")
    builder.add_capture(captured, outer, FLOAT)
    result = builder.add_value("result")
    builder.add_python_step("inner", "Test", function, [captured], [result], [FLOAT])
    builder.add_output(result, "result")
    return builder.build()


def test_if_runs_one_branch_on_what_it_captures() -> None:
    builder = engine.PlanBuilder()
    condition, x, y = (builder.add_value(name) for name in ("condition", "x", "y"))
    builder.add_input(condition, "condition", BOOL, None)
    builder.add_input(x, "x", FLOAT, None)
    builder.add_if_step("if", condition, branch(lambda a: a + 1, x), branch(lambda a: a - 1, x), [y], [FLOAT])
    builder.add_output(y, "y")
    executor = executor_of(builder)
    x_fed = np.array([1, 2], np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(executor.run(None, {"condition": np.array(True), "x": x_fed})[0], x_fed + 1)
        np.testing.assert_array_equal(executor.run(None, {"condition": np.array([False]), "x": x_fed})[0], x_fed - 1)
    with pytest.raises(Exception, match="condition must be one bool"):
        executor.run(None, {"condition": np.array([True, False]), "x": x_fed})


def test_an_error_in_a_branch_names_the_inner_node() -> None:
    def fail(a: np.ndarray) -> np.ndarray:
        raise ValueError("no")

    builder = engine.PlanBuilder()
    condition, x, y = (builder.add_value(name) for name in ("condition", "x", "y"))
    builder.add_input(condition, "condition", BOOL, None)
    builder.add_input(x, "x", FLOAT, None)
    builder.add_if_step("if", condition, branch(fail, x), branch(lambda a: a, x), [y], [FLOAT])
    builder.add_output(y, "y")
    executor = executor_of(builder)
    with pytest.raises(Exception, match="node 'inner'"):
        executor.run(None, {"condition": np.array(True), "x": np.zeros(1, np.float32)})
    assert executor.run(None, {"condition": np.array(False), "x": np.ones(1, np.float32)})[0][0] == 1


def loop_executor(limit: float = 1e9) -> engine.Executor:
    """sum += x * i, until the sum passes the limit; collects the sums."""
    body = engine.PlanBuilder()
    i, go_on, total, x, total_out, go_on_out = (body.add_value(n) for n in ("i", "c", "s", "x", "s_out", "c_out"))
    body.add_input(i, "i", INT64, [])
    body.add_input(go_on, "c", BOOL, [1])
    body.add_input(total, "s", FLOAT, None)
    body.add_capture(x, 2, FLOAT)
    body.add_python_step(
        "step",
        "Test",
        lambda i, s, x: (s + x * np.float32(i), np.array([float(s.sum()) < limit])),
        [i, total, x],
        [total_out, go_on_out],
        [FLOAT, BOOL],
    )
    for name, value in (("c_out", go_on_out), ("s_out", total_out), ("scan", total_out)):
        body.add_output(value, name)

    outer = engine.PlanBuilder()
    trips, start, x, final, sums = (outer.add_value(name) for name in ("trips", "start", "x", "final", "sums"))
    outer.add_input(trips, "trips", INT64, None)
    outer.add_input(start, "start", FLOAT, None)
    outer.add_input(x, "x", FLOAT, None)
    outer.add_loop_step("loop", trips, -1, [start], body.build(), [final, sums], [FLOAT, FLOAT], [[2]])
    outer.add_output(final, "final")
    outer.add_output(sums, "sums")
    return executor_of(outer)


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_loop_carries_values_and_stacks_scan_outputs(trips: int) -> None:
    start, x = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
    executor = loop_executor()
    for _ in range(2):
        final, sums = executor.run(None, {"trips": np.array(trips), "start": start, "x": x})
        expected = [start + x * sum(range(i + 1)) for i in range(trips)]
        np.testing.assert_array_equal(final, expected[-1] if trips else start)
        assert sums.shape == (trips, 2)
        np.testing.assert_array_equal(sums, np.array(expected, np.float32).reshape(trips, 2))


def test_loop_ends_when_its_condition_turns_false() -> None:
    start, x = np.zeros(2, np.float32), np.ones(2, np.float32)
    _, sums = loop_executor(limit=4).run(None, {"trips": np.array(100), "start": start, "x": x})
    np.testing.assert_array_equal(sums[:, 0], [0, 1, 3, 6])


def test_loop_refuses_scan_outputs_of_different_shapes() -> None:
    body = engine.PlanBuilder()
    i, go_on, grown = (body.add_value(name) for name in ("i", "c", "grown"))
    body.add_input(i, "i", INT64, None)
    body.add_input(go_on, "c", BOOL, None)
    body.add_python_step("grow", "Test", lambda i: np.zeros(int(i), np.float32), [i], [grown], [FLOAT])
    body.add_output(go_on, "c")
    body.add_output(grown, "grown")
    outer = engine.PlanBuilder()
    trips, y = outer.add_value("trips"), outer.add_value("y")
    outer.add_input(trips, "trips", INT64, None)
    outer.add_loop_step("loop", trips, -1, [], body.build(), [y], [FLOAT])
    outer.add_output(y, "y")
    executor = executor_of(outer)
    with pytest.raises(Exception, match=r"node 'loop'.*differ in type or shape"):
        executor.run(None, {"trips": np.array(3)})
    assert executor.run(None, {"trips": np.array(1)})[0].shape == (1, 0)


@pytest.mark.parametrize("input_axis", [0, 1, -1])
@pytest.mark.parametrize("output_axis", [0, 1, -1])
@pytest.mark.parametrize("input_reversed", [0, 1])
@pytest.mark.parametrize("output_reversed", [0, 1])
@pytest.mark.parametrize("element_type", [np.float32, np.int64, object])
def test_scan_cuts_and_stacks_along_its_axes(
    input_axis: int, output_axis: int, input_reversed: int, output_reversed: int, element_type: type
) -> None:
    data_type = {np.float32: FLOAT, np.int64: INT64, object: TensorProto.STRING}[element_type]
    body = engine.PlanBuilder()
    state, element, state_out, out = (body.add_value(name) for name in ("state", "element", "state_out", "out"))
    body.add_input(state, "state", INT64, None)
    body.add_input(element, "element", data_type, None)
    body.add_python_step(
        "step", "Test", lambda s, e: (s + 1, e), [state, element], [state_out, out], [INT64, data_type]
    )
    body.add_output(state_out, "state_out")
    body.add_output(out, "out")
    outer = engine.PlanBuilder()
    initial, x, count, y = (outer.add_value(name) for name in ("initial", "x", "count", "y"))
    outer.add_input(initial, "initial", INT64, None)
    outer.add_input(x, "x", data_type, None)
    outer.add_scan_step(
        "scan", [initial], [x], body.build(), [count, y], [INT64, data_type],
        [input_axis], [output_axis], [input_reversed], [output_reversed],
    )  # fmt: skip
    outer.add_output(count, "count")
    outer.add_output(y, "y")
    fed = np.arange(12).reshape(3, 4).astype(element_type)
    if element_type is object:
        fed = fed.astype(str).astype(object)
    count_out, y_out = executor_of(outer).run(None, {"initial": np.array(0), "x": fed})
    elements = [np.take(fed, i, input_axis) for i in range(fed.shape[input_axis])]
    if input_reversed:
        elements.reverse()
    if output_reversed:
        elements.reverse()
    assert count_out == len(elements)
    assert y_out.tolist() == np.stack(elements, output_axis).tolist()


def test_subgraph_with_wrong_arity_is_refused_when_built() -> None:
    outer = engine.PlanBuilder()
    condition = outer.add_value("condition")
    outer.add_input(condition, "condition", BOOL, None)
    x = outer.add_value("x")
    outer.add_input(x, "x", FLOAT, None)
    y = [outer.add_value("a"), outer.add_value("b")]
    with pytest.raises(Exception, match="else branch has 0 inputs and 1 outputs; 0 and 2 are needed"):
        outer.add_if_step("if", condition, branch(lambda a: a, x), branch(lambda a: a, x), y, [FLOAT, FLOAT])
