"""LSTM, GRU and RNN with every attribute of the specification, against its equations in plain numpy, in double."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]
Function = Callable[[Array], Array]

FLOATS = [np.dtype(t) for t in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)]
TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FUNCTIONS: dict[str, Function] = {
    "Sigmoid": sigmoid,
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "LeakyRelu": lambda x: np.where(x < 0, 0.25 * x, x),
    "ThresholdedRelu": lambda x: np.where(x > 0.25, x, 0),
    "Elu": lambda x: np.where(x < 0, 0.25 * np.expm1(x), x),
    "HardSigmoid": lambda x: np.clip(0.25 * x + 0.5, 0, 1),
    "Affine": lambda x: 0.25 * x + 0.5,
    "ScaledTanh": lambda x: 0.25 * np.tanh(0.5 * x),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Softplus": lambda x: np.log1p(np.exp(x)),
}
#: The values that the functions above take for their parameters.
PARAMETERS = {"activation_alpha": [0.25] * 6, "activation_beta": [0.5] * 6}


def clipped(name: str, limit: float) -> Function:
    return lambda x: FUNCTIONS[name](np.clip(x, -limit, limit))


def expected(op_type: str, inputs: dict[str, Array], names: list[str], **attributes: Any) -> list[Array]:
    """Y, Y_h and, of LSTM, Y_c, one sequence and one step after the other."""
    limit = attributes.get("clip", np.inf)
    directions = inputs["w"].shape[0]
    each = len(names) // directions
    y = np.zeros((STEPS, directions, BATCH, HIDDEN))
    finals = np.zeros((2, directions, BATCH, HIDDEN))
    for d in range(directions):
        own_names = names[d * each : (d + 1) * each]
        f, g = (clipped(own_names[min(i, each - 1)], limit) for i in range(2))
        w, r, b = inputs["w"][d], inputs["r"][d], inputs["b"][d]
        half = len(b) // 2
        rows = range(0, half, HIDDEN)
        for sequence in range(BATCH):
            length = inputs["lengths"][sequence]
            state, memory = inputs["h"][d, sequence], inputs["c"][d, sequence]
            backward = attributes["direction"] == "reverse" or d == 1
            for t in reversed(range(length)) if backward else range(length):
                x = inputs["x"][t, sequence]
                own = [w[i : i + HIDDEN] @ x + b[i : i + HIDDEN] for i in rows]
                recurrent = [r[i : i + HIDDEN] @ state + b[half + i : half + i + HIDDEN] for i in rows]
                gates = [a + c for a, c in zip(own, recurrent, strict=True)]
                if op_type == "RNN":
                    state = f(gates[0])
                elif op_type == "GRU":
                    z, reset = f(gates[0]), f(gates[1])
                    if attributes.get("linear_before_reset"):
                        candidate = g(own[2] + reset * recurrent[2])
                    else:
                        candidate = g(own[2] + r[2 * HIDDEN :] @ (reset * state) + b[half + 2 * HIDDEN :])
                    state = (1 - z) * candidate + z * state
                else:
                    look_i, look_o, look_f = np.split(inputs["p"][d], 3)
                    i = f(gates[0] + look_i * memory)
                    forget = 1 - i if attributes.get("input_forget") else f(gates[2] + look_f * memory)
                    memory = forget * memory + i * g(gates[3])
                    state = f(gates[1] + look_o * memory) * FUNCTIONS[own_names[2]](memory)
                y[t, d, sequence] = state
            finals[:, d, sequence] = state, memory
    return [y, *finals[: 2 if op_type == "LSTM" else 1]]


def check(
    run_native: RunNative,
    op_type: str,
    names: list[str],
    dtype: np.dtype[Any] = FLOATS[0],
    absent: tuple[str, ...] = (),
    constant: tuple[int, ...] = (),
    **attributes: Any,
) -> None:
    generator = np.random.default_rng(5)
    directions, rows = (2 if attributes["direction"] == "bidirectional" else 1), GATES[op_type] * HIDDEN
    shapes = {
        "x": (STEPS, BATCH, INPUTS),
        "w": (directions, rows, INPUTS),
        "r": (directions, rows, HIDDEN),
        "b": (directions, 2 * rows),
        "h": (directions, BATCH, HIDDEN),
        "c": (directions, BATCH, HIDDEN),
        "p": (directions, 3 * HIDDEN),
    }
    given: dict[str, Array] = {
        name: np.asarray(generator.uniform(-1, 1, shape)).astype(dtype) for name, shape in shapes.items()
    }
    given["lengths"] = np.array([2, 5, 0], np.int32)
    for name in absent:
        given[name] = np.full(BATCH, STEPS, np.int32) if name == "lengths" else np.zeros_like(given[name])
    wide = {name: value if name == "lengths" else value.astype(np.float64) for name, value in given.items()}
    wanted = expected(op_type, wide, names, **attributes)
    order = ["x", "w", "r", "b", "lengths", "h", *(["c", "p"] if op_type == "LSTM" else [])]
    if attributes.get("layout"):
        for name in ("x", "h", "c"):
            given[name] = np.ascontiguousarray(given[name].swapaxes(0, 1))
        wanted = [wanted[0].transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in wanted[1:])]
    got = run_native(
        op_type,
        22,
        [None if name in absent else given[name] for name in order],
        [helper.np_dtype_to_tensor_dtype(dtype)] * len(wanted),
        constant=constant,
        hidden_size=HIDDEN,
        activations=names,
        **PARAMETERS,
        **attributes,
    )
    for mine, theirs in zip(got, wanted, strict=True):
        assert mine.dtype == dtype
        limit = TOLERANCE[dtype.name]
        np.testing.assert_allclose(mine.astype(np.float64), theirs, rtol=limit, atol=limit)


DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op_type", ["LSTM", "GRU", "RNN"])
def test_sequences_of_different_lengths_in_both_layouts(
    run_native: RunNative, op_type: str, direction: str, dtype: np.dtype[Any]
) -> None:
    names = DEFAULTS[op_type] * (2 if direction == "bidirectional" else 1)
    for layout in (0, 1):
        check(run_native, op_type, names, dtype, direction=direction, layout=layout)
        check(run_native, op_type, names, dtype, ("p",), (1, 2), direction=direction, layout=layout)
        check(run_native, op_type, names, dtype, ("lengths", "p", "b"), direction=direction, layout=layout)


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
@pytest.mark.parametrize("op_type", ["LSTM", "GRU", "RNN"])
def test_arguments_of_the_functions_are_clipped(run_native: RunNative, op_type: str, direction: str) -> None:
    names = DEFAULTS[op_type] * (2 if direction == "bidirectional" else 1)
    check(run_native, op_type, names, direction=direction, clip=0.5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_activation_function_takes_its_parameters(run_native: RunNative, name: str) -> None:
    check(run_native, "RNN", [name, "Tanh"], direction="bidirectional")
    check(run_native, "GRU", [name, "Tanh"], direction="forward")
    check(run_native, "GRU", ["Sigmoid", name], direction="forward", linear_before_reset=1)
    check(run_native, "LSTM", ["Sigmoid", name, "Tanh"], direction="forward")
    check(run_native, "LSTM", ["Sigmoid", "Tanh", name], FLOATS[1], direction="reverse")


def test_the_reset_may_come_after_the_product_and_the_forget_gate_be_coupled(run_native: RunNative) -> None:
    names = DEFAULTS["GRU"] * 2
    check(run_native, "GRU", names, direction="bidirectional", linear_before_reset=1)
    check(run_native, "GRU", names, constant=(1, 2), direction="bidirectional", linear_before_reset=1, clip=0.7)
    check(run_native, "LSTM", DEFAULTS["LSTM"], direction="forward", input_forget=1)
    check(run_native, "LSTM", DEFAULTS["LSTM"], absent=("p",), direction="forward", input_forget=1, clip=0.5)


def test_recurrent_networks_refuse_what_does_not_fit(run_native: RunNative) -> None:
    x, w, r = (np.zeros(shape, np.float32) for shape in ((2, 1, 3), (1, 4, 3), (1, 4, 4)))
    lengths = np.array([3], np.int32)
    with pytest.raises(Exception, match="RNN: sequence_lens has the length 3, expected one from 0 to 2"):
        run_native("RNN", 14, [x, w, r, None, lengths], [TensorProto.FLOAT], hidden_size=4, activations=["Tanh"])
    with pytest.raises(Exception, match="RNN: there is no activation function 'Sine'"):
        run_native("RNN", 14, [x, w, r], [TensorProto.FLOAT], hidden_size=4, activations=["Sine"])
    with pytest.raises(Exception, match="1 activations are named, expected 1 for each of 2 directions"):
        run_native(
            "RNN", 14, [x, w, r], [TensorProto.FLOAT], hidden_size=4, activations=["Tanh"], direction="bidirectional"
        )
