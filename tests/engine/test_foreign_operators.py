"""Operators that a caller brings: picked by version, arity and types, inferred by themselves, run by their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TypeProto, helper
from onnx_models import BOOL, FLOAT, INT64, constant, model, node, value

import onnx_light_ort as ort
from onnx_light_ort.engine.graph import Node
from onnx_light_ort.engine.kernel_registry import KernelRegistry
from onnx_light_ort.engine.operator_schema import ForeignOperator, FormalParameter
from onnx_light_ort.engine.value_type import tensor_type

X = np.array([[-1, 2, -3, 4]], np.float32)
T = frozenset({FLOAT, INT64})


class Twice(ForeignOperator):
    """y = 2x."""

    factor = 2

    def create_kernel(self, resolved: Node) -> Any:
        return lambda x, *rest: x * self.factor


def twice(*, version: int = 1, end: int | None = None, types: frozenset[Any] = T, **given: Any) -> Twice:
    return Twice(
        "mine",
        "Twice",
        version,
        given.get("inputs", [FormalParameter("x", "T", types)]),
        given.get("outputs", [FormalParameter("y", "T", types)]),
        end,
    )


def session(proto: ModelProto, *operators: ForeignOperator) -> ort.InferenceSession:
    registry = KernelRegistry("mine")
    for operator in operators:
        registry.register_operator(operator)
    options = ort.SessionOptions()
    options.add_kernel_registry(registry)
    return ort.InferenceSession(proto, options)


def calling(*nodes: Any, **given: Any) -> ModelProto:
    return model(list(nodes), imports=[("mine", given.pop("version", 1))], **given)


CALL = node("Twice", ["x"], ["y"], name="t", domain="mine")


def test_a_foreign_operator_runs_and_types_what_follows() -> None:
    proto = calling(
        node("Twice", ["x"], ["a"], name="t", domain="mine"),
        node("Relu", ["a"], ["b"]),
        node("Twice", ["b"], ["c"], name="u", domain="mine"),
        node("Cast", ["c"], ["d"], to=INT64),
        node("Twice", ["d"], ["y"], name="v", domain="mine"),
        outputs=[value("y", INT64)],
    )
    made = session(proto, twice())
    np.testing.assert_array_equal(made.run(None, {"x": X})[0], np.maximum(X, 0).astype(np.int64) * 8)
    rows = {row.name: row for row in made.assignment()}
    assert rows["t"].kernel == "operator mine::Twice(1)"


def test_without_its_registry_it_is_unknown() -> None:
    with pytest.raises(ort.Fail, match="mine::Twice"):
        ort.InferenceSession(calling(CALL))


def test_overloads_resolve_by_input_types() -> None:
    whole, real = twice(types=frozenset({INT64})), twice(types=frozenset({FLOAT}))
    whole.factor = 3
    assert session(calling(CALL), whole, real).run(None, {"x": X})[0][0, 1] == 4
    integers = calling(CALL, inputs=[value("x", INT64)], outputs=[value("y", INT64)])
    assert session(integers, whole, real).run(None, {"x": X.astype(np.int64)})[0][0, 1] == 6


def test_versions_resolve_by_the_imported_opset() -> None:
    old, new = twice(version=1, end=2), twice(version=3)
    new.factor = 30
    assert session(calling(CALL, version=2), old, new).run(None, {"x": X})[0][0, 1] == 4
    assert session(calling(CALL, version=5), old, new).run(None, {"x": X})[0][0, 1] == 60


def test_two_that_fit_are_an_error_that_names_them() -> None:
    with pytest.raises(ort.Fail, match=r"node 't' \(mine::Twice\): 2 registered operators fit: mine::Twice\(1\)"):
        session(calling(CALL), twice(), twice())


@pytest.mark.parametrize(
    ("call", "operator", "part"),
    [
        (CALL, twice(types=frozenset({INT64})), r"input x takes tensor\(int64\), not tensor\(float\)"),
        (CALL, twice(version=2), "serves opset 2 to newer, the model imports 1"),
        (node("Twice", ["x", "x"], ["y"], domain="mine"), twice(), "takes 1 to 1 inputs, the node has 2"),
        (node("Twice", [], ["y"], domain="mine"), twice(), "takes 1 to 1 inputs, the node has 0"),
        (node("Twice", ["x"], ["y", "z"], domain="mine"), twice(), "takes 1 to 1 outputs, the node has 2"),
    ],
    ids=["type", "version", "too many inputs", "too few inputs", "too many outputs"],
)
def test_one_that_does_not_fit_says_why(call: Any, operator: Twice, part: str) -> None:
    with pytest.raises(ort.Fail if part.startswith("serves") else ort.InvalidGraph, match=part):
        session(calling(call), operator)


def test_a_homogeneous_parameter_has_one_type() -> None:
    both = [FormalParameter("a", "T", T), FormalParameter("b", "T", T)]
    proto = calling(node("Twice", ["x", "i"], ["y"], name="t", domain="mine"), inputs=[value("x"), value("i", INT64)])
    with pytest.raises(ort.InvalidGraph, match=r"T would be both tensor\(float\) and tensor\(int64\)"):
        session(proto, twice(inputs=both))


def test_optional_inputs_may_be_left_out() -> None:
    seen: list[Any] = []

    class Scale(Twice):
        def create_kernel(self, resolved: Node) -> Any:
            def first(*given: Any) -> Any:
                seen.append([item is not None for item in given])
                return given[0]

            return first

    formals = [
        FormalParameter("x", "T", T),
        FormalParameter("s", "T", T, "optional"),
        FormalParameter("b", "B", None, "optional"),
    ]
    operator = Scale("mine", "Twice", 1, formals, [FormalParameter("y", "T", T)])
    for inputs in (["x"], ["x", "x"], ["x", "", "c"]):
        proto = calling(node("Twice", inputs, ["y"], domain="mine"), inputs=[value("x"), value("c", BOOL, [1])])
        session(proto, operator).run(None, {"x": X, "c": np.array([True])})
    assert seen == [[True], [True, True], [True, False, True]]


def test_variadic_inputs_and_outputs() -> None:
    class Split(ForeignOperator):
        def infer(self, resolved: Node, input_types: Sequence[TypeProto | None], constants: Sequence[Any]) -> Any:
            return [tensor_type(FLOAT, (1,)) for _ in resolved.outputs]

        def create_kernel(self, resolved: Node) -> Any:
            count = len(resolved.outputs)
            return lambda *given: tuple(
                np.array([sum(float(item.sum()) for item in given) + i], np.float32) for i in range(count)
            )

    anything = FormalParameter("xs", "T", None, "variadic", homogeneous=False, min_arity=2)
    operator = Split("mine", "Split", 1, [anything], [FormalParameter("ys", "U", None, "variadic")])
    proto = calling(
        node("Split", ["x", "i", "x"], ["p", "q"], domain="mine"),
        node("Add", ["p", "q"], ["y"]),
        inputs=[value("x"), value("i", INT64, [1])],
        outputs=[value("y", shape=[1])],
    )
    assert session(proto, operator).run(None, {"x": X, "i": np.array([5])})[0] == [(5 + 4) * 2 + 1]
    with pytest.raises(ort.InvalidGraph, match="takes 2 to any number inputs, the node has 1"):
        session(calling(node("Split", ["x"], ["y"], domain="mine")), operator)


def test_inference_sees_types_shapes_and_constants() -> None:
    seen: list[Any] = []

    class Tile(ForeignOperator):
        def infer(self, resolved: Node, input_types: Sequence[TypeProto | None], constants: Sequence[Any]) -> Any:
            seen.append((input_types[0], constants[0], constants[1].array().tolist()))
            return [tensor_type(FLOAT, (2, 3))]

        def create_kernel(self, resolved: Node) -> Any:
            return lambda x, n: np.zeros((2, 3), np.float32)

    operator = Tile(
        "mine",
        "Tile",
        1,
        [FormalParameter("x", "T", T), FormalParameter("n", "n", None)],
        [FormalParameter("y", "T", T)],
    )
    proto = calling(
        node("Tile", ["x", "n"], ["a"], domain="mine"),
        node("Shape", ["a"], ["y"]),
        inputs=[value("x", shape=["batch", 4])],
        outputs=[value("y", INT64, [2])],
        initializers=[constant("n", [3], np.int64)],
    )
    made = session(proto, operator)
    ((type_proto, x, n),) = seen
    assert [dim.dim_param or dim.dim_value for dim in type_proto.tensor_type.shape.dim] == ["batch", 4]
    assert x is None
    assert n == [3]
    assert {row.op_type: row.kernel for row in made.assignment()}["Shape"] == "folded"


def test_a_type_that_the_model_declares_otherwise_is_an_error() -> None:
    with pytest.raises(ort.Fail, match=r"output 'y' is declared as tensor\(int64\)"):
        session(calling(CALL, outputs=[value("y", INT64)]), twice())


def test_a_foreign_operator_may_take_the_place_of_one_of_onnx() -> None:
    class Relu(ForeignOperator):
        def create_kernel(self, resolved: Node) -> Any:
            return lambda x: x + 100

    operator = Relu("", "Relu", 1, [FormalParameter("x", "T", T)], [FormalParameter("y", "T", T)])
    proto = model([node("Relu", ["x"], ["y"])])
    np.testing.assert_array_equal(session(proto, operator).run(None, {"x": X})[0], X + 100)
    np.testing.assert_array_equal(ort.InferenceSession(proto).run(None, {"x": X})[0], np.maximum(X, 0))


def test_foreign_nodes_inside_of_subgraphs_and_functions() -> None:
    branch = helper.make_graph([node("Twice", ["x"], ["t"], domain="mine")], "b", [], [value("t")])
    conditional = calling(
        node("If", ["c"], ["s"], then_branch=branch, else_branch=branch),
        node("Relu", ["s"], ["y"]),
        inputs=[value("c", BOOL, []), value("x")],
    )
    (y,) = session(conditional, twice()).run(None, {"c": np.array(True), "x": X})
    np.testing.assert_array_equal(y, np.maximum(2 * X, 0))
    function = helper.make_function(
        "local", "F", ["a"], ["b"],
        [node("Twice", ["a"], ["t"], domain="mine"), node("Relu", ["t"], ["b"])],
        [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)],
    )  # fmt: skip
    call = model([node("F", ["x"], ["y"], domain="local")], imports=[("local", 1), ("mine", 1)], functions=[function])
    np.testing.assert_array_equal(session(call, twice()).run(None, {"x": X})[0], np.maximum(2 * X, 0))


def test_a_foreign_node_is_never_folded() -> None:
    runs: list[int] = []

    class Counted(Twice):
        def create_kernel(self, resolved: Node) -> Any:
            def counted(x: Any) -> Any:
                runs.append(1)
                return x * 2

            return counted

    operator = Counted("mine", "Twice", 1, [FormalParameter("x", "T", T)], [FormalParameter("y", "T", T)])
    proto = calling(
        node("Twice", ["w"], ["a"], domain="mine"),
        node("Add", ["x", "a"], ["y"]),
        initializers=[constant("w", [1] * 4)],
    )
    made = session(proto, operator)
    assert not runs
    made.run(None, {"x": X})
    assert runs == [1]


def test_a_thousand_foreign_nodes_are_planned_in_linear_time() -> None:
    counts = []
    for length in (50, 100):
        asked: list[int] = []

        class Counted(Twice):
            def infer(self, resolved: Node, *given: Any, asked: list[int] = asked) -> Any:
                asked.append(1)
                return super().infer(resolved, *given)

        operator = Counted("mine", "Twice", 1, [FormalParameter("x", "T", T)], [FormalParameter("y", "T", T)])
        nodes = [node("Twice", [f"v{i}"], [f"v{i + 1}"], domain="mine") for i in range(length)]
        session(calling(*nodes, inputs=[value("v0")], outputs=[value(f"v{length}")]), operator)
        counts.append(len(asked))
    assert counts == [50, 100]


def test_an_operator_that_infers_by_types_is_asked_once_for_nodes_that_are_alike() -> None:
    asked: list[str] = []

    class ByTypes(Twice):
        def infer(self, resolved: Node, *given: Any) -> Any:
            asked.append(resolved.name)
            return super().infer(resolved, *given)

    operator = ByTypes("mine", "Twice", 1, [FormalParameter("x", "T", T)], [FormalParameter("y", "T", T)])
    operator.infers_by_types = True
    nodes = [node("Twice", [f"v{i}"], [f"v{i + 1}"], name=f"n{i}", domain="mine") for i in range(3)]
    made = session(calling(*nodes, inputs=[value("v0")], outputs=[value("v2"), value("v3")]), operator)
    # The model declares the outputs of the last two nodes; types that it declares are checked against the same answer.
    assert asked == ["n0"]
    (y, z) = made.run(None, {"v0": X})
    np.testing.assert_array_equal(y, 4 * X)
    np.testing.assert_array_equal(z, 8 * X)
