"""Models that are wrong: the exception is of the class that ORT 1.32.0's Python package raises, and says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, ValueInfoProto, helper
from onnx_models import INT64, STRING, constant, model, node, relu, value

import onnx_light_ort as ort

RELU = node("Relu", ["x"], ["y"], name="r")


def refusal(source: Any, expected: type[Exception]) -> str:
    with pytest.raises(expected) as caught:
        ort.InferenceSession(source.SerializeToString() if isinstance(source, ModelProto) else source)
    assert type(caught.value) is expected
    return str(caught.value)


def test_bytes_that_are_no_protobuf() -> None:
    assert "truncated" in refusal(relu().SerializeToString()[:-7], ort.InvalidProtobuf)
    refusal(b"hello world", ort.InvalidProtobuf)


def test_a_truncated_big_model(tmp_path: Path) -> None:
    big = model([node("Add", ["x", "w"], ["y"])], initializers=[constant("w", np.zeros((1000000, 4)))])
    data = big.SerializeToString()
    for end in (len(data) - 7, len(data) // 2, 1 << 20, (1 << 20) + 1):
        path = tmp_path / "big.onnx"
        path.write_bytes(data[:end])
        refusal(str(path), ort.InvalidProtobuf)
        refusal(data[:end], ort.InvalidProtobuf)


def test_bytes_without_a_graph() -> None:
    assert "no graph" in refusal(b"", ort.InvalidArgument)
    refusal(ModelProto(ir_version=8), ort.InvalidArgument)


def test_files_that_are_no_model(tmp_path: Path) -> None:
    assert "nowhere.onnx" in refusal(str(tmp_path / "nowhere.onnx"), ort.NoSuchFile)
    refusal(str(tmp_path), ort.InvalidProtobuf)
    (tmp_path / "empty.onnx").write_bytes(b"")
    refusal(str(tmp_path / "empty.onnx"), ort.InvalidArgument)


def test_something_that_is_no_source() -> None:
    refusal(3, TypeError)


def test_versions_that_nobody_knows() -> None:
    old = relu()
    old.ClearField("ir_version")
    assert "ir_version" in refusal(old, ort.Fail)
    new = relu()
    new.ir_version = 99
    assert "IR version 99" in refusal(new, ort.Fail)
    assert "opset" in refusal(ModelProto(ir_version=8, graph=relu().graph), ort.Fail)


def test_an_opset_newer_than_known() -> None:
    assert "opset 99 of domain 'ai.onnx'" in refusal(model([RELU], opset=99), ort.Fail)
    assert "ai.onnx.ml" in refusal(model([RELU], imports=[("ai.onnx.ml", 99)]), ort.Fail)


def test_an_operator_that_the_opset_does_not_have() -> None:
    assert "node 'r' (Nope)" in refusal(model([node("Nope", ["x"], ["y"], name="r")]), ort.InvalidGraph)
    assert "from version 20 on" in refusal(model([node("Gelu", ["x"], ["y"], name="r")]), ort.InvalidGraph)
    refusal(model([RELU], opset=0), ort.InvalidGraph)


def test_an_unknown_domain() -> None:
    foreign = node("Nope", ["x"], ["y"], name="r", domain="foo")
    assert "foo::Nope" in refusal(model([foreign], imports=[("foo", 1)]), ort.Fail)
    assert "imports no opset of domain 'foo'" in refusal(model([foreign]), ort.InvalidGraph)


def test_an_unknown_domain_that_no_node_uses_is_fine() -> None:
    ort.InferenceSession(model([RELU], imports=[("foo", 1)]))


def test_cycles() -> None:
    cyclic = [
        node("Add", ["x", "b"], ["a"], name="n1"),
        node("Relu", ["a"], ["b"], name="n2"),
        node("Relu", ["b"], ["y"], name="n3"),
    ]
    message = refusal(model(cyclic), ort.Fail)
    assert "not acyclic" in message
    assert "'n1'" in message
    assert "'n2'" in message
    assert "'n3'" not in message
    refusal(model([node("Add", ["x", "y"], ["y"], name="n")]), ort.Fail)


def test_a_cycle_through_a_capture() -> None:
    branch = helper.make_graph([node("Identity", ["b"], ["t"])], "t", [], [value("t")])
    nodes = [
        node("If", ["c"], ["a"], name="if", then_branch=branch, else_branch=branch),
        node("Relu", ["a"], ["b"], name="n2"),
        node("Relu", ["b"], ["y"], name="n3"),
    ]
    assert "'if'" in refusal(model(nodes, [value("c", TensorProto.BOOL, [])]), ort.Fail)


def test_duplicate_names() -> None:
    assert "'y'" in refusal(model([RELU, node("Relu", ["x"], ["y"], name="s")]), ort.Fail)
    assert "'x'" in refusal(model([node("Relu", ["x"], ["x"], name="s")], outputs=[value("x")]), ort.Fail)
    assert "'x'" in refusal(model([RELU], inputs=[value("x"), value("x")]), ort.Fail)
    assert "'y'" in refusal(model([RELU], initializers=[constant("y", [1.0])]), ort.Fail)
    twice = [node("Relu", ["x"], ["a"], name="n"), node("Relu", ["a"], ["y"], name="n")]
    assert "'n'" in refusal(model(twice), ort.Fail)


def test_of_two_initializers_of_one_name_the_last_counts() -> None:
    both = model([node("Add", ["x", "w"], ["y"])], initializers=[constant("w", [1] * 4), constant("w", [2] * 4)])
    (y,) = ort.InferenceSession(both).run(None, {"x": np.zeros((1, 4), np.float32)})
    np.testing.assert_array_equal(y, [[2, 2, 2, 2]])


def test_values_that_nothing_makes() -> None:
    message = refusal(model([node("Add", ["x", "zz"], ["y"], name="n")]), ort.InvalidArgument)
    assert "'n'" in message
    assert "'zz'" in message
    assert "'y'" in refusal(model([node("Relu", ["x"], ["a"], name="n")]), ort.Fail)
    assert "'x'" in refusal(model([RELU], inputs=[ValueInfoProto(name="x")]), ort.Fail)


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        (node("Cast", ["x"], ["y"], name="n"), "to"),
        (node("Relu", ["x"], ["y"], name="n", foo=3), "foo"),
        (node("Softmax", ["x"], ["y"], name="n", axis=1.5), "axis"),
        (node("Add", ["x"], ["y"], name="n"), "input size 1"),
        (node("Relu", ["x", "x"], ["y"], name="n"), "input size 2"),
    ],
    ids=["missing attribute", "unknown attribute", "attribute of another type", "too few inputs", "too many inputs"],
)
def test_nodes_that_break_their_schema(bad: onnx.NodeProto, part: str) -> None:
    message = refusal(model([bad]), ort.InvalidGraph)
    assert "n" in message
    assert part in message


def test_types_that_contradict_each_other() -> None:
    message = refusal(model([node("Add", ["x", "i"], ["y"], name="n")], [value("x"), value("i", INT64)]), ort.Fail)
    assert "n" in message
    refusal(model([RELU], outputs=[value("y", INT64)]), ort.Fail)
    assert "Incompatible dimensions" in refusal(
        model([node("Add", ["x", "z"], ["y"], name="n")], [value("x"), value("z", shape=[3, 3])]), ort.Fail
    )


def test_a_type_that_the_operator_does_not_take() -> None:
    message = refusal(model([RELU], [value("x", STRING)], [value("y", STRING)]), ort.InvalidGraph)
    assert "'x'" in message
    assert "tensor(string)" in message


def test_a_declared_output_shape_that_is_wrong_is_only_worth_a_warning() -> None:
    session = ort.InferenceSession(model([RELU], outputs=[value("y", shape=[None, 5])]))
    (y,) = session.run(None, {"x": np.ones((2, 4), np.float32)})
    assert y.shape == (2, 4)


def weighted(**fields: Any) -> ModelProto:
    tensor = TensorProto(**{"name": "w", "data_type": 1, "dims": [4], "raw_data": bytes(16), **fields})
    return model([node("Add", ["x", "w"], ["y"], name="n")], initializers=[tensor])


@pytest.mark.parametrize(
    "fields",
    [
        {"dims": [-4]},
        {"dims": [2**40, 2**40]},
        {"dims": [2**62, 4]},
        {"dims": [5]},
        {"dims": [3]},
        {"data_type": 0},
        {"data_type": 77},
        {"raw_data": bytes(15)},
    ],
    ids=str,
)
def test_tensors_whose_dims_and_data_disagree(fields: dict[str, Any]) -> None:
    assert "'w'" in refusal(weighted(**fields), ort.Fail)


def test_typed_tensor_data_of_another_length() -> None:
    tensor = TensorProto(name="w", data_type=1, dims=[4], float_data=[1.0, 2.0])
    assert "'w'" in refusal(model([node("Add", ["x", "w"], ["y"])], initializers=[tensor]), ort.Fail)


def test_a_negative_dimension_of_an_input_is_unknown() -> None:
    session = ort.InferenceSession(model([RELU], inputs=[value("x", shape=[-1, 4])]))
    assert session.run(None, {"x": np.ones((3, 4), np.float32)})[0].shape == (3, 4)


def test_an_operator_without_kernel_gives_the_reason_of_each_registry() -> None:
    gradient = node("Gradient", ["x"], ["y"], name="n", domain="ai.onnx.preview.training", xs=["x"], y="y")
    message = refusal(model([gradient], imports=[("ai.onnx.preview.training", 1)]), ort.NotImplemented)
    assert "'n'" in message
    assert "native" in message
    assert "python" in message


def test_loose_ends_that_ort_accepts() -> None:
    x = np.ones((1, 4), np.float32)
    unnamed = model([RELU], name="")
    unsorted = model([node("Relu", ["a"], ["y"]), node("Neg", ["x"], ["a"])])
    untyped = model([RELU], outputs=[ValueInfoProto(name="y")])
    through = model([], outputs=[value("x")])
    twice = model([RELU], outputs=[value("y"), value("y")])
    for proto in (unnamed, unsorted, untyped, through, twice):
        assert ort.InferenceSession(proto.SerializeToString()).run(None, {"x": x})[0].shape == (1, 4)
    assert ort.InferenceSession(untyped).get_outputs()[0].type == "tensor(float)"
    alone = model([], [], [value("w", shape=[4])], [constant("w", [1, 2, 3, 4])])
    np.testing.assert_array_equal(ort.InferenceSession(alone).run(None, {})[0], [1, 2, 3, 4])


SCAN_BODY = helper.make_graph(
    [node("Add", ["s", "e"], ["t"]), node("Neg", ["e"], ["o"])],
    "body",
    [value("s", shape=[4]), value("e", shape=[4])],
    [value("t", shape=[4]), value("o", shape=[4])],
)


@pytest.mark.parametrize(
    "attributes",
    [
        {"scan_input_directions": [2]},
        {"scan_input_directions": [0, 0]},
        {"scan_output_directions": [-1]},
        {"scan_output_directions": [1, 1]},
    ],
    ids=str,
)
def test_scan_directions_that_are_none_or_too_many_are_refused(attributes: dict[str, list[int]]) -> None:
    scan = node("Scan", ["a", "x"], ["b", "y"], name="n", body=SCAN_BODY, num_scan_inputs=1, **attributes)
    message = refusal(model([scan], [value("x", shape=[3, 4]), value("a", shape=[4])]), ort.Fail)
    assert "'n'" in message
    assert next(iter(attributes)) in message


@pytest.mark.parametrize(("indices", "values"), [([-1], [5.0]), ([0, 1], [5.0]), ([4], [5.0]), ([0], [[5.0]])], ids=str)
def test_sparse_tensors_whose_indices_do_not_fit_are_refused(indices: list[int], values: list[Any]) -> None:
    sparse = helper.make_sparse_tensor(constant("w", values), constant("i", indices, np.int64), [4])
    proto = model([node("Add", ["x", "w"], ["y"])])
    proto.graph.sparse_initializer.append(sparse)
    assert "'w'" in refusal(proto, ort.Fail)


def with_functions(*functions: onnx.FunctionProto) -> ModelProto:
    proto = model([node("F", ["x"], ["y"], domain="f")], imports=[("f", 1)])
    proto.functions.extend(functions)
    return proto


def function(op_type: str, output: str = "b", domain: str = "f", name: str = "F") -> onnx.FunctionProto:
    body = [node(op_type, ["a"], ["b"])]
    made: onnx.FunctionProto = helper.make_function(domain, name, ["a"], [output], body, [helper.make_opsetid("", 17)])
    return made


def test_two_functions_of_one_name_are_refused() -> None:
    assert "f::F" in refusal(with_functions(function("Relu"), function("Neg")), ort.Fail)


def test_a_function_output_that_nothing_makes_is_refused() -> None:
    message = refusal(with_functions(function("Relu", output="zz")), ort.InvalidArgument)
    assert "f::F" in message
    assert "'zz'" in message


def test_an_onnx_operator_comes_before_a_function_of_its_name() -> None:
    proto = model([RELU])
    proto.functions.append(function("Neg", domain="", name="Relu"))
    (y,) = ort.InferenceSession(proto).run(None, {"x": np.full((1, 4), -1, np.float32)})
    np.testing.assert_array_equal(y, np.zeros((1, 4)))


def test_a_capture_that_nothing_makes_is_an_invalid_graph() -> None:
    branch = helper.make_graph([node("Relu", ["zz"], ["t"], name="inner")], "t", [], [value("t")])
    holder = node("If", ["c"], ["y"], name="if", then_branch=branch, else_branch=branch)
    message = refusal(model([holder], [value("c", TensorProto.BOOL, [])]), ort.InvalidGraph)
    assert "'inner'" in message
    assert "'zz'" in message


def test_an_input_of_a_type_that_onnx_does_not_define_is_named() -> None:
    assert "'x'" in refusal(model([RELU], inputs=[value("x", 99)]), ort.InvalidArgument)


def test_messages_name_the_output_of_a_node_without_name_and_the_last_opset_of_an_operator() -> None:
    assert "'y'" in refusal(model([node("Relu", ["x"], ["y"])], initializers=[constant("y", [1.0])]), ort.Fail)
    unnamed = model([node("Relu", ["x"], ["w"])], initializers=[constant("w", [1.0])])
    assert "that makes 'w'" in refusal(unnamed, ort.Fail)
    assert "after version 9" in refusal(model([node("Upsample", ["x"], ["y"], scales=[1.0])]), ort.InvalidGraph)
