"""LSTM, GRU and RNN, with every attribute of the specification: directions, layouts, activations, clipping,
sequence lengths, peepholes.

The products of all time steps with the input weights are one matrix product; what remains for each step is the product
with the recurrence weights. States are ``(batch, hidden)``, gates lie side by side in the last dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels import activations
from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

Activation = Callable[[Array], Any]
Step = Callable[[Array, tuple[Array, ...]], tuple[Array, ...]]
"""From a time step's share of the inputs and the states (h first) to the new states."""

# Functions of one argument, or of one and alpha, or of one, alpha and beta, with the defaults of the two.
_FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "affine": (lambda x, alpha, beta: alpha * x + beta, (1.0, 0.0)),
    "elu": (activations.elu, (1.0,)),
    "hardsigmoid": (activations.hard_sigmoid, (0.2, 0.5)),
    "leakyrelu": (activations.leaky_relu, (0.01,)),
    "relu": (lambda x: np.maximum(x, 0), ()),
    "scaledtanh": (lambda x, alpha, beta: alpha * np.tanh(beta * x), (1.0, 1.0)),
    "sigmoid": (activations.sigmoid, ()),
    "softplus": (activations.softplus, ()),
    "softsign": (activations.softsign, ()),
    "tanh": (np.tanh, ()),
    "thresholdedrelu": (lambda x, alpha: np.where(x > alpha, x, 0), (1.0,)),
}

_DEFAULT_ACTIVATIONS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}


def _activations(node: KernelNode) -> list[list[Activation]]:
    """The activation functions of each direction."""
    directions = 2 if node.attribute("direction", "forward") == "bidirectional" else 1
    defaults = _DEFAULT_ACTIVATIONS[node.op_type]
    names = node.attribute("activations") or defaults * directions
    alphas = iter(node.attribute("activation_alpha") or ())
    betas = iter(node.attribute("activation_beta") or ())
    functions = [_activation(name, alphas, betas) for name in names]
    each = len(defaults)
    return [functions[each * direction : each * (direction + 1)] for direction in range(directions)]


def _activation(name: str, alphas: Iterator[float], betas: Iterator[float]) -> Activation:
    function, defaults = _FUNCTIONS[name.lower()]
    given = (next(source, default) for source, default in zip((alphas, betas), defaults, strict=False))
    parameters = tuple(given)
    return (lambda x: function(x, *parameters)) if parameters else function


def _clipping(node: KernelNode) -> Activation:
    limit = node.attribute("clip")
    return (lambda x: x) if not limit else (lambda x: np.clip(x, -limit, limit))


def _one_direction(inputs: Array, states: tuple[Array, ...], step: Step, lengths: Array | None) -> Any:
    """Runs the steps over ``inputs`` (time, batch, gates); returns all h, and the final states.

    A sequence shorter than the longest keeps its states, and answers zeros, after its end.
    """
    outputs = np.zeros((inputs.shape[0], *states[0].shape), inputs.dtype)
    for time, share in enumerate(inputs):
        new = step(share, states)
        if lengths is None:
            states = new
            outputs[time] = new[0]
        else:
            running = (time < lengths)[:, None]
            states = tuple(np.where(running, after, before) for after, before in zip(new, states, strict=True))
            outputs[time] = np.where(running, new[0], 0)
    return outputs, states


def _reversed_in_time(x: Array, lengths: Array | None) -> Array:
    """Each sequence of ``x`` (time, batch, ...) backwards; the padding after its end stays behind it."""
    if lengths is None:
        return x[::-1]
    y: Array = x.copy()
    for sequence, length in enumerate(lengths):
        y[:length, sequence] = x[:length, sequence][::-1]
    return y


MakeStep = Callable[[Array, Array, Array | None, list[Activation]], tuple[Array, Step]]
"""From the recurrence weights, the bias (both halves), the peepholes and the activations of one direction to what is
added to the products of the inputs, and the step."""


def _recurrent(
    node: KernelNode,
    make_step: MakeStep,
    gates: int,
    functions: list[list[Activation]],
    x: Array,
    w: Array,
    r: Array,
    b: Array | None,
    lengths: Array | None,
    initial: list[Array | None],
    peepholes: Array | None = None,
) -> Any:
    dtype = x.dtype
    wide = np.float32 if dtype.itemsize < 4 else dtype
    batch_first = bool(node.attribute("layout", 0))
    if batch_first:
        x = x.swapaxes(0, 1)
        initial = [None if state is None else state.swapaxes(0, 1) for state in initial]
    x, w, r = x.astype(wide, copy=False), w.astype(wide, copy=False), r.astype(wide, copy=False)
    directions, hidden = r.shape[0], r.shape[2]
    if (size := node.attribute("hidden_size")) and hidden != size:
        raise ValueError(f"the recurrence weights have shape {r.shape}, and hidden_size is {size}")
    if lengths is not None:
        if lengths.shape != x.shape[1:2] or ((lengths < 0) | (lengths > x.shape[0])).any():
            raise ValueError(
                f"sequence_lens is {lengths.tolist()}: give a length from 0 to {x.shape[0]} for each of {x.shape[1]} "
                "sequences"
            )
        if (lengths == x.shape[0]).all():
            lengths = None
    if directions != len(functions):
        raise ValueError(f"the weights are for {directions} directions, the node's direction for {len(functions)}")
    outputs, finals = [], []
    for direction in range(directions):
        backwards = node.attribute("direction", "forward") == "reverse" or direction == 1
        bias = np.zeros(2 * gates * hidden, wide) if b is None else b[direction].astype(wide, copy=False)
        p = None if peepholes is None else peepholes[direction].astype(wide, copy=False)
        added, step = make_step(r[direction], bias, p, functions[direction])
        sequence = _reversed_in_time(x, lengths) if backwards else x
        shares = np.matmul(sequence, w[direction].T)
        shares += added
        states = tuple(
            np.zeros((x.shape[1], hidden), wide) if state is None else state[direction].astype(wide, copy=False)
            for state in initial
        )
        y, final = _one_direction(shares, states, step, lengths)
        outputs.append(_reversed_in_time(y, lengths) if backwards else y)
        finals.append(final)
    results = [_stacked(outputs, 1), *(_stacked(states, 0) for states in zip(*finals, strict=True))]
    if batch_first:
        results = [results[0].transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in results[1:])]
    results = [result.astype(dtype, copy=False) for result in results]
    count = node.output_count
    return results[0] if count == 1 else tuple(results[:count])


