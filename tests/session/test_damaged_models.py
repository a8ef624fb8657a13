"""Models damaged at random: an exception of the package for each, and never a crash."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper
from onnx_models import BOOL, INT64, constant, graph, model, node, value

import onnx_light_ort as ort

NUMBERS = (-1, 0, 1, 2, 3, -2, -5, 7, 100, 2**31, -(2**31), 2**40, 2**62, -(2**63), 2**63 - 1)


def models() -> list[ModelProto]:
    branch = graph([node("Neg", ["a"], ["t"])], [], [value("t")], name="b")
    function = helper.make_function(
        "local", "F", ["p"], ["q"], [node("Neg", ["p"], ["q"])], [helper.make_opsetid("", 17)]
    )
    return [
        model(
            [
                node("Conv", ["i", "k"], ["c"], pads=[1, 1, 1, 1], strides=[1, 1]),
                node("Relu", ["c"], ["r"]),
                node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2]),
            ],
            [value("i", shape=[1, 2, 5, 5])],
            [value("y", shape=None)],
            [constant("k", np.ones((3, 2, 3, 3)))],
        ),
        model(
            [
                node("Shape", ["x"], ["s"]),
                node("Gather", ["s", "zero"], ["n"], axis=0),
                node("Concat", ["n", "rest"], ["t"], axis=0),
                node("Reshape", ["x", "t"], ["z"]),
                node("Transpose", ["z"], ["u"], perm=[1, 0, 2]),
                node("ReduceSum", ["u", "zero"], ["y"], keepdims=0),
            ],
            outputs=[value("y", shape=None)],
            initializers=[constant("zero", [0], np.int64), constant("rest", [2, 2], np.int64)],
        ),
        model(
            [
                node("Abs", ["x"], ["a"]),
                node("If", ["c"], ["b"], then_branch=branch, else_branch=branch),
                node("F", ["b"], ["d"], domain="local"),
                node("Cast", ["d"], ["e"], to=INT64),
                node("OneHot", ["e", "depth", "values"], ["y"], axis=-1),
            ],
            [value("c", BOOL, []), value("x")],
            [value("y", shape=None)],
            [constant("depth", 3, np.int64), constant("values", [0, 1])],
            imports=[("local", 1)],
            functions=[function],
        ),
    ]


def damage(proto: ModelProto, chance: random.Random) -> None:
    main = proto.graph
    if not main.node:
        return
    chosen = chance.choice(main.node)
    names = [*(item.name for item in main.input), *(name for item in main.node for name in item.output), "", "nowhere"]
    kind = chance.randrange(8)
    if kind == 0 and chosen.attribute:
        attribute = chance.choice(chosen.attribute)
        if attribute.ints:
            attribute.ints[chance.randrange(len(attribute.ints))] = chance.choice(NUMBERS)
        else:
            attribute.i = chance.choice(NUMBERS)
    elif kind == 1 and chosen.attribute:
        del chosen.attribute[chance.randrange(len(chosen.attribute))]
    elif kind == 2 and chosen.input:
        chosen.input[chance.randrange(len(chosen.input))] = chance.choice(names)
    elif kind == 3:
        chosen.input.append(chance.choice(names))
    elif kind == 4:
        chosen.op_type = chance.choice([item.op_type for item in main.node] + ["Nope"])
    elif kind == 5:
        proto.opset_import[0].version = chance.choice([*range(1, 25), -1, 2**40])
    elif kind == 6 and main.initializer:
        tensor = chance.choice(main.initializer)
        tensor.dims.append(chance.choice(NUMBERS))
    elif kind == 7:
        tensor_type = chance.choice(main.input).type.tensor_type
        tensor_type.elem_type = chance.randrange(30)


def attempt(data: bytes) -> str:
    """The name of the package's exception; "" where the model ran."""
    options = ort.SessionOptions()
    options.memory_limit = 1 << 26
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(data, options)
        feed: dict[str, Any] = {}
        for item in session.get_inputs():
            shape = [dim if isinstance(dim, int) else 2 for dim in item.shape]
            feed[item.name] = np.ones(shape, {"c": np.bool_}.get(item.name, np.float32))
        session.run(None, feed)
    except ort.Error as error:
        return type(error).__name__
    return ""


def test_the_sound_models_run() -> None:
    assert [attempt(proto.SerializeToString()) for proto in models()] == [""] * 3


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_model_raises_an_error_of_this_package(seed: int) -> None:
    chance = random.Random(seed)
    outcomes = set()
    for _ in range(60):
        for proto in models():
            for _ in range(chance.choice((1, 1, 2))):
                damage(proto, chance)
            outcomes.add(attempt(proto.SerializeToString()))
    assert {"InvalidGraph", "Fail"} <= outcomes


@pytest.mark.parametrize("seed", range(5))
def test_damaged_bytes_raise_an_error_of_this_package(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        for proto in models():
            data = bytearray(proto.SerializeToString())
            for _ in range(chance.choice((1, 2, 4))):
                position = chance.randrange(len(data))
                data[position] = chance.randrange(256)
            if chance.random() < 0.2:
                del data[chance.randrange(len(data)) :]
            attempt(bytes(data))


def test_names_that_are_no_text() -> None:
    data = model([node("Relu", ["x"], ["quite_unlikely_name"]), node("Neg", ["quite_unlikely_name"], ["y"])])
    for part in (b"quite_unlikely_name", b"Relu"):
        broken = data.SerializeToString().replace(part, part[:-1] + b"\xff")
        with pytest.raises(ort.Error):
            ort.InferenceSession(broken)


@pytest.mark.parametrize(
    "bad",
    [
        node("Split", ["x"], ["y", "z"], name="n", num_outputs=2**62),
        node("Split", ["x"], ["y", "z"], name="n", num_outputs=1),
        node("LayerNormalization", ["x", "x"], ["y"], name="n", axis=2**63 - 1),
        node("GatherND", ["x", "i"], ["y"], name="n", batch_dims=-5),
    ],
    ids=lambda bad: bad.op_type,
)
def test_numbers_that_onnx_would_follow_out_of_bounds_are_refused(bad: Any) -> None:
    outputs = [value(name, shape=None) for name in bad.output]
    proto = model([bad], [value("x"), value("i", INT64, [1, 1])], outputs, opset=18)
    with pytest.raises(ort.InvalidGraph, match="node 'n'"):
        ort.InferenceSession(proto)
    function = helper.make_function("local", "F", ["x", "i"], list(bad.output), [bad], [helper.make_opsetid("", 18)])
    call = node("F", ["x", "i"], list(bad.output), domain="local")
    inputs = [value("x"), value("i", INT64, [1, 1])]
    with pytest.raises(ort.InvalidGraph, match="node 'n'"):
        ort.InferenceSession(model([call], inputs, outputs, opset=18, imports=[("local", 1)], functions=[function]))
