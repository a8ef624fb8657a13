"""Kernels are found by operator, version range and the types of every type parameter; each miss has its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto
from onnx_models import BOOL, FLOAT, INT64, model, node, relu, value

import onnx_light_ort as ort
from onnx_light_ort.engine.graph import Node
from onnx_light_ort.engine.kernel import Kernel
from onnx_light_ort.engine.kernel_registry import KernelRegistry
from onnx_light_ort.engine.run_context import RunContext

X = np.array([[-1, 2, -3, 4]], np.float32)
COMPARE = model([node("Where", ["c", "x", "x"], ["y"], name="w")], [value("c", BOOL), value("x")])


class Constantly(Kernel):
    """Fills its output with a number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def compute(self, context: RunContext) -> None:
        context.output(0, context.required_input(0).shape)[...] = self.number


def session_with(proto: ModelProto, *registries: KernelRegistry) -> ort.InferenceSession:
    options = ort.SessionOptions()
    for registry in registries:
        options.add_kernel_registry(registry)
    return ort.InferenceSession(proto, options)


def registry(number: float, *, name: str = "mine", **given: Any) -> KernelRegistry:
    made = KernelRegistry(name)
    fields: dict[str, Any] = {"since_version": 1, "end_version": None, "type_constraints": {"T": [FLOAT]}, **given}
    made.register_kernel("", "Relu", factory=lambda resolved: Constantly(number), **fields)
    return made


def run(session: ort.InferenceSession) -> float:
    return float(session.run(None, {"x": X})[0][0, 0])


def test_a_callers_registry_comes_before_the_engines_kernels() -> None:
    session = session_with(relu(), registry(7))
    assert run(session) == 7
    (row,) = session.assignment()
    assert row.kernel == "mine kernel Relu (1 and later; T: tensor(float))"
    assert run(session_with(relu())) == 0


def test_the_first_of_two_registries_wins() -> None:
    assert run(session_with(relu(), registry(7), registry(8, name="other"))) == 7


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"since_version": 15}, "serves versions 15 and later, the node has version 14"),
        ({"end_version": 13}, "serves versions 1 to 13"),
        ({"type_constraints": {"T": [INT64]}}, "type parameter T is tensor(float); it serves tensor(int64)"),
        ({"type_constraints": {"T9": [FLOAT]}}, "constrains T9, which Relu version 14 does not have"),
    ],
    ids=["newer", "older", "type", "unknown parameter"],
)
def test_a_kernel_that_does_not_fit_is_passed_over_with_its_reason(fields: dict[str, Any], part: str) -> None:
    session = session_with(relu(), registry(7, **fields))
    assert run(session) == 0
    (row,) = session.assignment()
    assert part in str(row.declined[0])


def test_every_type_parameter_counts() -> None:
    seen: list[Node] = []
    mine = KernelRegistry("mine")

    def factory(resolved: Node) -> Any:
        seen.append(resolved)
        return lambda c, x, y: x + 1

    mine.register_kernel("", "Where", 9, None, {"B": [FLOAT], "T": [FLOAT]}, factory)
    session = session_with(COMPARE, mine)
    assert not seen
    assert "type parameter B is tensor(bool)" in str(session.assignment()[0].declined[0])
    mine.register_kernel("", "Where", 9, None, {"B": [BOOL], "T": [FLOAT]}, factory)
    (y,) = session_with(COMPARE, mine).run(None, {"c": np.ones((1, 4), bool), "x": X})
    np.testing.assert_array_equal(y, X + 1)
    assert [(item.name, item.since_version, item.input_types, item.output_types) for item in seen] == [
        ("w", 16, [BOOL, FLOAT, FLOAT], [FLOAT])
    ]


def test_an_input_of_fixed_type_is_constrained_by_its_own_name() -> None:
    mine = KernelRegistry("mine")
    mine.register_kernel("", "Reshape", 1, None, {"T": [FLOAT], "shape": [INT64]}, lambda resolved: lambda x, s: x + 1)
    reshape = model([node("Reshape", ["x", "s"], ["y"])], [value("x"), value("s", INT64, [2])])
    (y,) = session_with(reshape, mine).run(None, {"x": X, "s": np.array([1, 4])})
    np.testing.assert_array_equal(y, X + 1)


def test_two_kernels_that_fit_are_an_error_that_names_both() -> None:
    mine = registry(7)
    mine.register_kernel("", "Relu", 14, 14, {}, lambda resolved: Constantly(8))
    with pytest.raises(ort.Fail, match=r"node 'r' \(Relu\): 2 kernels.*1 and later.*\(14\)"):
        session_with(relu(), mine)


