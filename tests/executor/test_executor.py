"""The executor through its bindings: what a run borrows, copies, frees, publishes and refuses."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto

from onnx_light_ort._native import engine

FLOAT, INT64, BOOL, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING


class Plan:
    """A plan by names: steps read and write values that are made on first mention."""

    def __init__(self) -> None:
        self.builder = engine.PlanBuilder()
        self.index: dict[str, int] = {}

    def value(self, name: str) -> int:
        if not name:
            return -1
        if name not in self.index:
            self.index[name] = self.builder.add_value(name)
        return self.index[name]

    def input(self, name: str, data_type: int = FLOAT, shape: Sequence[int | None] | None = None) -> None:
        self.builder.add_input(self.value(name), name, data_type, shape)

    def constant(self, name: str, content: object) -> None:
        self.builder.add_constant(self.value(name), content)

    def python(
        self,
        function: Callable[..., Any],
        inputs: Sequence[str],
        outputs: Sequence[str],
        types: Sequence[int] | None = None,
        name: str = "node",
    ) -> None:
        self.builder.add_python_step(
            name,
            "Test",
            function,
            [self.value(i) for i in inputs],
            [self.value(o) for o in outputs],
            types or [FLOAT] * len(outputs),
        )

    def output(self, *names: str) -> None:
        for name in names:
            self.builder.add_output(self.value(name), name)

    def executor(self, threads: int = 1, limit: int = 0) -> engine.Executor:
        return engine.Executor(self.builder.build(), threads, engine.MemoryBudget(limit))


def one_step(function: Callable[..., Any], data_type: int = FLOAT, out_type: int = FLOAT) -> engine.Executor:
    plan = Plan()
    plan.input("x", data_type)
    plan.python(function, ["x"], ["y"], [out_type])
    plan.output("y")
    return plan.executor()


def floats(*shape: int) -> np.ndarray:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def test_a_kernel_reads_the_very_memory_that_was_fed_and_cannot_write_it() -> None:
    seen: list[np.ndarray] = []

    def keep(x: np.ndarray) -> np.ndarray:
        seen.append(x)
        return x + 1

    x = floats(2, 3)
    one_step(keep).run(None, {"x": x})
    assert seen[0].ctypes.data == x.ctypes.data
    assert not seen[0].flags.writeable
    assert x.flags.writeable


def test_a_fresh_output_of_a_kernel_is_returned_without_a_copy() -> None:
    addresses: list[int] = []

    def fresh(x: np.ndarray) -> np.ndarray:
        y = x * 2
        addresses.append(y.ctypes.data)
        return y

    (y,) = one_step(fresh).run(None, {"x": floats(4)})
    assert y.ctypes.data == addresses[0]


def test_an_output_never_shares_memory_with_a_feed() -> None:
    x = floats(2, 3)
    for alias in (lambda a: a, lambda a: a.T, lambda a: a[:1], lambda a: a.reshape(-1)):
        (y,) = one_step(alias).run(None, {"x": x})
        np.testing.assert_array_equal(y, alias(x))
        assert not np.shares_memory(x, y)


def test_an_output_never_shares_memory_with_a_constant_or_another_output() -> None:
    plan = Plan()
    constant = floats(3)
    plan.constant("c", constant)
    plan.python(lambda c: c, ["c"], ["y"])
    plan.output("c", "y")
    executor = plan.executor()
    first, second = executor.run(None, {})
    assert not np.shares_memory(first, constant)
    assert not np.shares_memory(first, second)
    first[:] = -1
    np.testing.assert_array_equal(executor.run(["c"], {})[0], floats(3))


def test_a_graph_input_that_is_an_output_is_copied() -> None:
    plan = Plan()
    plan.input("x")
    plan.output("x")
    x = floats(2)
    (y,) = plan.executor().run(None, {"x": x})
    np.testing.assert_array_equal(x, y)
    assert not np.shares_memory(x, y)


def test_outputs_come_in_the_order_of_their_names() -> None:
    plan = Plan()
    plan.input("x")
    plan.python(lambda x: (x + 1, x + 2), ["x"], ["a", "b"])
    plan.output("a", "b")
    executor = plan.executor()
    assert executor.output_names == ["a", "b"]
    b, a, b_again = executor.run(["b", "a", "b"], {"x": floats(1)})
    assert (a[0], b[0], b_again[0]) == (1, 2, 2)
    assert not np.shares_memory(b, b_again)


def test_values_are_freed_after_their_last_reader() -> None:
    alive: list[bool] = []
    made: list[weakref.ref[np.ndarray]] = []

    def make(x: np.ndarray) -> np.ndarray:
        y = x + 1
        made.append(weakref.ref(y))
        return y

    def look(x: np.ndarray) -> np.ndarray:
        alive.append(made[0]() is not None)
        return x + 1

    plan = Plan()
    plan.input("x")
    plan.python(make, ["x"], ["a"], name="make")
    plan.python(look, ["a"], ["b"], name="last reader")
    plan.python(look, ["b"], ["c"], name="later")
    plan.output("c")
    built = plan.builder.build()
    assert built.releases == [("make", []), ("last reader", ["a"]), ("later", ["b"])]
    engine.Executor(built, 1, engine.MemoryBudget()).run(None, {"x": floats(2)})
    assert alive == [True, False]


def test_a_session_drops_the_feeds_of_a_run() -> None:
    executor = one_step(lambda x: x + 1)
    x = floats(2)
    gone = weakref.ref(x)
    executor.run(None, {"x": x})
    del x
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("feed", "message"),
    [
        ({}, "'x' is missing"),
        ({"x": floats(1, 2, 3)}, "rank 3; the model expects rank 2"),
        ({"x": floats(1, 3)}, "has 3 at dimension 1; the model expects 2"),
        ({"x": floats(1, 2).astype(np.float64)}, "element type double; the model expects float"),
        ({"x": [1.0, 2.0]}, "is no tensor"),
        ({"x": np.array([["a", "b"]])}, "element type string"),
        ({"x": np.zeros((1, 2), "M8[s]")}, "no ONNX element type"),
        ({"x": floats(1, 2), "z": floats(1)}, "no input 'z'; its inputs are 'x'"),
    ],
)
def test_a_wrong_feed_is_refused_and_the_next_run_works(feed: dict[str, Any], message: str) -> None:
    plan = Plan()
    plan.input("x", FLOAT, [None, 2])
    plan.python(lambda x: x + 1, ["x"], ["y"])
    plan.output("y")
    executor = plan.executor()
    with pytest.raises(Exception, match=message):
        executor.run(None, feed)
    np.testing.assert_array_equal(executor.run(None, {"x": floats(1, 2)})[0], floats(1, 2) + 1)


def test_an_unknown_output_is_refused_by_name() -> None:
    with pytest.raises(Exception, match="no output 'q'; its outputs are 'y'"):
        one_step(lambda x: x).run(["q"], {"x": floats(1)})


def test_an_error_of_a_kernel_names_the_node_and_keeps_its_cause() -> None:
    def fail(x: np.ndarray) -> np.ndarray:
        if x.size == 2:
            raise KeyError("lost")
        return x

    executor = one_step(fail)
    with pytest.raises(Exception, match=r"node 'node' \(Test\): KeyError: 'lost'") as caught:
        executor.run(None, {"x": floats(2)})
    assert isinstance(caught.value.__cause__, KeyError)
    assert executor.run(None, {"x": floats(1)})[0].shape == (1,)


def test_an_interrupt_is_not_turned_into_an_error() -> None:
    def interrupt(x: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_step(interrupt).run(None, {"x": floats(1)})


def test_a_kernel_that_returns_another_type_than_planned_is_an_error() -> None:
    with pytest.raises(Exception, match="output 0 should be a tensor of float, and the kernel returned double"):
        one_step(lambda x: x.astype(np.float64)).run(None, {"x": floats(1)})
    with pytest.raises(Exception, match="returned no tensor"):
        one_step(lambda x: [x]).run(None, {"x": floats(1)})


def test_a_kernel_that_returns_too_few_outputs_is_an_error() -> None:
    plan = Plan()
    plan.input("x")
    plan.python(lambda x: (x,), ["x"], ["a", "b"])
    plan.output("a")
    with pytest.raises(Exception, match="returned 1 outputs, and 2 are needed"):
        plan.executor().run(None, {"x": floats(1)})


def test_absent_inputs_are_none_and_unwanted_outputs_are_dropped() -> None:
    plan = Plan()
    plan.input("x")
    plan.python(lambda x, nothing: (x + 1, nothing, x + 2), ["x", ""], ["", "", "c"], [FLOAT, 0, FLOAT])
    plan.output("c")
    assert plan.executor().run(None, {"x": floats(1)})[0][0] == 2


ELEMENT_TYPES = [
    np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64,
    np.uint64, np.bool_, np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e8m0fnu,
    ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn,
]  # fmt: skip


@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 3)])
def test_every_element_type_makes_the_round_trip(element_type: type, shape: tuple[int, ...]) -> None:
    x = np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(element_type)
    value = engine.Value.from_object(x)
    assert value.shape == list(shape)
    back = value.to_object()
    assert back.dtype == x.dtype
    assert np.array_equal(back, x)


def test_sub_byte_elements_are_packed_from_the_low_bits_up() -> None:
    value = engine.Value.from_object(np.array([1, -2, 3], ml_dtypes.int4))
    assert value.byte_size == 2
    value = engine.Value.from_object(np.arange(4).astype(ml_dtypes.uint2))
    assert value.byte_size == 1


@pytest.mark.parametrize("strings", [np.array(["a", "", "grün"]), np.array([["x", "yy"]], dtype=object)])
def test_strings_make_the_round_trip_as_objects(strings: np.ndarray) -> None:
    back = engine.Value.from_object(strings).to_object()
    assert back.dtype == object
    assert back.tolist() == strings.tolist()


def test_a_string_array_of_other_objects_is_refused() -> None:
    with pytest.raises(Exception, match="this array holds a float"):
        engine.Value.from_object(np.array(["a", 1.0], dtype=object))


@pytest.mark.parametrize(
    "x",
    [
        floats(3, 4).T,
        floats(4, 4)[::2, ::2],
        floats(3).astype(">f4"),
        np.frombuffer(b"\0" * 9, np.uint8)[1:].view("f4"),
    ],
)
def test_arrays_of_any_layout_can_be_fed(x: np.ndarray) -> None:
    np.testing.assert_array_equal(one_step(lambda a: a + 1).run(None, {"x": x})[0], x + 1)


def test_python_objects_flow_between_python_kernels_unchanged() -> None:
    plan = Plan()
    plan.input("x", 0)
    plan.python(lambda x: [*x, "more"], ["x"], ["y"], [0])
    plan.output("y")
    assert plan.executor().run(None, {"x": [1, {"a": 2}]}) == [[1, {"a": 2}, "more"]]


def test_builder_refuses_what_could_not_run() -> None:
    plan = Plan()
    plan.input("x")
    with pytest.raises(Exception, match="reads 'later', which nothing before it makes"):
        plan.python(lambda x: x, ["later"], ["y"])
    with pytest.raises(Exception, match="'x' has two makers"):
        plan.python(lambda x: x, ["x"], ["x"])
    with pytest.raises(Exception, match="nothing makes the graph output 'y'"):
        plan.output("y")
    with pytest.raises(Exception, match="not of this plan"):
        plan.builder.add_output(99, "y")


def test_runs_of_several_threads_do_not_mix() -> None:
    plan = Plan()
    plan.input("x")
    plan.python(lambda x: x + 1, ["x"], ["a"])
    plan.python(lambda a: a * 2, ["a"], ["y"])
    plan.output("y")
    executor = plan.executor(threads=2)
    wrong: list[float] = []

    def many(seed: int) -> None:
        for i in range(500):
            x = np.full(7, seed * 1000 + i, np.float32)
            (y,) = executor.run(None, {"x": x})
            if not np.array_equal(y, (x + 1) * 2):
                wrong.append(float(y[0]))

    threads = [threading.Thread(target=many, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_run_is_ended_from_another_thread_after_its_current_step() -> None:
    plan = Plan()
    plan.input("x")
    control = engine.RunControl()

    def end(x: np.ndarray) -> np.ndarray:
        control.terminate = True
        return x + 1

    reached: list[bool] = []
    plan.python(end, ["x"], ["a"], name="first")
    plan.python(lambda a: reached.append(True) or a, ["a"], ["y"], name="second")
    plan.output("y")
    executor = plan.executor()
    with pytest.raises(Exception, match="terminated"):
        executor.run(None, {"x": floats(1)}, control)
    assert not reached
    control.terminate = False


def test_a_profile_lists_every_step_with_its_time() -> None:
    plan = Plan()
    plan.input("x")
    plan.python(lambda x: x + 1, ["x"], ["a"], name="first")
    plan.python(lambda x: x + 1, ["a"], ["y"], name="second")
    plan.output("y")
    profile: list[tuple[str, str, float, float, int]] = []
    plan.executor().run(None, {"x": floats(1)}, None, profile)
    assert [(name, kind) for name, kind, *_ in profile] == [("first", "Test"), ("second", "Test")]
    (_, _, start, duration, _), (_, _, later, _, _) = profile
    assert 0 <= start <= start + duration <= later


def test_a_builder_is_of_no_use_after_its_plan_is_built() -> None:
    builder = engine.PlanBuilder()
    builder.build()
    for call in (lambda: builder.add_value("x"), lambda: builder.add_output(0, "y"), builder.build):
        with pytest.raises(Exception, match="the plan is built"):
            call()


def test_bytes_that_are_no_utf8_come_back_as_they_went() -> None:
    once = engine.Value.from_object(np.array([b"\xff\xfe", "grün"], dtype=object)).to_object()
    again = engine.Value.from_object(once).to_object()
    assert again.tolist() == once.tolist()
    assert once[0].encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_sequences_that_leave_share_nothing_with_those_that_came() -> None:
    plan = Plan()
    plan.input("x", 0)
    plan.python(lambda x: x, ["x"], ["y"], [0])
    plan.output("y")
    fed = [floats(2), {"a": floats(3)}]
    (left,) = plan.executor().run(None, {"x": fed})
    assert left is not fed
    assert not np.shares_memory(left[0], fed[0])
    assert not np.shares_memory(left[1]["a"], fed[1]["a"])
    np.testing.assert_array_equal(left[0], fed[0])


def test_an_output_that_numpy_cannot_hold_is_named() -> None:
    kernel = next(entry for entry in engine.native_kernels() if entry.op_type == "Reshape").create(
        "reshape", "", "Reshape", 21, [FLOAT, INT64], [FLOAT], {"allowzero": 0}, [None, None]
    )
    builder = engine.PlanBuilder()
    x, shape, y = (builder.add_value(name) for name in ("x", "shape", "y"))
    builder.add_input(x, "x", FLOAT, None)
    builder.add_input(shape, "shape", INT64, None)
    builder.add_kernel_step("reshape", "Reshape", kernel, [x, shape], [y], [FLOAT])
    builder.add_output(y, "y")
    executor = engine.Executor(builder.build(), 1, engine.MemoryBudget())
    with pytest.raises(Exception, match="output 'y' cannot become an array"):
        executor.run(None, {"x": np.ones(1, np.float32), "shape": np.ones(70, np.int64)})
