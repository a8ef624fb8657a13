"""What planning removes, computes once, frees early, and leaves alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import FLOAT, INT64, chain, constant, graph, model, node, value

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import KernelRegistry

X = np.array([[1, 2, 3, 4]], np.float32)


def planned(proto: Any, options: ort.SessionOptions | None = None) -> tuple[ort.InferenceSession, dict[str, str]]:
    session = ort.InferenceSession(proto, options)
    return session, {row.name: row.kernel for row in session.assignment()}


def steps(session: ort.InferenceSession) -> int:
    return int(session._plan.executor.step_count)


def test_weights_behind_a_cast_are_cast_once() -> None:
    weights = np.arange(16, dtype=np.int8).reshape(4, 4)
    proto = model(
        [
            node("Cast", ["w"], ["wf"], to=FLOAT, name="cast"),
            node("Mul", ["wf", "scale"], ["ws"], name="scale"),
            node("MatMul", ["x", "ws"], ["y"], name="product"),
        ],
        initializers=[constant("w", weights, np.int8), constant("scale", [0.5])],
    )
    session, kernels = planned(proto)
    assert (kernels["cast"], kernels["scale"]) == ("folded", "folded")
    assert steps(session) == 1
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X @ (weights * np.float32(0.5)))


def test_dequantized_weights_are_computed_once() -> None:
    weights = helper.make_tensor("w", TensorProto.INT4, [4, 4], [(i % 16) - 8 for i in range(16)])
    proto = model(
        [node("DequantizeLinear", ["w", "s"], ["wf"], name="dq"), node("MatMul", ["x", "wf"], ["y"])],
        initializers=[weights, constant("s", 0.5)],
        opset=21,
        ir_version=10,
    )
    session, kernels = planned(proto)
    assert kernels["dq"] == "folded"
    expected = X @ ((np.arange(16) % 16 - 8).reshape(4, 4).astype(np.float32) * 0.5)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], expected)


def test_a_result_much_bigger_than_its_source_is_not_kept() -> None:
    proto = model(
        [
            node("ConstantOfShape", ["big"], ["w"], name="fill"),
            node("ReduceSum", ["w"], ["s"], keepdims=0),
            node("Add", ["x", "s"], ["y"]),
        ],
        initializers=[constant("big", [1024, 1024], np.int64)],
    )
    session, kernels = planned(proto)
    assert kernels["fill"] != "folded"
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X)
    small = model(
        [node("ConstantOfShape", ["n"], ["w"], name="fill"), node("Add", ["x", "w"], ["y"])],
        initializers=[constant("n", [4], np.int64)],
    )
    assert planned(small)[1]["fill"] == "folded"


@pytest.mark.parametrize("op_type", ["RandomNormal", "RandomUniform"])
def test_random_operators_are_never_folded(op_type: str) -> None:
    session, kernels = planned(
        model([node(op_type, [], ["r"], shape=[4], name="random"), node("Add", ["x", "r"], ["y"])])
    )
    assert kernels["random"] != "folded"
    first, second = (session.run(None, {"x": X})[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_shapes_that_are_known_are_constants() -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Shape", ["a"], ["s"], name="shape"),
        node("Gather", ["s", "one"], ["g"], name="gather"),
        node("Cast", ["g"], ["f"], to=FLOAT, name="cast"),
        node("Add", ["a", "f"], ["y"]),
    ]
    known = model(nodes, [value("x", shape=[1, 4])], initializers=[constant("one", 1, np.int64)])
    session, kernels = planned(known)
    assert [kernels[name] for name in ("shape", "gather", "cast")] == ["folded"] * 3
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 4)
    unknown = model(nodes, [value("x", shape=["n", "m"])], initializers=[constant("one", 1, np.int64)])
    session, kernels = planned(unknown)
    assert "folded" not in kernels.values()
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 4)


def test_a_constant_that_cannot_be_computed_fails_when_it_runs() -> None:
    proto = model(
        [
            node("Gather", ["w", "far"], ["r"], name="bad"),
            node("Cast", ["i"], ["c"], to=FLOAT, name="good"),
            node("Add", ["x", "r"], ["a"]),
            node("Add", ["a", "c"], ["y"]),
        ],
        initializers=[constant("w", [1, 2]), constant("far", 77, np.int64), constant("i", [1], np.int64)],
    )
    session, kernels = planned(proto)
    assert kernels["bad"] != "folded"
    assert kernels["good"] == "folded"
    with pytest.raises(ort.Error, match="bad"):
        session.run(None, {"x": X})


def test_nodes_that_no_output_needs_are_dropped() -> None:
    proto = model(
        [node("Relu", ["x"], ["y"]), node("Exp", ["x"], ["e"], name="e"), node("Neg", ["e"], ["f"], name="f")]
    )
    session, kernels = planned(proto)
    assert (kernels["e"], kernels["f"]) == ("dead", "dead")
    assert steps(session) == 1


def test_no_ops_cost_nothing_and_give_no_second_name_to_an_output() -> None:
    proto = model(
        [
            node("Identity", ["x"], ["a"], name="i"),
            node("Cast", ["a"], ["b"], to=FLOAT, name="c"),
            node("Dropout", ["b"], ["d"], name="d"),
            node("Neg", ["d"], ["e"], name="n"),
            node("Identity", ["e"], ["y"], name="last"),
        ],
        outputs=[value("e"), value("y")],
    )
    session, kernels = planned(proto)
    assert [kernels[name] for name in "icd"] == ["no-op"] * 3
    assert steps(session) == 2
    e, y = session.run(None, {"x": X})
    e[...] = 0
    np.testing.assert_array_equal(y, -X)


def test_without_optimization_every_node_is_a_step() -> None:
    proto = model(
        [node("Identity", ["x"], ["a"]), node("Cast", ["w"], ["c"], to=FLOAT), node("Add", ["a", "c"], ["y"])],
        initializers=[constant("w", [1], np.int32)],
    )
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session, _ = planned(proto, options)
    assert steps(session) == 3
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 1)


def test_a_buffer_is_freed_after_its_last_use() -> None:
    from onnx_light_ort.engine.plan_writing import PlanWriter

    written: list[Any] = []
    original = PlanWriter.write

    def keep(writer: PlanWriter) -> Any:
        plan = original(writer)
        written.append(plan)
        return plan

    proto = model(
        [
            node("Relu", ["x"], ["a"], name="1"),
            node("Neg", ["a"], ["b"], name="2"),
            node("Abs", ["b"], ["c"], name="3"),
            node("Add", ["c", "a"], ["y"], name="4"),
        ]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlanWriter, "write", keep)
        ort.InferenceSession(proto)
    released = {name: set(values) for name, values in written[-1].releases}
    assert "a" not in released["2"]
    assert released["3"] == {"b"}
    assert released["4"] >= {"a", "c"}


def test_outputs_that_nobody_reads_are_not_asked_for() -> None:
    wanted: list[bool] = []
    from onnx_light_ort.engine.kernel import Kernel
    from onnx_light_ort.engine.run_context import RunContext

    class TopK(Kernel):
        def compute(self, context: RunContext) -> None:
            wanted.extend(context.output_wanted(index) for index in range(context.output_count))
            context.output(0, (1, 1))[...] = 9
            context.output(1, (1, 1))[...] = 0

    registry = KernelRegistry("mine")
    registry.register_kernel("", "TopK", 1, None, {}, lambda resolved: TopK())
    options = ort.SessionOptions()
    options.add_kernel_registry(registry)
    proto = model(
        [node("TopK", ["x", "k"], ["y", "unread"], name="t")],
        outputs=[value("y", shape=[None, 1])],
        initializers=[constant("k", [1], np.int64)],
    )
    assert ort.InferenceSession(proto, options).run(None, {"x": X})[0] == [[9]]
    assert wanted == [True, False]


@pytest.mark.parametrize(("opset", "version"), [(6, 6), (12, 6), (13, 13), (14, 14), (17, 14)])
def test_the_opset_selects_the_operators_version(opset: int, version: int) -> None:
    session, _ = planned(model([node("Relu", ["x"], ["y"], name="r")], opset=opset))
    assert [row.since_version for row in session.assignment()] == [version]


def test_the_opset_selects_the_semantics() -> None:
    # Softmax of opset 12 flattens to a matrix at axis 1, that of 13 works along the last axis.
    x = np.random.default_rng(0).standard_normal((2, 2, 3)).astype(np.float32)
    sums = []
    for opset in (12, 13):
        proto = model(
            [node("Softmax", ["x"], ["y"])], [value("x", shape=[2, 2, 3])], [value("y", shape=[2, 2, 3])], opset=opset
        )
        sums.append(ort.InferenceSession(proto).run(None, {"x": x})[0].sum((1, 2)))
    np.testing.assert_allclose(sums, [[1, 1], [2, 2]], rtol=1e-5)


def test_shapes_are_inferred_through_the_graph() -> None:
    proto = model(
        [node("Shape", ["x"], ["s"]), node("Concat", ["s", "one"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
        [value("x", shape=["n", 4])],
        [helper.make_empty_tensor_value_info("y")],
        [constant("one", [1], np.int64)],
    )
    (output,) = ort.InferenceSession(proto).get_outputs()
    assert (output.type, output.shape) == ("tensor(float)", ["n", 4, 1])


def test_initializers_that_are_inputs_may_be_fed_from_ir_version_4_on() -> None:
    def overridable(ir_version: int) -> ort.InferenceSession:
        return ort.InferenceSession(
            model(
                [node("Add", ["x", "w"], ["y"])],
                [value("x"), value("w", shape=[4])],
                initializers=[constant("w", [1, 1, 1, 1])],
                ir_version=ir_version,
                opset=8,
            )
        )

    session = overridable(4)
    assert [item.name for item in session.get_inputs()] == ["x"]
    assert [item.name for item in session.get_overridable_initializers()] == ["w"]
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 1)
    np.testing.assert_array_equal(session.run(None, {"x": X, "w": np.full(4, 5, np.float32)})[0], X + 5)
    fixed = overridable(3)
    assert [item.name for item in fixed.get_inputs()] == ["x"]
    assert fixed.get_overridable_initializers() == []
    np.testing.assert_array_equal(fixed.run(None, {"x": X})[0], X + 1)


def test_sparse_initializers_are_dense_to_their_readers() -> None:
    proto = model([node("Add", ["x", "w"], ["y"])])
    values = helper.make_tensor("w", FLOAT, [2], [5, 7])
    indices = helper.make_tensor("i", INT64, [2], [1, 3])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    np.testing.assert_array_equal(ort.InferenceSession(proto).run(None, {"x": X})[0], X + np.array([0, 5, 0, 7]))


def test_planning_work_grows_with_the_nodes_and_not_faster() -> None:
    import sys

    def calls(length: int) -> int:
        data = chain(length).SerializeToString()
        count = 0

        def tally(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(tally)
        try:
            ort.InferenceSession(data)
        finally:
            sys.setprofile(None)
        return count

    calls(10)  # registries and imports
    small, large = calls(500), calls(2000)
    assert large < 4.2 * small


def test_a_subgraph_of_ten_thousand_nodes_is_no_deeper_than_the_stack_allows() -> None:
    nodes = [node("Neg", ["x" if i == 0 else f"v{i}"], [f"v{i + 1}"]) for i in range(10000)]
    body = graph(nodes, [], [value("v10000")], name="b")
    proto = model(
        [node("If", ["c"], ["y"], then_branch=body, else_branch=body)],
        [value("c", TensorProto.BOOL, []), value("x")],
    )
    session = ort.InferenceSession(proto)
    np.testing.assert_array_equal(session.run(None, {"c": np.array(True), "x": X})[0], X)
