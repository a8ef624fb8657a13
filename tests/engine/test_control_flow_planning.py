"""If, Loop and Scan with values of the graphs around them, at any depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, TensorProto, ValueInfoProto, helper
from onnx_models import BOOL, FLOAT, INT64, constant, graph, model, node, value

import onnx_light_ort as ort

X = np.array([[1, 2, 3, 4]], np.float32)


def run(proto: Any, **feed: Any) -> Any:
    return ort.InferenceSession(proto).run(None, {name: np.asarray(array) for name, array in feed.items()})


def branch(*nodes: Any, name: str = "b", initializers: Any = ()) -> GraphProto:
    return graph(nodes, [], [ValueInfoProto(name=nodes[-1].output[0])], initializers, name)


def test_both_branches_capture_values_of_the_outer_graph() -> None:
    proto = model(
        [
            node("Relu", ["x"], ["a"], name="before"),
            node(
                "If", ["c"], ["b"], name="if",
                then_branch=branch(node("Add", ["a", "w"], ["t"])),
                else_branch=branch(node("Mul", ["a", "v"], ["e"]), initializers=[constant("v", [2.0])]),
            ),
            node("Neg", ["b"], ["y"]),
        ],
        [value("c", BOOL, []), value("x")],
        initializers=[constant("w", [10.0])],
    )  # fmt: skip
    np.testing.assert_array_equal(run(proto, c=True, x=X)[0], -(X + 10))
    np.testing.assert_array_equal(run(proto, c=False, x=X)[0], -(X * 2))


def test_captures_through_three_levels() -> None:
    innermost = branch(node("Add", ["x", "a"], ["s"]), node("Add", ["s", "m"], ["t"]), name="innermost")
    middle = branch(
        node("Neg", ["a"], ["m"]),
        node("If", ["d"], ["u"], then_branch=innermost, else_branch=branch(node("Identity", ["m"], ["i"]))),
        name="middle",
    )
    proto = model(
        [
            node("Abs", ["x"], ["a"]),
            node("If", ["c"], ["y"], then_branch=middle, else_branch=branch(node("Identity", ["x"], ["o"]))),
        ],
        [value("c", BOOL, []), value("d", BOOL, []), value("x")],
    )
    np.testing.assert_array_equal(run(proto, c=True, d=True, x=-X)[0], -X + X - X)
    np.testing.assert_array_equal(run(proto, c=True, d=False, x=-X)[0], -X)
    np.testing.assert_array_equal(run(proto, c=False, d=False, x=-X)[0], -X)


def loop_body(*nodes: Any, outputs: tuple[str, ...], states: tuple[str, ...]) -> GraphProto:
    inputs = [value("i", INT64, []), value("ci", BOOL, []), *(value(name) for name in states)]
    return graph(nodes, inputs, [ValueInfoProto(name=name) for name in ("co", *outputs)], name="body")


def test_a_loop_carries_states_and_stacks_scan_outputs() -> None:
    body = loop_body(
        node("Identity", ["ci"], ["co"]),
        node("Add", ["s", "w"], ["so"]),
        node("Mul", ["so", "x"], ["scan"]),
        outputs=("so", "scan"),
        states=("s",),
    )
    proto = model(
        [node("Loop", ["n", "", "x"], ["last", "all"], body=body)],
        [value("n", INT64, []), value("x")],
        [value("last"), value("all", shape=None)],
        [constant("w", [1.0])],
    )
    last, all_of_them = run(proto, n=3, x=X)
    np.testing.assert_array_equal(last, X + 3)
    np.testing.assert_array_equal(all_of_them, np.stack([(X + step) * X for step in (1, 2, 3)]))
    last, all_of_them = run(proto, n=0, x=X)
    np.testing.assert_array_equal(last, X)
    assert all_of_them.shape[0] == 0


def test_a_loop_ends_by_its_condition() -> None:
    body = loop_body(
        node("Add", ["s", "x"], ["so"]),
        node("ReduceSum", ["so"], ["sum"], keepdims=0),
        node("Less", ["sum", "limit"], ["co"]),
        outputs=("so",),
        states=("s",),
    )
    proto = model(
        [node("Loop", ["", "go", "x"], ["y"], body=body)],
        [value("go", BOOL, []), value("x")],
        initializers=[constant("limit", 45.0)],
    )
    np.testing.assert_array_equal(run(proto, go=True, x=X)[0], X * 5)
    np.testing.assert_array_equal(run(proto, go=False, x=X)[0], X)


def test_an_if_inside_of_a_loop_sees_the_loops_values() -> None:
    then_branch = branch(node("Add", ["s", "x"], ["p"]))
    else_branch = branch(node("Sub", ["s", "x"], ["q"]))
    body = loop_body(
        node("Identity", ["ci"], ["co"]),
        node("Mod", ["i", "two"], ["parity"]),
        node("Cast", ["parity"], ["odd"], to=BOOL),
        node("If", ["odd"], ["so"], then_branch=then_branch, else_branch=else_branch),
        outputs=("so",),
        states=("s",),
    )
    proto = model(
        [node("Loop", ["n", "", "x"], ["y"], body=body)],
        [value("n", INT64, []), value("x")],
        initializers=[constant("two", 2, np.int64)],
    )
    np.testing.assert_array_equal(run(proto, n=4, x=X)[0], X)
    np.testing.assert_array_equal(run(proto, n=5, x=X)[0], X - X)


def test_a_loop_over_a_sequence() -> None:
    sequence = ValueInfoProto(
        name="q", type=helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
    )
    body = graph(
        [node("Identity", ["ci"], ["co"]), node("SequenceInsert", ["q", "x"], ["qo"])],
        [value("i", INT64, []), value("ci", BOOL, []), sequence],
        [ValueInfoProto(name="co"), ValueInfoProto(name="qo")],
        name="body",
    )
    proto = model(
        [
            node("SequenceEmpty", [], ["empty"]),
            node("Loop", ["n", "", "empty"], ["made"], body=body),
            node("ConcatFromSequence", ["made"], ["y"], axis=0),
        ],
        [value("n", INT64, []), value("x")],
    )
    np.testing.assert_array_equal(run(proto, n=3, x=X)[0], np.concatenate([X] * 3))


def test_a_scan_over_an_axis_backwards() -> None:
    body = graph(
        [node("Add", ["s", "e"], ["so"]), node("Identity", ["so"], ["out"])],
        [value("s", shape=[1]), value("e", shape=[1])],
        [value("so", shape=[1]), value("out", shape=[1])],
        name="body",
    )
    proto = model(
        [
            node(
                "Scan",
                ["zero", "x"],
                ["sum", "y"],
                body=body,
                num_scan_inputs=1,
                scan_input_axes=[1],
                scan_input_directions=[1],
            )
        ],
        outputs=[value("sum", shape=[1]), value("y", shape=[4, 1])],
        initializers=[constant("zero", [0.0])],
    )
    total, running = run(proto, x=X)
    assert total == [10]
    np.testing.assert_array_equal(running, [[4], [7], [9], [10]])


def test_a_scan_of_opset_8_runs_each_batch_entry() -> None:
    body = graph(
        [node("Add", ["s", "e"], ["so"]), node("Identity", ["so"], ["out"])],
        [value("s", shape=[2]), value("e", shape=[2])],
        [value("so", shape=[2]), value("out", shape=[2])],
        name="body",
    )
    proto = model(
        [node("Scan", ["", "s", "x"], ["sum", "y"], body=body, num_scan_inputs=1)],
        [value("s", shape=["b", 2]), value("x", shape=["b", 3, 2])],
        [value("sum", shape=["b", 2]), value("y", shape=["b", 3, 2])],
        opset=8,
        ir_version=3,
    )
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    s = np.ones((2, 2), np.float32)
    total, running = run(proto, s=s, x=x)
    np.testing.assert_array_equal(total, s + x.sum(1))
    np.testing.assert_array_equal(running, s[:, None] + np.cumsum(x, 1))


def test_constants_inside_of_a_body_are_folded_and_dead_nodes_dropped_there() -> None:
    body = loop_body(
        node("Identity", ["ci"], ["co"]),
        node("Add", ["w", "w"], ["w2"], name="fold me"),
        node("Neg", ["s"], ["unused"], name="drop me"),
        node("Add", ["s", "w2"], ["so"]),
        outputs=("so",),
        states=("s",),
    )
    proto = model(
        [node("Loop", ["n", "", "x"], ["y"], body=body, name="loop")],
        [value("n", INT64, []), value("x")],
        initializers=[constant("w", [1.0])],
    )
    session = ort.InferenceSession(proto)
    np.testing.assert_array_equal(session.run(None, {"n": np.array(3), "x": X})[0], X + 6)
    kernels = {row.name: row.kernel for row in session.assignment()}
    assert kernels["fold me"] == "folded"
    assert kernels["drop me"] == "dead"
    assert kernels["loop"] == "control flow"


def test_big_weights_of_two_branches_may_share_a_name() -> None:
    big = {name: np.full((1000, 4), number, np.float32) for name, number in (("then", 1), ("else", 2))}
    branches = {
        name: branch(
            node("ReduceMax", ["w"], ["m"], keepdims=0),
            node("Add", ["x", "m"], ["t"]),
            initializers=[constant("w", big[name])],
        )
        for name in big
    }
    proto = model(
        [
            node("If", ["c"], ["a"], then_branch=branches["then"], else_branch=branches["else"]),
            node("Add", ["a", "w"], ["y"]),
        ],
        [value("c", BOOL, []), value("x")],
        # Big enough that weights are left out of what shape inference gets.
        initializers=[constant("w", [100.0]), constant("bulk", np.zeros(300000))],
    )
    data = proto.SerializeToString()
    assert len(data) > 1 << 20
    np.testing.assert_array_equal(run(data, c=True, x=X)[0], X + 101)
    np.testing.assert_array_equal(run(data, c=False, x=X)[0], X + 102)


def test_a_bad_node_inside_of_a_branch_is_named() -> None:
    def conditional(bad: Any) -> Any:
        return model(
            [node("If", ["c"], ["y"], then_branch=branch(bad), else_branch=branch(node("Neg", ["x"], ["n"])))],
            [value("c", BOOL, []), value("x")],
        )

    with pytest.raises(ort.InvalidGraph, match=r"'deep'.*'nowhere'"):
        ort.InferenceSession(conditional(node("Add", ["x", "nowhere"], ["t"], name="deep")))
    with pytest.raises(ort.InvalidGraph, match="'deep'"):
        ort.InferenceSession(conditional(node("Cast", ["x"], ["t"], name="deep")))
    with pytest.raises(ort.InvalidGraph, match="Nope"):
        ort.InferenceSession(conditional(node("Nope", ["x"], ["t"], name="deep")))


def test_types_of_bodies_without_declared_types_are_inferred() -> None:
    body = graph(
        [
            node("Identity", ["ci"], ["co"]),
            node("Cast", ["s"], ["so"], to=FLOAT),
            node("Cast", ["s"], ["h"], to=TensorProto.INT32),
        ],
        [ValueInfoProto(name=name) for name in ("i", "ci", "s")],
        [ValueInfoProto(name=name) for name in ("co", "so", "h")],
        name="body",
    )
    proto = model(
        [node("Loop", ["n", "c", "x"], ["last", "y"], body=body)],
        [value("n", INT64, []), value("c", BOOL, []), value("x")],
        [ValueInfoProto(name="last"), ValueInfoProto(name="y")],
    )
    session = ort.InferenceSession(proto)
    assert [output.type for output in session.get_outputs()] == ["tensor(float)", "tensor(int32)"]
    assert session.run(None, {"n": np.array(2), "c": np.array(True), "x": X})[1].dtype == np.int32