def test_disjoint_overloads_are_told_apart() -> None:
    mine = registry(7)
    mine.register_kernel("", "Relu", 1, None, {"T": [INT64]}, lambda resolved: Constantly(8))
    assert run(session_with(relu(), mine)) == 7
    whole = model([node("Relu", ["x"], ["y"])], [value("x", INT64)], [value("y", INT64)])
    assert session_with(whole, mine).run(None, {"x": X.astype(np.int64)})[0][0, 0] == 8


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"since_version": 3, "end_version": 2}, "versions 3 to 2"),
        ({"since_version": 0}, "versions 0"),
        ({"type_constraints": {"T": []}}, "T allows nothing"),
        ({"type_constraints": {"T": [99]}}, "99"),
    ],
    ids=["inverted range", "version 0", "empty constraint", "unknown type"],
)
def test_bad_registrations_are_refused(fields: dict[str, Any], part: str) -> None:
    with pytest.raises(ort.InvalidArgument, match=part):
        registry(7, **fields)


def test_a_factory_may_decline_with_a_reason() -> None:
    def factory(resolved: Node) -> Any:
        raise ort.NotImplemented("not on a Monday")

    mine = KernelRegistry("mine")
    mine.register_kernel("", "Relu", 1, None, {}, factory)
    session = session_with(relu(), mine)
    assert run(session) == 0
    assert any("not on a Monday" in str(decline) for decline in session.assignment()[0].declined)


def test_a_factory_sees_attributes_with_defaults_and_constants() -> None:
    seen: list[Any] = []

    def factory(resolved: Node) -> Any:
        weights = resolved.constant_inputs[1]
        assert weights is not None
        seen.append((resolved.attributes, weights.array(), resolved.constant_inputs[0]))
        return lambda x, w, *rest: x

    mine = KernelRegistry("mine")
    mine.register_kernel("", "Gemm", 1, None, {}, factory)
    from onnx_models import constant

    gemm = model([node("Gemm", ["x", "w"], ["y"], transB=1)], initializers=[constant("w", np.eye(4))])
    session_with(gemm, mine)
    ((attributes, w, x),) = seen
    assert attributes == {"transB": 1, "transA": 0, "alpha": 1.0, "beta": 1.0}
    np.testing.assert_array_equal(w, np.eye(4))
    assert x is None
    assert not w.flags.writeable


class Deed(Kernel):
    def __init__(self, deed: Any) -> None:
        self.deed = deed

    def compute(self, context: RunContext) -> None:
        self.deed(context)


@pytest.mark.parametrize(
    ("deed", "part"),
    [
        (lambda context: None, "returned without its output 'y'"),
        (lambda context: context.output(1, [1]), "no output 1"),
        (lambda context: context.output(0, [-1]), "negative shape"),
        (lambda context: context.required_input(1), "input 1 is required"),
        (lambda context: context.input(0).__setitem__(0, 1), "read-only"),
    ],
    ids=["no output", "unknown output", "negative shape", "absent input", "writes its input"],
)
def test_a_kernel_that_breaks_its_contract_fails_its_run(deed: Any, part: str) -> None:
    mine = KernelRegistry("mine")
    mine.register_kernel("", "Relu", 1, None, {}, lambda resolved: Deed(deed))
    with pytest.raises(ort.Error, match=part):
        run(session_with(relu(), mine))


def test_a_kernel_may_publish_a_view_of_its_input() -> None:
    def deed(context: RunContext) -> None:
        assert (context.input_count, context.output_count) == (1, 1)
        context.set_output(0, context.required_input(0)[:, ::-1])

    mine = KernelRegistry("mine")
    mine.register_kernel("", "Relu", 1, None, {}, lambda resolved: Deed(deed))
    (y,) = session_with(relu(), mine).run(None, {"x": X})
    np.testing.assert_array_equal(y, X[:, ::-1])
    assert not np.shares_memory(X, y)


def test_a_context_is_dead_after_its_call() -> None:
    kept: list[RunContext] = []

    def deed(context: RunContext) -> None:
        kept.append(context)
        context.output(0, (1, 4))[...] = 5

    mine = KernelRegistry("mine")
    mine.register_kernel("", "Relu", 1, None, {}, lambda resolved: Deed(deed))
    assert run(session_with(relu(), mine)) == 5
    with pytest.raises(ort.Fail, match="after compute"):
        kept[0].input(0)


def test_outputs_and_scratch_are_aligned_and_parallel_for_covers_the_range_once() -> None:
    addresses: list[int] = []

    def deed(context: RunContext) -> None:
        y = context.output(0, (1, 4))
        scratch = context.scratch(1000)
        addresses.extend((y.ctypes.data % 64, scratch.ctypes.data % 64, scratch.nbytes))
        count = np.zeros(1000, np.int64)

        def tally(begin: int, end: int) -> None:
            count[begin:end] += 1

        context.parallel_for(1000, 10, tally)
        y[...] = count.sum() if (count == 1).all() else -1

    mine = KernelRegistry("mine")
    mine.register_kernel("", "Relu", 1, None, {}, lambda resolved: Deed(deed))
    assert run(session_with(relu(), mine)) == 1000
    assert addresses == [0, 0, 1000]