def _stacked(directions: Sequence[Array], axis: int) -> Array:
    """np.stack, without its copy where there is one direction."""
    if len(directions) > 1:
        return np.stack(directions, axis)
    only: Array = directions[0][:, None] if axis else directions[0][None]
    return only


@fast_path("LSTM")
def _lstm(node: KernelNode) -> PythonKernel:
    """Gates in the order i, o, f, c; states h and c; peepholes in the order i, o, f."""
    clipped = _clipping(node)
    couples_forget = bool(node.attribute("input_forget", 0))

    def make_step(r: Array, bias: Array, peepholes: Array | None, functions: list[Activation]) -> tuple[Array, Step]:
        recurrence = r.T
        hidden = r.shape[1]
        f, g, h = functions

        def plain_step(share: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            gates = states[0] @ recurrence
            gates += share
            opened = f(gates[:, : 3 * hidden])
            cell = opened[:, 2 * hidden :] * states[1]
            cell += opened[:, :hidden] * g(gates[:, 3 * hidden :])
            return opened[:, hidden : 2 * hidden] * h(cell), cell

        # Without peepholes, clipping and coupling, the three gates under f are one array.
        if peepholes is None and not node.attribute("clip") and not couples_forget:
            return bias[: 4 * hidden] + bias[4 * hidden :], plain_step
        looks = np.zeros(3 * hidden, r.dtype) if peepholes is None else peepholes
        peephole_i, peephole_o, peephole_f = np.split(looks, 3)

        def step(share: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            previous = states[1]
            i, o, forget, c = np.split(states[0] @ recurrence + share, 4, axis=-1)
            i = f(clipped(i + peephole_i * previous))
            forget = 1 - i if couples_forget else f(clipped(forget + peephole_f * previous))
            cell = forget * previous + i * g(clipped(c))
            return f(clipped(o + peephole_o * cell)) * h(cell), cell

        return bias[: 4 * hidden] + bias[4 * hidden :], step

    run = partial(_recurrent, node, make_step, 4, _activations(node))

    def kernel(
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        lengths: Array | None = None,
        initial_h: Array | None = None,
        initial_c: Array | None = None,
        peepholes: Array | None = None,
    ) -> Any:
        return run(x, w, r, b, lengths, [initial_h, initial_c], peepholes)

    return kernel


@fast_path("GRU")
def _gru(node: KernelNode) -> PythonKernel:
    """Gates in the order z, r, h; the state is h."""
    clipped = _clipping(node)
    resets_after_product = bool(node.attribute("linear_before_reset", 0))

    def make_step(r: Array, bias: Array, _: Array | None, functions: list[Activation]) -> tuple[Array, Step]:
        hidden = r.shape[1]
        f, g = functions
        recurrence_zr, recurrence_h = r[: 2 * hidden].T, r[2 * hidden :].T
        bias_h = bias[5 * hidden :]

        def step(share: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            (previous,) = states
            opened = f(clipped(share[:, : 2 * hidden] + previous @ recurrence_zr))
            z, reset = opened[:, :hidden], opened[:, hidden:]
            if resets_after_product:
                recurrent = reset * (previous @ recurrence_h + bias_h)
            else:
                recurrent = (reset * previous) @ recurrence_h + bias_h
            candidate = g(clipped(share[:, 2 * hidden :] + recurrent))
            return ((1 - z) * candidate + z * previous,)

        added = bias[: 3 * hidden].copy()
        added[: 2 * hidden] += bias[3 * hidden : 5 * hidden]
        return added, step

    run = partial(_recurrent, node, make_step, 3, _activations(node))

    def kernel(
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        lengths: Array | None = None,
        initial_h: Array | None = None,
    ) -> Any:
        return run(x, w, r, b, lengths, [initial_h])

    return kernel


@fast_path("RNN")
def _rnn(node: KernelNode) -> PythonKernel:
    clipped = _clipping(node)

    def make_step(r: Array, bias: Array, _: Array | None, functions: list[Activation]) -> tuple[Array, Step]:
        recurrence = r.T
        hidden = r.shape[1]
        (f,) = functions

        def step(share: Array, states: tuple[Array, ...]) -> tuple[Array, ...]:
            return (f(clipped(share + states[0] @ recurrence)),)

        return bias[:hidden] + bias[hidden:], step

    run = partial(_recurrent, node, make_step, 1, _activations(node))

    def kernel(
        x: Array,
        w: Array,
        r: Array,
        b: Array | None = None,
        lengths: Array | None = None,
        initial_h: Array | None = None,
    ) -> Any:
        return run(x, w, r, b, lengths, [initial_h])

    return kernel
