"""Each numpy fast path computes what the reference implementation does, over drawn attributes, shapes and types."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import NodeProto, TensorProto
from onnx.helper import make_node

from onnx_light_ort.engine.attribute import attribute_value
from onnx_light_ort.engine.operator_schema import standard_operator
from onnx_light_ort.engine.python_kernels import KernelNode, create_python_kernel, fast_path_operators
from onnx_light_ort.engine.python_kernels.fast_paths import find_fast_path
from onnx_light_ort.engine.python_kernels.reference import reference_kernel
from onnx_light_ort.engine.value_type import element_type_of_dtype, is_element_type, numpy_dtype

Array = np.ndarray[Any, Any]

drawn = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

FLOATS = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


@pytest.fixture(autouse=True)
def _silent_numpy() -> Iterator[None]:
    """As the engine runs kernels."""
    with np.errstate(all="ignore"):
        yield


def element_type(value: Any) -> int:
    return element_type_of_dtype(value.dtype) if isinstance(value, np.ndarray) else 0


def attributes_of(node: NodeProto, since_version: int) -> dict[str, Any]:
    given_here = {attribute.name: attribute_value(attribute) for attribute in node.attribute}
    operator = standard_operator(node.domain, node.op_type, since_version)
    assert operator is not None
    return {**operator.attribute_defaults, **given_here}


def kernel_node(node: NodeProto, version: int | None, inputs: list[Any], output_types: list[int]) -> KernelNode:
    schema = onnx.defs.get_schema(node.op_type, version or onnx.defs.onnx_opset_version(), node.domain)
    return KernelNode(
        proto=node,
        domain=node.domain,
        op_type=node.op_type,
        since_version=schema.since_version,
        opset_imports={"": version or onnx.defs.onnx_opset_version()},
        input_types=tuple(map(element_type, inputs)),
        output_types=tuple(output_types),
        attributes=attributes_of(node, schema.since_version),
    )


def run_fast(
    node: NodeProto, inputs: list[Any], version: int | None = None, output_types: list[int] | None = None
) -> Any:
    """The fast path's outputs, as a tuple; the test fails if there is none or if it declines."""
    types = output_types or [element_type(inputs[0])] * len(node.output)
    resolved = kernel_node(node, version, inputs, types)
    factory = find_fast_path(node.domain, node.op_type)
    assert factory is not None
    kernel = factory(resolved)
    assert kernel is not None, f"the fast path of {node.op_type} declines"
    before = [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]
    outputs = kernel(*inputs)
    for value, copy in zip(inputs, before, strict=True):
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, copy, err_msg="an input was written")
    return outputs if len(node.output) > 1 else (outputs,)


def run_reference(
    node: NodeProto, inputs: list[Any], version: int | None = None, output_types: list[int] | None = None
) -> Any:
    types = output_types or [element_type(inputs[0])] * len(node.output)
    outputs = reference_kernel(kernel_node(node, version, inputs, types))(*inputs)
    return outputs if len(node.output) > 1 else (outputs,)


def assert_same(actual: Any, expected: Any, tolerance: float | None = None) -> None:
    assert len(actual) == len(expected)
    for mine, theirs in zip(actual, expected, strict=True):
        assert isinstance(mine, np.ndarray)
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        if mine.dtype == object or mine.dtype.kind in "biu":
            np.testing.assert_array_equal(mine, theirs)
            continue
        limit = TOLERANCES[mine.dtype.name] if tolerance is None else tolerance
        np.testing.assert_allclose(mine.astype(np.float64), theirs.astype(np.float64), rtol=limit, atol=limit)


def assert_matches_reference(
    node: NodeProto,
    inputs: list[Any],
    version: int | None = None,
    output_types: list[int] | None = None,
    tolerance: float | None = None,
) -> None:
    assert_same(
        run_fast(node, inputs, version, output_types), run_reference(node, inputs, version, output_types), tolerance
    )


def numbers(seed: int, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Floats around 0, or integers over the whole range of an 8-bit type and a part of a wider one."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return generator.integers(max(limits.min, -1000), min(limits.max, 1000) + 1, shape).astype(dtype)
    if dtype.kind == "b":
        return generator.random(shape) < 0.5
    return generator.normal(size=shape).astype(dtype)


seeds = st.integers(0, 2**32 - 1)
floats = st.sampled_from(FLOATS)
wide_floats = st.sampled_from(FLOATS[:2])


def shapes(minimum: int = 0, maximum: int = 4, smallest: int = 1) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(smallest, 5), min_size=minimum, max_size=maximum).map(tuple)


# Elementwise


@pytest.mark.parametrize(
    "op_type",
    [
        "Abs",
        "Ceil",
        "Cos",
        "Exp",
        "Floor",
        "IsNaN",
        "Neg",
        "Round",
        "Sign",
        "Sin",
        "Tan",
        "Tanh",
        "Atan",
        "Asinh",
        "Sinh",
        "Cosh",
        "Relu",
        "Sigmoid",
        "Softsign",
        "Erf",
        "Selu",
        "Elu",
        "Celu",
        "LeakyRelu",
        "HardSigmoid",
        "Softplus",
        "ThresholdedRelu",
    ],
)
@given(seed=seeds, shape=shapes(smallest=0), dtype=floats)
@drawn
def test_unary_operators_match_the_reference(op_type: str, seed: int, shape: tuple[int, ...], dtype: Any) -> None:
    assume(not (op_type == "Erf" and dtype == np.float64))  # The reference computes erf in float32,
    assume(not (op_type == "Softsign" and not shape))  # and has no softsign of a scalar.
    x = numbers(seed, shape, dtype) * np.asarray(3, dtype)
    types = [TensorProto.BOOL] if op_type == "IsNaN" else None
    assert_matches_reference(make_node(op_type, ["x"], ["y"]), [np.asarray(x)], output_types=types)


def test_erf_of_float64_has_the_precision_of_float64() -> None:
    x = np.linspace(-5, 5, 101)
    (y,) = run_fast(make_node("Erf", ["x"], ["y"]), [x])
    np.testing.assert_allclose(y, [math.erf(value) for value in x], rtol=1e-15)


def test_erf_of_float32_is_within_4e7_of_the_exact_value() -> None:
    x = np.linspace(-6, 6, 100_001, dtype=np.float32)
    (y,) = run_fast(make_node("Erf", ["x"], ["y"]), [x])
    assert np.abs(y - np.array([math.erf(value) for value in x])).max() < 4e-7


def test_sigmoid_keeps_its_relative_precision_far_below_zero() -> None:
    x = np.array([-80, -40, -20, -1, 0, 100], np.float32)
    (y,) = run_fast(make_node("Sigmoid", ["x"], ["y"]), [x])
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-x.astype(np.float64))), rtol=1e-6)


@pytest.mark.parametrize("op_type", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "Pow"])
@given(seed=seeds, shape=shapes(), dtype=floats, data=st.data())
@drawn
def test_arithmetic_broadcasts_as_the_reference(
    op_type: str, seed: int, shape: tuple[int, ...], dtype: Any, data: st.DataObject
) -> None:
    other = tuple(data.draw(st.sampled_from([1, n])) for n in shape[data.draw(st.integers(0, len(shape))) :])
    a, b = numbers(seed, shape, dtype), numbers(seed + 1, other, dtype)
    if op_type == "Pow":
        a = np.abs(a)
    assert_matches_reference(make_node(op_type, ["a", "b"], ["c"]), [a, b])


@given(
    seed=seeds, dtype=st.sampled_from([np.int8, np.int32, np.int64, np.uint8]), op_type=st.sampled_from(["Div", "Mod"])
)
@drawn
def test_integers_are_divided_towards_zero_and_their_remainder_has_the_sign_of_the_divisor(
    seed: int, dtype: Any, op_type: str
) -> None:
    a, b = numbers(seed, (50,), dtype), numbers(seed + 1, (50,), dtype)
    b[b == 0] = 3
    (actual,) = run_fast(make_node(op_type, ["a", "b"], ["c"]), [a, b])
    quotients = [
        int(math.copysign(abs(x) // abs(y), x * y)) if x else 0 for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    expected = quotients if op_type == "Div" else [x % y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(actual, np.array(expected).astype(dtype))


@given(seed=seeds, exponent=st.sampled_from([0, 1, 2, 3, 0.5, -1]), dtype=floats, exponent_rank=st.integers(0, 2))
@drawn
def test_pow_matches_the_reference(seed: int, exponent: float, dtype: Any, exponent_rank: int) -> None:
    x = np.abs(numbers(seed, (3,), dtype)) + np.asarray(0.1, dtype)
    power = np.full((1,) * exponent_rank, exponent, np.float32)
    assert_matches_reference(make_node("Pow", ["x", "e"], ["y"]), [x, power])


@pytest.mark.parametrize("op_type", ["And", "Or", "Xor"])
@given(seed=seeds)
@drawn
def test_logic_matches_the_reference(op_type: str, seed: int) -> None:
    assert_matches_reference(
        make_node(op_type, ["a", "b"], ["c"]), [numbers(seed, (9,), bool), numbers(seed + 1, (9,), bool)]
    )


@pytest.mark.parametrize("op_type", ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
@given(seed=seeds, dtype=st.sampled_from([np.int32, np.float32, np.dtype(ml_dtypes.bfloat16)]))
@drawn
def test_comparisons_match_the_reference(op_type: str, seed: int, dtype: Any) -> None:
    a, b = numbers(seed, (2, 9), dtype), numbers(seed + 1, (9,), dtype)
    b[:4] = a[0, :4]
    assert_matches_reference(make_node(op_type, ["a", "b"], ["c"]), [a, b], output_types=[TensorProto.BOOL])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_before_version_7_the_second_operand_is_aligned_at_the_axis(axis: int) -> None:
    a = numbers(1, (2, 3, 4))
    b = numbers(2, a.shape[axis:][:1])
    (y,) = run_fast(make_node("Add", ["a", "b"], ["c"], broadcast=1, axis=axis), [a, b], version=6)
    aligned = b.reshape(b.shape + (1,) * (2 - axis % 3))
    np.testing.assert_array_equal(y, a + aligned)


@given(seed=seeds, dtype=floats, limits=st.tuples(st.booleans(), st.booleans()))
@drawn
def test_clip_matches_the_reference(seed: int, dtype: Any, limits: tuple[bool, bool]) -> None:
    bounds = [np.asarray(value, dtype) if given_ else None for value, given_ in zip((-0.5, 0.5), limits, strict=True)]
    assert_matches_reference(make_node("Clip", ["x", "a", "b"], ["y"]), [numbers(seed, (3, 4), dtype), *bounds])


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@given(seed=seeds, shape=shapes(minimum=1), dtype=floats, data=st.data())
@drawn
def test_softmaxes_match_the_reference(
    op_type: str, seed: int, shape: tuple[int, ...], dtype: Any, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    assert_matches_reference(make_node(op_type, ["x"], ["y"], axis=axis), [numbers(seed, shape, dtype)])


def test_before_version_13_softmax_takes_the_trailing_dimensions_as_one() -> None:
    x = numbers(3, (2, 3, 4))
    (y,) = run_fast(make_node("Softmax", ["x"], ["y"], axis=1), [x], version=11)
    np.testing.assert_allclose(y.reshape(2, -1).sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(axis=(1, 2), keepdims=True), rtol=1e-5)


# Convolution


@st.composite
def window_attributes(draw: st.DrawFn, rank: int, with_pads: bool = True) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "strides": draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank)),
        "dilations": draw(st.lists(st.integers(1, 2), min_size=rank, max_size=rank)),
    }
    auto_pad = draw(st.sampled_from(["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    if auto_pad != "NOTSET":
        attributes["auto_pad"] = auto_pad
    elif with_pads:
        attributes["pads"] = draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank))
    return attributes


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]:
    """Attributes, and the shapes of X and W."""
    rank = draw(st.integers(1, 3))
    group = draw(st.sampled_from([1, 1, 2, 3]))
    inputs, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    spatial = tuple(draw(st.integers(5, 9)) for _ in range(rank))
    attributes = {"group": group, **draw(window_attributes(rank))}
    return attributes, (draw(st.integers(1, 2)), group * inputs, *spatial), (group * outputs, inputs, *kernel)


@given(seed=seeds, case=convolutions(), dtype=floats, with_bias=st.booleans())
@drawn
def test_convolution_matches_the_reference(seed: int, case: Any, dtype: Any, with_bias: bool) -> None:
    attributes, x_shape, w_shape = case
    bias = [numbers(seed + 2, w_shape[:1], dtype)] if with_bias else []
    node = make_node("Conv", ["x", "w", "b"][: 2 + len(bias)], ["y"], **attributes)
    inputs = [numbers(seed, x_shape, dtype), numbers(seed + 1, w_shape, dtype), *bias]
    expected = run_reference(node, [value.astype(np.float64) for value in inputs])
    assert_same(run_fast(node, inputs), tuple(y.astype(dtype) for y in expected), 0.1 if dtype.itemsize == 2 else None)


def test_large_depthwise_and_blocked_convolutions_match_the_reference() -> None:
    depthwise = make_node("Conv", ["x", "w"], ["y"], group=6, pads=[1, 1, 1, 1], strides=[1, 2], dilations=[2, 1])
    assert_matches_reference(depthwise, [numbers(1, (2, 6, 60, 70)), numbers(2, (6, 1, 3, 3))], tolerance=1e-4)
    blocked = make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], group=2)
    assert_matches_reference(blocked, [numbers(1, (2, 32, 110, 100)), numbers(2, (4, 16, 3, 3))], tolerance=1e-3)


def test_convolution_of_an_empty_batch_is_empty() -> None:
    (y,) = run_fast(make_node("Conv", ["x", "w"], ["y"]), [numbers(1, (0, 2, 5, 5)), numbers(2, (3, 2, 3, 3))])
    assert y.shape == (0, 3, 3, 3)


def test_convolution_refuses_weights_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"\(1, 3, 5, 5\).*\(4, 2, 3, 3\).*1 groups"):
        run_fast(make_node("Conv", ["x", "w"], ["y"]), [numbers(1, (1, 3, 5, 5)), numbers(2, (4, 2, 3, 3))])


eight_bit = st.sampled_from([np.int8, np.uint8])


@given(seed=seeds, case=convolutions(), x_type=eight_bit, w_type=eight_bit, with_zeros=st.booleans())
@drawn
def test_integer_convolution_is_exact(seed: int, case: Any, x_type: Any, w_type: Any, with_zeros: bool) -> None:
    attributes, x_shape, w_shape = case
    inputs = [numbers(seed, x_shape, x_type), numbers(seed + 1, w_shape, w_type)]
    if with_zeros:
        inputs += [numbers(seed + 2, (), x_type), numbers(seed + 3, (), w_type)]
    node = make_node("ConvInteger", ["x", "w", "xz", "wz"][: len(inputs)], ["y"], **attributes)
    assert_matches_reference(node, inputs, output_types=[TensorProto.INT32])


@given(seed=seeds, case=convolutions(), dtype=eight_bit, per_channel=st.booleans(), with_bias=st.booleans())
@drawn
def test_quantized_convolution_is_within_one_step_of_the_reference(
    seed: int, case: Any, dtype: Any, per_channel: bool, with_bias: bool
) -> None:
    attributes, x_shape, w_shape = case
    assume(len(x_shape) == 4)  # The reference knows scales of a channel for two spatial dimensions only.
    w_scale = np.abs(numbers(seed + 3, w_shape[:1] if per_channel else ())) + np.float32(0.01)
    inputs = [
        numbers(seed, x_shape, dtype), np.float32(0.03), numbers(seed + 1, (), dtype),
        numbers(seed + 2, w_shape, np.int8), w_scale, np.zeros((), np.int8),
        np.float32(4), numbers(seed + 4, (), dtype),
    ]  # fmt: skip
    inputs = [np.asarray(value) for value in inputs]
    if with_bias:
        inputs.append(numbers(seed + 5, w_shape[:1], np.int32))
    node = make_node("QLinearConv", [f"i{n}" for n in range(len(inputs))], ["y"], **attributes)
    (actual,), (expected,) = run_fast(node, inputs), run_reference(node, inputs)
    # The reference adds the zero point before it rounds, which takes ties to the other side.
    assert np.abs(actual.astype(int) - expected.astype(int)).max(initial=0) <= 1


def naive_conv_transpose(x: Array, w: Array, group: int, strides: list[int], dilations: list[int]) -> Array:
    """The whole output, before pads: each input element adds its copy of the kernel."""
    kernel = w.shape[2:]
    sizes = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(x.shape[2:], strides, kernel, dilations, strict=True)]
    y = np.zeros((x.shape[0], w.shape[1] * group, *sizes))
    inputs = x.shape[1] // group
    for image, channel, *place in np.ndindex(x.shape):
        first = channel // inputs * w.shape[1]
        for tap in np.ndindex(kernel):
            target = tuple(p * s + t * d for p, s, t, d in zip(place, strides, tap, dilations, strict=True))
            y[(image, slice(first, first + w.shape[1]), *target)] += (
                x[(image, channel, *place)] * w[(channel, slice(None), *tap)]
            )
    return y


@given(seed=seeds, case=convolutions(), output_padding=st.booleans(), with_bias=st.booleans())
@drawn
def test_transposed_convolution_adds_a_kernel_for_each_element(
    seed: int, case: Any, output_padding: bool, with_bias: bool
) -> None:
    attributes, (batch, channels, *spatial), w_shape = case
    attributes.pop("auto_pad", None)
    group, rank = attributes["group"], len(spatial)
    x = numbers(seed, (batch, channels, *(n - 3 for n in spatial)), np.float64)
    w = numbers(seed + 1, (channels, w_shape[0] // group, *w_shape[2:]), np.float64)
    extra = [s - 1 if output_padding else 0 for s in attributes["strides"]]
    whole = naive_conv_transpose(x, w, group, attributes["strides"], attributes["dilations"])
    pads = attributes.get("pads", [0] * (2 * rank))
    whole = np.pad(whole, [(0, 0), (0, 0), *((0, e) for e in extra)])
    kept = tuple(slice(b, n - e) for n, b, e in zip(whole.shape[2:], pads[:rank], pads[rank:], strict=True))
    expected = whole[(slice(None), slice(None), *kept)]
    assume(0 not in expected.shape)
    bias = [numbers(seed + 2, (w.shape[1] * group,), np.float64)] if with_bias else []
    expected = expected + (bias[0].reshape(-1, *(1,) * rank) if bias else 0)
    node = make_node("ConvTranspose", ["x", "w", "b"][: 2 + len(bias)], ["y"], **attributes, output_padding=extra)
    assert_same(run_fast(node, [x, w, *bias]), (expected,))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("stride", "output_shape"), [(1, None), (2, None), (2, [9, 10]), (3, None), (3, [11, 10])])
def test_transposed_convolution_pads_to_a_wanted_size(
    auto_pad: str, stride: int, output_shape: list[int] | None
) -> None:
    attributes: dict[str, Any] = {"auto_pad": auto_pad, "strides": [stride, stride]}
    if output_shape:
        attributes["output_shape"] = output_shape
    # Kernels as large as the stride at least, or the wanted size would reach past the output.
    inputs = [numbers(1, (1, 2, 4, 4)), numbers(2, (2, 3, 4, 4))]
    node = make_node("ConvTranspose", ["x", "w"], ["y"], **attributes)
    assert_matches_reference(node, inputs)


# Matrix products


@given(
    seed=seeds, dtype=floats, batch=shapes(maximum=2), sizes=st.tuples(*[st.integers(1, 5)] * 3), case=st.integers(0, 3)
)
@drawn
def test_matmul_matches_the_reference(seed: int, dtype: Any, batch: Any, sizes: Any, case: int) -> None:
    m, k, n = sizes
    a = numbers(seed, (k,) if case == 1 else (*batch, m, k), dtype)
    b = numbers(seed + 1, (k,) if case == 2 else (k, n) if case == 3 else (*batch, k, n), dtype)
    node = make_node("MatMul", ["a", "b"], ["c"])
    expected = run_reference(node, [a.astype(np.float64), b.astype(np.float64)])
    assert_same(run_fast(node, [a, b]), tuple(y.astype(dtype) for y in expected))


@given(
    seed=seeds,
    dtype=wide_floats,
    transposes=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    alpha=st.sampled_from([1.0, 0.5]),
    beta=st.sampled_from([1.0, 0.0, 2.0]),
    c_shape=st.sampled_from([None, (), (4,), (3, 1), (1, 4), (3, 4)]),
)
@drawn
def test_gemm_matches_the_reference(
    seed: int, dtype: Any, transposes: tuple[int, int], alpha: float, beta: float, c_shape: Any
) -> None:
    a = numbers(seed, (5, 3) if transposes[0] else (3, 5), dtype)
    b = numbers(seed + 1, (4, 5) if transposes[1] else (5, 4), dtype)
    inputs = [a, b] if c_shape is None else [a, b, numbers(seed + 2, c_shape, dtype)]
    node = make_node(
        "Gemm",
        ["a", "b", "c"][: len(inputs)],
        ["y"],
        alpha=alpha,
        beta=beta,
        transA=transposes[0],
        transB=transposes[1],
    )
    assert_matches_reference(node, inputs)


@given(
    seed=seeds, a_type=eight_bit, b_type=eight_bit, k=st.sampled_from([1, 7, 257, 300, 2000]), zeros=st.integers(0, 3)
)
@drawn
def test_integer_products_are_exact(seed: int, a_type: Any, b_type: Any, k: int, zeros: int) -> None:
    a, b = numbers(seed, (2, 3, k), a_type), numbers(seed + 1, (k, 4), b_type)
    a_zero = numbers(seed + 2, (), a_type) if zeros & 1 else None
    b_zero = numbers(seed + 3, (4,), b_type) if zeros & 2 else None
    node = make_node("MatMulInteger", ["a", "b", "az", "bz"], ["y"])
    assert_matches_reference(node, [a, b, a_zero, b_zero], output_types=[TensorProto.INT32])


def test_integer_products_take_a_zero_point_for_each_row() -> None:
    a, b, zeros = numbers(1, (3, 5), np.uint8), numbers(2, (5, 2), np.uint8), np.array([1, 2, 3], np.uint8)
    (y,) = run_fast(make_node("MatMulInteger", ["a", "b", "z"], ["y"]), [a, b, zeros])
    np.testing.assert_array_equal(y, (a.astype(int) - zeros.reshape(-1, 1)) @ b.astype(int))


@given(seed=seeds, dtype=eight_bit)
@drawn
def test_quantized_products_match_the_reference(seed: int, dtype: Any) -> None:
    scales = [np.asarray(value, np.float32) for value in (0.02, 0.05, 1.7)]
    zeros = [numbers(seed + n, (), dtype) for n in range(3)]
    a, b = numbers(seed + 3, (4, 6), dtype), numbers(seed + 4, (6, 3), dtype)
    node = make_node("QLinearMatMul", [f"i{n}" for n in range(8)], ["y"])
    inputs = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]]
    (actual,), (expected,) = run_fast(node, inputs), run_reference(node, inputs)
    assert np.abs(actual.astype(int) - expected.astype(int)).max() <= 1


# Pooling


def naive_pool(x: Array, combine: Any, kernel: Any, attributes: dict[str, Any], counts_pads: bool = False) -> Array:
    """Each window's elements gathered one by one; a pad is an element (0) only if ``counts_pads``."""
    rank = len(kernel)
    strides, dilations = attributes["strides"], attributes["dilations"]
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads, sizes = [], []
    for axis in range(rank):
        length, stride, extent = x.shape[2 + axis], strides[axis], extents[axis]
        auto_pad = attributes.get("auto_pad", "NOTSET")
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            size = math.ceil(length / stride)
            total = max((size - 1) * stride + extent - length, 0)
            begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            end = total - begin
        else:
            flat = attributes.get("pads", [0] * (2 * rank))
            begin, end = flat[axis], flat[axis + rank]
            steps = (length + begin + end - extent) / stride
            size = (math.ceil(steps) if attributes.get("ceil_mode") else math.floor(steps)) + 1
            if attributes.get("ceil_mode") and (size - 1) * stride >= length + begin:
                size -= 1
        pads.append((begin, end))
        sizes.append(size)
    y = np.empty((*x.shape[:2], *sizes))
    for image, channel, *place in np.ndindex(y.shape):
        elements = []
        for tap in np.ndindex(*kernel):
            at = [p * s + t * d - b for p, s, t, d, (b, _) in zip(place, strides, tap, dilations, pads, strict=True)]
            if all(0 <= a < n for a, n in zip(at, x.shape[2:], strict=True)):
                elements.append(float(x[(image, channel, *at)]))
            elif counts_pads and all(-b <= a < n + e for a, n, (b, e) in zip(at, x.shape[2:], pads, strict=True)):
                elements.append(0.0)
        y[(image, channel, *place)] = combine(elements) if elements else np.nan
    return y


@st.composite
def poolings(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[int, ...]]:
    rank = draw(st.integers(1, 3))
    attributes = draw(window_attributes(rank))
    attributes["kernel_shape"] = [draw(st.integers(2, 3)) for _ in range(rank)]
    if "auto_pad" not in attributes:
        attributes["ceil_mode"] = draw(st.integers(0, 1))
        # No window may lie in the pads alone.
        attributes["pads"] = [min(p, 1) for p in attributes["pads"]]
    return attributes, (draw(st.integers(1, 2)), 2, *(draw(st.integers(5, 8)) for _ in range(rank)))


@given(seed=seeds, case=poolings(), dtype=st.sampled_from([*FLOATS, np.dtype(np.int8), np.dtype(np.uint8)]))
@drawn
def test_max_pool_takes_the_largest_element_of_each_window(seed: int, case: Any, dtype: Any) -> None:
    attributes, shape = case
    x = numbers(seed, shape, dtype)
    (y,) = run_fast(make_node("MaxPool", ["x"], ["y"], **attributes), [x])
    np.testing.assert_array_equal(y.astype(np.float64), naive_pool(x, max, attributes["kernel_shape"], attributes))
    assert y.dtype == dtype


@given(seed=seeds, case=poolings(), storage_order=st.integers(0, 1))
@drawn
def test_max_pool_says_where_it_found_each_maximum(seed: int, case: Any, storage_order: int) -> None:
    attributes, shape = case
    x = numbers(seed, shape)
    node = make_node("MaxPool", ["x"], ["y", "i"], storage_order=storage_order, **attributes)
    y, indices = run_fast(node, [x], output_types=[TensorProto.FLOAT, TensorProto.INT64])
    order = x.reshape(-1) if storage_order == 0 else x.transpose(0, 1, *range(x.ndim - 1, 1, -1)).reshape(-1)
    np.testing.assert_array_equal(order[indices], y)
    np.testing.assert_array_equal(y, naive_pool(x, max, attributes["kernel_shape"], attributes))


def test_max_pool_of_minus_infinity_points_into_the_input() -> None:
    x = np.full((1, 1, 3, 3), -np.inf, np.float32)
    node = make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2], pads=[1, 1, 0, 0])
    y, indices = run_fast(node, [x], output_types=[TensorProto.FLOAT, TensorProto.INT64])
    assert np.isneginf(y).all()
    assert (indices >= 0).all()


@given(seed=seeds, case=poolings(), dtype=floats, count_include_pad=st.integers(0, 1))
@drawn
def test_average_pool_averages_each_window(seed: int, case: Any, dtype: Any, count_include_pad: int) -> None:
    attributes, shape = case
    x = numbers(seed, shape, dtype)
    node = make_node("AveragePool", ["x"], ["y"], count_include_pad=count_include_pad, **attributes)
    expected = naive_pool(x, np.mean, attributes["kernel_shape"], attributes, bool(count_include_pad))
    assert_same(run_fast(node, [x]), (expected.astype(dtype),))


@given(seed=seeds, case=poolings(), p=st.integers(1, 3))
@drawn
def test_lp_pool_takes_the_norm_of_each_window(seed: int, case: Any, p: int) -> None:
    attributes, shape = case
    x = numbers(seed, shape)
    node = make_node("LpPool", ["x"], ["y"], p=p, **attributes)
    norm = naive_pool(x, lambda e: np.sum(np.abs(e) ** p) ** (1 / p), attributes["kernel_shape"], attributes)
    assert_same(run_fast(node, [x]), (norm.astype(np.float32),))


@given(seed=seeds, rank=st.integers(1, 3), dtype=floats)
@drawn
def test_global_pools_reduce_all_spatial_dimensions(seed: int, rank: int, dtype: Any) -> None:
    x = numbers(seed, (2, 3, *range(4, 4 + rank)), dtype)
    axes = tuple(range(2, x.ndim))
    wide = x.astype(np.float64)
    for op_type, expected in {
        "GlobalMaxPool": wide.max(axis=axes, keepdims=True),
        "GlobalAveragePool": wide.mean(axis=axes, keepdims=True),
        "GlobalLpPool": np.sqrt((wide**2).sum(axis=axes, keepdims=True)),
    }.items():
        assert_same(run_fast(make_node(op_type, ["x"], ["y"]), [x]), (expected.astype(dtype),))


def test_region_pooling_takes_the_maximum_of_each_cell() -> None:
    x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    regions = np.array([[0, 0, 0, 3, 3], [0, 1, 1, 2, 2]], np.float32)
    (y,) = run_fast(make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[2, 2]), [x, regions])
    np.testing.assert_array_equal(y[0, 0], [[5, 7], [13, 15]])
    np.testing.assert_array_equal(y[1, 1], [[21, 22], [25, 26]])


# Normalisation


@given(seed=seeds, shape=shapes(minimum=2), dtype=floats)
@drawn
def test_batch_normalization_matches_the_reference(seed: int, shape: tuple[int, ...], dtype: Any) -> None:
    parameters = [numbers(seed + n, shape[1:2], dtype) for n in range(4)]
    parameters[3] = np.abs(parameters[3]) + np.asarray(0.5, dtype)
    node = make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], epsilon=1e-3)
    inputs = [numbers(seed + 9, shape, dtype), *parameters]
    expected = run_reference(node, [value.astype(np.float64) for value in inputs])
    assert_same(run_fast(node, inputs), tuple(y.astype(dtype) for y in expected))


def test_outputs_that_nobody_wants_do_not_stand_for_training() -> None:
    x, parameters = numbers(1, (2, 3, 4)), [np.abs(numbers(n, (3,))) for n in range(4)]
    inputs = ["x", "s", "b", "m", "v"]
    (y,) = run_fast(make_node("BatchNormalization", inputs, ["y"]), [x, *parameters], version=9)
    kernel = create(make_node("BatchNormalization", inputs, ["y", "", ""]), 9, [1] * 5, [1, 0, 0])
    np.testing.assert_array_equal(kernel(x, *parameters), y)


@given(seed=seeds, shape=shapes(minimum=1, smallest=2), dtype=wide_floats, data=st.data())
@drawn
def test_layer_normalization_matches_the_reference(seed: int, shape: Any, dtype: Any, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    scale, bias = (numbers(seed + n, shape[axis % len(shape) :], dtype) for n in (1, 2))
    node = make_node("LayerNormalization", ["x", "s", "b"], ["y", "m", "i"], axis=axis)
    types = [element_type_of_dtype(dtype), TensorProto.FLOAT, TensorProto.FLOAT]
    assert_matches_reference(node, [numbers(seed, shape, dtype), scale, bias], output_types=types, tolerance=1e-4)


@given(seed=seeds, dtype=wide_floats, rank=st.integers(1, 3))
@drawn
def test_instance_normalization_matches_the_reference(seed: int, dtype: Any, rank: int) -> None:
    x = numbers(seed, (2, 3, *(4,) * rank), dtype)
    node = make_node("InstanceNormalization", ["x", "s", "b"], ["y"])
    assert_matches_reference(node, [x, numbers(seed + 1, (3,), dtype), numbers(seed + 2, (3,), dtype)])


@given(seed=seeds, size=st.integers(1, 6), channels=st.integers(1, 7), dtype=floats)
@drawn
def test_local_response_normalization_follows_the_formula(seed: int, size: int, channels: int, dtype: Any) -> None:
    x = numbers(seed, (2, channels, 3, 2), dtype)
    wide = x.astype(np.float64)
    sums = np.zeros_like(wide)
    for channel in range(channels):
        first, last = max(0, channel - (size - 1) // 2), min(channels - 1, channel + math.ceil((size - 1) / 2))
        sums[:, channel] = (wide[:, first : last + 1] ** 2).sum(axis=1)
    expected = wide / (1.5 + 0.25 / size * sums) ** 0.75
    node = make_node("LRN", ["x"], ["y"], size=size, alpha=0.25, beta=0.75, bias=1.5)
    assert_same(run_fast(node, [x]), (expected.astype(dtype),))


# Resize


@st.composite
def resizes(draw: st.DrawFn) -> tuple[dict[str, Any], tuple[int, ...], list[float] | None, list[int] | None]:
    mode = draw(st.sampled_from(["nearest", "linear", "cubic"]))
    coordinates = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
    attributes: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": draw(st.sampled_from(coordinates)),
    }
    if mode == "nearest":
        roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = draw(st.sampled_from(roundings))
    else:
        attributes["antialias"] = draw(st.integers(0, 1))
    if mode == "cubic":
        attributes["exclude_outside"] = draw(st.integers(0, 1))
        attributes["cubic_coeff_a"] = draw(st.sampled_from([-0.75, -0.5]))
    shape = (1, 2, draw(st.integers(2, 6)), draw(st.integers(2, 6)))
    if draw(st.booleans()):
        # Scales whose products are no integers by a hair are the same in float32 and float64.
        scales = [1.0, 1.0, *(draw(st.sampled_from([0.5, 0.75, 1.0, 1.25, 2.0, 3.0])) for _ in range(2))]
        assume(all(math.floor(n * s) for n, s in zip(shape, scales, strict=True)))
        return attributes, shape, scales, None
    sizes = [1, 2, draw(st.integers(1, 12)), draw(st.integers(1, 12))]
    return attributes, shape, None, sizes


@given(seed=seeds, case=resizes(), dtype=wide_floats)
@settings(drawn, max_examples=150)
def test_resize_matches_the_reference(seed: int, case: Any, dtype: Any) -> None:
    attributes, shape, scales, sizes = case
    if attributes["coordinate_transformation_mode"] == "pytorch_half_pixel":
        # The reference takes the coordinate -0.5, where the specification says 0.
        assume(
            1 not in (sizes[2:] if sizes else [math.floor(n * s) for n, s in zip(shape[2:], scales[2:], strict=True)])
        )
    inputs = [
        numbers(seed, shape, dtype),
        None,
        None if scales is None else np.array(scales, np.float32),
        None if sizes is None else np.array(sizes, np.int64),
    ]
    node = make_node("Resize", ["x", "", "s" if scales else "", "n" if sizes else ""], ["y"], **attributes)
    assert_matches_reference(node, inputs, tolerance=1e-4)


@given(
    seed=seeds,
    axes=st.sampled_from([[1, 2], [3, 1], [2, 3]]),
    policy=st.sampled_from(["stretch", "not_larger", "not_smaller"]),
)
@drawn
def test_resize_of_chosen_axes_keeps_the_aspect_ratio_as_the_reference(seed: int, axes: list[int], policy: str) -> None:
    node = make_node("Resize", ["x", "", "", "n"], ["y"], mode="linear", axes=axes, keep_aspect_ratio_policy=policy)
    inputs = [numbers(seed, (1, 3, 4, 5)), None, None, np.array([7, 6], np.int64)]
    assert_matches_reference(node, inputs)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_crops_a_region_as_the_reference(mode: str) -> None:
    node = make_node(
        "Resize", ["x", "r", "", "n"], ["y"],
        mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0,
    )  # fmt: skip
    region = np.array([0, 0, 0.13, -0.27, 1, 1, 0.83, 1.19], np.float32)
    inputs = [numbers(1, (1, 2, 6, 7)), region, None, np.array([1, 2, 5, 9], np.int64)]
    assert_matches_reference(node, inputs)


def test_a_single_pixel_of_pytorch_comes_from_the_first_one() -> None:
    x = numbers(1, (1, 1, 4))
    mode = {"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel"}
    (y,) = run_fast(make_node("Resize", ["x", "", "", "n"], ["y"], **mode), [x, None, None, np.array([1, 1, 1])])
    np.testing.assert_array_equal(y, x[..., :1])


def test_half_pixels_for_the_nearest_neighbour_are_not_shifted_back() -> None:
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    mode = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}
    node = make_node("Resize", ["x", "", "s"], ["y"], **mode)
    (y,) = run_fast(node, [x, None, np.array([1, 0.5], np.float32)], version=11)
    np.testing.assert_array_equal(y, [[1, 3]])


def test_an_unknown_coordinate_mode_is_refused() -> None:
    node = make_node("Resize", ["x", "", "s"], ["y"], coordinate_transformation_mode="guess")
    with pytest.raises(ValueError, match="coordinate_transformation_mode 'guess'"):
        run_fast(node, [numbers(1, (1, 4)), None, np.array([1, 2], np.float32)])


@pytest.mark.parametrize(("op_type", "version"), [("Resize", 10), ("Upsample", 9), ("Upsample", 7)])
def test_early_versions_upsample_to_the_nearest(op_type: str, version: int) -> None:
    x, scales = numbers(1, (1, 2, 3, 4)), [1.0, 1.0, 2.0, 3.0]
    node = make_node(op_type, ["x"], ["y"], scales=scales) if version == 7 else make_node(op_type, ["x", "s"], ["y"])
    inputs = [x] if version == 7 else [x, np.array(scales, np.float32)]
    (y,) = run_fast(node, inputs, version=version)
    np.testing.assert_array_equal(y, x.repeat(2, axis=2).repeat(3, axis=3))


# Recurrent


@pytest.mark.parametrize("op_type", ["LSTM", "GRU", "RNN"])
@given(
    seed=seeds,
    direction=st.sampled_from(["forward", "reverse", "bidirectional"]),
    layout=st.integers(0, 1),
    parts=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    linear_before_reset=st.integers(0, 1),
)
@drawn
def test_recurrent_networks_match_the_reference(
    op_type: str, seed: int, direction: str, layout: int, parts: tuple[bool, bool, bool], linear_before_reset: int
) -> None:
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op_type]
    directions, time, batch, size, hidden = (2 if direction == "bidirectional" else 1), 4, 3, 5, 6
    with_bias, with_initial, with_peepholes = parts
    state = (directions, batch, hidden) if layout == 0 else (batch, directions, hidden)
    inputs: list[Any] = [
        numbers(seed, (time, batch, size) if layout == 0 else (batch, time, size)),
        numbers(seed + 1, (directions, gates * hidden, size)),
        numbers(seed + 2, (directions, gates * hidden, hidden)),
        numbers(seed + 3, (directions, 2 * gates * hidden)) if with_bias else None,
        None,
        numbers(seed + 4, state) if with_initial else None,
    ]
    if op_type == "LSTM":
        inputs += [
            numbers(seed + 5, state) if with_initial else None,
            numbers(seed + 6, (directions, 3 * hidden)) if with_peepholes else None,
        ]
    attributes: dict[str, Any] = {"direction": direction, "layout": layout, "hidden_size": hidden}
    if op_type == "GRU":
        attributes["linear_before_reset"] = linear_before_reset
    outputs = ["y", "h", "c"] if op_type == "LSTM" else ["y", "h"]
    names = ["" if value is None else f"i{n}" for n, value in enumerate(inputs)]
    node = make_node(op_type, names, outputs, **attributes)
    if op_type == "RNN" and direction == "bidirectional":
        node.attribute.append(onnx.helper.make_attribute("activations", ["Tanh", "Tanh"]))
    assert_matches_reference(node, inputs)


@pytest.mark.parametrize("op_type", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_a_shorter_sequence_ends_before_the_others(op_type: str, direction: str) -> None:
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op_type]
    directions = 2 if direction == "bidirectional" else 1
    x = numbers(1, (4, 2, 3))
    weights = [numbers(2, (directions, gates * 5, 3)), numbers(3, (directions, gates * 5, 5))]
    attributes: dict[str, Any] = {"direction": direction, "hidden_size": 5}
    if op_type == "RNN":
        attributes["activations"] = ["Tanh"] * directions
    node = make_node(op_type, ["x", "w", "r", "", "l"], ["y", "h"], **attributes)
    y, h = run_fast(node, [x, *weights, None, np.array([2, 4], np.int32)])
    alone = make_node(op_type, ["x", "w", "r"], ["y", "h"], **attributes)
    short_y, short_h = run_fast(alone, [x[:2, :1], *weights])
    long_y, long_h = run_fast(alone, [x[:, 1:], *weights])
    np.testing.assert_allclose(y[:2, :, :1], short_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(y[2:, :, :1], 0)
    np.testing.assert_allclose(y[:, :, 1:], long_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h, np.concatenate([short_h, long_h], axis=1), rtol=1e-5, atol=1e-6)


def test_lstm_couples_gates_and_clips_their_inputs() -> None:
    x, w, r = numbers(1, (1, 2, 3)) * 5, numbers(2, (1, 16, 3)), numbers(3, (1, 16, 4))
    node = make_node("LSTM", ["x", "w", "r"], ["y", "h", "c"], hidden_size=4, input_forget=1, clip=0.5)
    y, _, c = run_fast(node, [x, w, r])
    i, o, _, g = np.split(np.clip(x[0] @ w[0].T, -0.5, 0.5), 4, axis=-1)
    cell = 1 / (1 + np.exp(-i)) * np.tanh(g)
    np.testing.assert_allclose(c[0], cell, rtol=1e-5)
    np.testing.assert_allclose(y[0, 0], 1 / (1 + np.exp(-o)) * np.tanh(cell), rtol=1e-5)


def test_recurrent_networks_take_other_activations_with_their_parameters() -> None:
    x, w, r = numbers(1, (1, 2, 3)), numbers(2, (1, 4, 3)), numbers(3, (1, 4, 4))
    for name, parameters, function in [
        ("Relu", {}, lambda z: np.maximum(z, 0)),
        ("Affine", {"activation_alpha": [2.0], "activation_beta": [0.5]}, lambda z: 2 * z + 0.5),
        ("LeakyRelu", {"activation_alpha": [0.3]}, lambda z: np.where(z < 0, 0.3 * z, z)),
        ("HardSigmoid", {}, lambda z: np.clip(0.2 * z + 0.5, 0, 1)),
        ("ScaledTanh", {"activation_alpha": [1.5], "activation_beta": [0.5]}, lambda z: 1.5 * np.tanh(0.5 * z)),
    ]:
        node = make_node("RNN", ["x", "w", "r"], ["y"], hidden_size=4, activations=[name], **parameters)
        (y,) = run_fast(node, [x, w, r])
        np.testing.assert_allclose(y[0, 0], function(x[0] @ w[0].T), rtol=1e-5, atol=1e-6)


# Quantization


@given(
    seed=seeds,
    q_type=st.sampled_from([np.int8, np.uint8, np.int16, np.uint16]),
    granularity=st.sampled_from(["tensor", "axis", "block"]),
    with_zero=st.booleans(),
)
@drawn
def test_quantization_and_its_inverse_match_the_reference(
    seed: int, q_type: Any, granularity: str, with_zero: bool
) -> None:
    shape = {"tensor": (), "axis": (4,), "block": (3, 2, 2)}[granularity]
    attributes: dict[str, Any] = {"axis": 1}
    if granularity == "block":
        attributes["block_size"] = 2
    scale = np.abs(numbers(seed, shape)) * np.float32(0.01) + np.float32(0.001)
    assume(with_zero or q_type == np.uint8)
    zero = [numbers(seed + 1, shape, q_type)] if with_zero else []
    names = ["x", "s", "z"][: 2 + len(zero)]
    x = numbers(seed + 2, (3, 4, 2))
    quantize = make_node("QuantizeLinear", names, ["y"], **attributes)
    q_onnx = [element_type_of_dtype(np.dtype(q_type))]
    (actual,) = run_fast(quantize, [x, scale, *zero], output_types=q_onnx)
    (expected,) = run_reference(quantize, [x, scale, *zero], output_types=q_onnx)
    assert np.abs(actual.astype(int) - expected.astype(int)).max() <= 1  # x / scale may round differently at a tie.
    dequantize = make_node("DequantizeLinear", names, ["y"], **attributes)
    inputs = [numbers(seed + 3, (3, 4, 2), q_type), scale, *zero]
    assert_matches_reference(dequantize, inputs, output_types=[TensorProto.FLOAT])


@given(seed=seeds, scale=st.sampled_from([0.0, 1.0, 100.0]), shift=st.sampled_from([-3.0, 0.0, 3.0]))
@drawn
def test_dynamic_quantization_matches_the_reference(seed: int, scale: float, shift: float) -> None:
    x = numbers(seed, (4, 5)) * np.float32(scale) + np.float32(shift)
    node = make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])
    types = [TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8]
    y, s, z = run_fast(node, [x], output_types=types)
    reference_y, reference_s, reference_z = run_reference(node, [x], output_types=types)
    assert_same((z,), (reference_z,))
    if x.any():
        assert_same((s,), (reference_s,))
    assert np.abs(y.astype(int) - reference_y.astype(int)).max() <= 1


# Shapes, indices, reductions


@given(seed=seeds, shape=shapes(minimum=1, smallest=2), dtype=st.sampled_from([np.float32, np.int64]), data=st.data())
@drawn
def test_gather_and_concat_match_the_reference(seed: int, shape: Any, dtype: Any, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = numbers(seed, shape, dtype)
    indices = np.array(data.draw(st.lists(st.integers(-shape[axis], shape[axis] - 1), max_size=4)), np.int64)
    assert_matches_reference(make_node("Gather", ["x", "i"], ["y"], axis=axis), [x, indices])
    assert_matches_reference(make_node("Concat", ["a", "b"], ["y"], axis=axis), [x, x[..., ::-1].copy()])


@given(
    seed=seeds,
    shape=shapes(minimum=1, smallest=2),
    data=st.data(),
    reduction=st.sampled_from(["none", "add", "mul", "max", "min"]),
)
@drawn
def test_gather_and_scatter_elements_match_the_reference(
    seed: int, shape: Any, data: st.DataObject, reduction: str
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = numbers(seed, shape)
    indices = np.random.default_rng(seed).integers(-shape[axis], shape[axis], shape)
    assert_matches_reference(make_node("GatherElements", ["x", "i"], ["y"], axis=axis), [x, indices])
    assume(reduction != "none" or len(shape) == 1 or shape[axis] == 1)
    if reduction == "none":
        indices = np.argsort(x, axis=axis)  # Which of two updates of one element wins is undefined.
    node = make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=axis, reduction=reduction)
    assert_matches_reference(node, [x, indices, numbers(seed + 1, shape)])


@given(
    seed=seeds,
    batch_dims=st.integers(0, 2),
    depth=st.integers(1, 2),
    reduction=st.sampled_from(["add", "mul", "max", "min"]),
)
@drawn
def test_gather_and_scatter_nd_match_the_reference(seed: int, batch_dims: int, depth: int, reduction: str) -> None:
    x = numbers(seed, (2, 3, 4, 5))
    generator = np.random.default_rng(seed)
    shape = (*x.shape[:batch_dims], 3, depth)
    limits = np.array(x.shape[batch_dims : batch_dims + depth])
    indices = generator.integers(-limits, limits, shape)
    assert_matches_reference(make_node("GatherND", ["x", "i"], ["y"], batch_dims=batch_dims), [x, indices])
    indices = generator.integers(0, x.shape[:depth], (3, depth))
    updates = numbers(seed + 1, (3, *x.shape[depth:]))
    assert_matches_reference(make_node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction), [x, indices, updates])


@given(seed=seeds, data=st.data(), mode=st.sampled_from(["constant", "edge", "reflect", "wrap"]), dtype=floats)
@drawn
def test_pad_matches_the_reference(seed: int, data: st.DataObject, mode: str, dtype: Any) -> None:
    pads = np.array(data.draw(st.lists(st.integers(0, 2), min_size=6, max_size=6)), np.int64)
    inputs = [numbers(seed, (3, 4, 5), dtype), pads, np.asarray(1.5, dtype)]
    assert_matches_reference(make_node("Pad", ["x", "p", "v"], ["y"], mode=mode), inputs)


def test_negative_pads_crop() -> None:
    x = numbers(1, (4, 5))
    (y,) = run_fast(make_node("Pad", ["x", "p"], ["y"]), [x, np.array([-1, 2, 1, -2], np.int64)])
    np.testing.assert_array_equal(y, np.pad(x[1:, :3], [(0, 1), (2, 0)]))


@given(seed=seeds, data=st.data())
@drawn
def test_slice_matches_the_reference(seed: int, data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.sampled_from([0, 1, -1]), unique=True, min_size=1, max_size=3))
    bounds = st.lists(st.integers(-5, 8), min_size=len(axes), max_size=len(axes))
    starts, ends = data.draw(bounds), data.draw(bounds)
    steps = data.draw(st.lists(st.sampled_from([-2, -1, 1, 2]), min_size=len(axes), max_size=len(axes)))
    vectors = [np.array(values, np.int64) for values in (starts, ends, axes, steps)]
    assume(all(step > 0 or end >= -4 for end, step in zip(ends, steps, strict=True)))
    assert_matches_reference(make_node("Slice", ["x", "s", "e", "a", "t"], ["y"]), [numbers(seed, (4, 5, 6)), *vectors])


def test_slice_backwards_reaches_the_first_element() -> None:
    x = np.arange(5)
    arguments = [np.array([value], np.int64) for value in (-1, np.iinfo(np.int64).min, 0, -1)]
    (y,) = run_fast(make_node("Slice", ["x", "s", "e", "a", "t"], ["y"]), [x, *arguments])
    np.testing.assert_array_equal(y, x[::-1])


@given(seed=seeds, length=st.integers(1, 9), count=st.integers(1, 4))
@drawn
def test_split_gives_the_last_part_what_is_left(seed: int, length: int, count: int) -> None:
    x = numbers(seed, (2, length))
    part = math.ceil(length / count)
    assume(part * (count - 1) <= length)
    names = [f"y{n}" for n in range(count)]
    outputs = run_fast(make_node("Split", ["x"], names, axis=1, num_outputs=count), [x])
    np.testing.assert_array_equal(np.concatenate(outputs, axis=1), x)
    assert [y.shape[1] for y in outputs[:-1]] == [part] * (count - 1)


def test_an_unwanted_output_takes_its_part_of_a_split() -> None:
    kernel = create(make_node("Split", ["x"], ["a", "b", ""]), 13, [1], [1, 1, 0])
    a, b, *_ = kernel(np.arange(6, dtype=np.float32))
    np.testing.assert_array_equal(a, [0, 1])
    np.testing.assert_array_equal(b, [2, 3])


def test_split_refuses_parts_that_do_not_add_up() -> None:
    with pytest.raises(ValueError, match=r"\[2, 2\].*5 elements of axis 0"):
        run_fast(make_node("Split", ["x", "s"], ["a", "b"]), [np.arange(5), np.array([2, 2])])


@pytest.mark.parametrize(
    "op_type",
    [
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceSum",
        "ReduceSumSquare",
    ],
)
@given(seed=seeds, shape=shapes(minimum=1), dtype=wide_floats, keepdims=st.integers(0, 1), data=st.data())
@drawn
def test_reductions_match_the_reference(
    op_type: str, seed: int, shape: Any, dtype: Any, keepdims: int, data: st.DataObject
) -> None:
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    x = np.abs(numbers(seed, shape, dtype)) + np.asarray(0.1, dtype)
    given_axes = np.array(axes, np.int64) if axes or data.draw(st.booleans()) else None
    node = make_node(op_type, ["x", "a" if given_axes is not None else ""], ["y"], keepdims=keepdims)
    assert_matches_reference(node, [x, given_axes])


@pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
@given(seed=seeds, shape=shapes(minimum=1), keepdims=st.integers(0, 1), last=st.integers(0, 1), data=st.data())
@drawn
def test_positions_of_extremes_match_the_reference(
    op_type: str, seed: int, shape: Any, keepdims: int, last: int, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.random.default_rng(seed).integers(0, 3, shape).astype(np.float32)
    node = make_node(op_type, ["x"], ["y"], axis=axis, keepdims=keepdims, select_last_index=last)
    assert_matches_reference(node, [x], output_types=[TensorProto.INT64])


@given(seed=seeds, shape=shapes(smallest=0), data=st.data())
@drawn
def test_shape_operators_match_the_reference(seed: int, shape: Any, data: st.DataObject) -> None:
    x = numbers(seed, shape)
    rank = len(shape)
    int64 = [TensorProto.INT64]
    start, end = data.draw(st.integers(0, rank)), data.draw(st.integers(0, rank))
    assert_matches_reference(make_node("Shape", ["x"], ["y"], start=start, end=end), [x], output_types=int64)
    assert_matches_reference(make_node("Size", ["x"], ["y"]), [x], output_types=int64)
    attributes = {"perm": data.draw(st.permutations(range(rank)))} if rank else {}
    assert_matches_reference(make_node("Transpose", ["x"], ["y"], **attributes), [x])
    axis = data.draw(st.integers(-rank - 1, rank))
    assert_matches_reference(make_node("Unsqueeze", ["x", "a"], ["y"]), [x, np.array([axis], np.int64)])
    unsqueezed = np.expand_dims(x, axis)
    assert_matches_reference(make_node("Squeeze", ["x", "a"], ["y"]), [unsqueezed, np.array([axis], np.int64)])
    if x.size:
        flatten = make_node("Flatten", ["x"], ["y"], axis=data.draw(st.integers(0, rank)))
        assert_matches_reference(flatten, [x])
        assert_matches_reference(make_node("Reshape", ["x", "s"], ["y"]), [x, np.array([-1, 1], np.int64)])


@given(seed=seeds, data=st.data())
@drawn
def test_expand_broadcasts_both_ways(seed: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(maximum=3))
    wanted = [data.draw(st.sampled_from([1, n if n > 1 else 3])) for n in data.draw(shapes(maximum=1)) + shape]
    x = numbers(seed, shape)
    assert_matches_reference(make_node("Expand", ["x", "s"], ["y"]), [x, np.array(wanted, np.int64)])


@given(seed=seeds, shape=shapes(minimum=1), dtype=st.sampled_from([np.float32, np.int32, np.uint8]), data=st.data())
@drawn
def test_the_top_elements_are_those_of_the_reference(seed: int, shape: Any, dtype: Any, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)
    count = np.array([data.draw(st.integers(0, shape[axis]))], np.int64)
    node = make_node("TopK", ["x", "k"], ["v", "i"], axis=axis, largest=data.draw(st.integers(0, 1)))
    assert_matches_reference(node, [x, count], output_types=[element_type(x), TensorProto.INT64])


def test_more_than_all_elements_are_refused() -> None:
    with pytest.raises(ValueError, match="TopK of 4 among the 3 elements"):
        run_fast(make_node("TopK", ["x", "k"], ["v", "i"]), [numbers(1, (3,)), np.array([4])])


@given(
    seed=seeds,
    center_point_box=st.integers(0, 1),
    most=st.integers(0, 4),
    overlap=st.sampled_from([0.0, 0.3, 0.9]),
    score=st.sampled_from([None, 0.2]),
)
@drawn
def test_non_max_suppression_keeps_the_boxes_of_the_reference(
    seed: int, center_point_box: int, most: int, overlap: float, score: float | None
) -> None:
    boxes = np.random.default_rng(seed).random((2, 12, 4), np.float32)
    scores = (np.random.default_rng(seed + 1).integers(0, 9, (2, 3, 12)) / 9).astype(np.float32)
    limits = [np.array([most], np.int64), np.array([overlap], np.float32)]
    if score is not None:
        limits.append(np.array([score], np.float32))
    names = ["b", "s", "m", "o", "t"][: 2 + len(limits)]
    node = make_node("NonMaxSuppression", names, ["y"], center_point_box=center_point_box)
    (actual,) = run_fast(node, [boxes, scores, *limits], output_types=[TensorProto.INT64])
    (expected,) = run_reference(node, [boxes, scores, *limits], output_types=[TensorProto.INT64])
    np.testing.assert_array_equal(actual, expected.reshape(-1, 3))


def test_non_max_suppression_without_a_number_of_boxes_keeps_none() -> None:
    inputs = [numbers(1, (1, 3, 4)), numbers(2, (1, 1, 3))]
    (y,) = run_fast(make_node("NonMaxSuppression", ["b", "s"], ["y"]), inputs)
    assert y.shape == (0, 3)


# Sequences


@pytest.mark.parametrize(("position", "expected"), [(None, 3), (0, 0), (3, 3), (-1, 2), (-3, 0)])
def test_sequence_insert_counts_from_either_end(position: int | None, expected: int) -> None:
    sequence, tensor = [numbers(n, (2,)) for n in range(3)], numbers(9, (1,))
    inputs = [sequence, tensor] if position is None else [sequence, tensor, np.array(position)]
    node = make_node("SequenceInsert", ["s", "t", "p"][: len(inputs)], ["r"])
    (result,) = run_fast(node, inputs, output_types=[0])
    assert [item is tensor for item in result].index(True) == expected
    assert len(sequence) == 3


@pytest.mark.parametrize("position", [4, -4])
def test_sequence_insert_refuses_a_position_outside(position: int) -> None:
    sequence = [numbers(n, (2,)) for n in range(3)]
    with pytest.raises(IndexError, match=f"at {position} of a sequence of 3"):
        run_fast(make_node("SequenceInsert", ["s", "t", "p"], ["r"]), [sequence, numbers(1, ()), np.array(position)])


@given(
    seed=seeds,
    axis=st.sampled_from([0, 1, -1]),
    split=st.sampled_from([None, 2, 3, [1, 4], [2, 0, 3]]),
    keepdims=st.integers(0, 1),
)
@drawn
def test_split_to_sequence_and_back(seed: int, axis: int, split: Any, keepdims: int) -> None:
    x = numbers(seed, (5, 5))
    inputs = [x] if split is None else [x, np.array(split)]
    node = make_node("SplitToSequence", ["x", "s"][: len(inputs)], ["y"], axis=axis, keepdims=keepdims)
    (parts,) = run_fast(node, inputs, output_types=[0])
    lengths = {None: [1] * 5, 2: [2, 2, 1], 3: [3, 2]}.get(split) if not isinstance(split, list) else split
    new_axis = int(split is None and not keepdims)
    assert len(parts) == len(lengths)
    if not new_axis:
        assert [part.shape[axis] for part in parts] == lengths
    (joined,) = run_fast(make_node("ConcatFromSequence", ["s"], ["x"], axis=axis, new_axis=new_axis), [parts])
    np.testing.assert_array_equal(joined, x)


PLAIN = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int32, np.int64, np.uint8, np.bool_]


@given(seed=seeds, source=st.sampled_from(PLAIN), target=st.sampled_from(PLAIN))
@settings(drawn, max_examples=81)
def test_casts_match_the_reference(seed: int, source: Any, target: Any) -> None:
    x = np.abs(numbers(seed, (5,), source).astype(np.float32)).astype(source)
    to = element_type_of_dtype(np.dtype(target))
    assert_matches_reference(make_node("Cast", ["x"], ["y"], to=to), [x], output_types=[to], tolerance=0)
    like = make_node("CastLike", ["x", "l"], ["y"])
    assert_matches_reference(like, [x, np.zeros(1, target)], output_types=[to], tolerance=0)


# What the reference lacks


def test_scatter_is_the_early_name_of_scatter_elements() -> None:
    x, indices, updates = numbers(1, (1, 5)), np.array([[1, 3]]), numbers(2, (1, 2))
    (y,) = run_fast(make_node("Scatter", ["x", "i", "u"], ["y"], axis=1), [x, indices, updates], version=9)
    np.testing.assert_array_equal(y[0, [1, 3]], updates[0])
    np.testing.assert_array_equal(y[0, [0, 2, 4]], x[0, [0, 2, 4]])


def test_multinomial_samples_by_probability_and_repeats_with_its_seed() -> None:
    logits = np.log(np.array([[0.1, 0.9, 1e-30], [0.5, 0.25, 0.25]], np.float32))
    node = make_node("Multinomial", ["x"], ["y"], sample_size=4000, seed=3.0)
    (y,) = run_fast(node, [logits], version=22, output_types=[TensorProto.INT32])
    assert y.dtype == np.int32
    shares = np.stack([np.bincount(row, minlength=3) / 4000 for row in y])
    np.testing.assert_allclose(shares, [[0.1, 0.9, 0], [0.5, 0.25, 0.25]], atol=0.03)
    np.testing.assert_array_equal(run_fast(node, [logits], version=22, output_types=[TensorProto.INT32])[0], y)


def test_zip_map_names_the_columns_and_cast_map_reads_maps() -> None:
    node = make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[7, 3])
    (maps,) = run_fast(node, [np.array([[0.5, 1.5], [2.5, 3.5]], np.float32)], version=1, output_types=[0])
    assert maps == [{7: 0.5, 3: 1.5}, {7: 2.5, 3: 3.5}]
    dense = make_node("CastMap", ["m"], ["y"], domain="ai.onnx.ml")
    (y,) = run_fast(dense, [maps[0]], version=1, output_types=[TensorProto.FLOAT])
    np.testing.assert_array_equal(y, np.array([[1.5, 0.5]], np.float32))
    sparse = make_node("CastMap", ["m"], ["y"], domain="ai.onnx.ml", map_form="SPARSE", max_map=4, cast_to="TO_INT64")
    (y,) = run_fast(sparse, [{1: 5.0, 3: 6.0}], version=1, output_types=[TensorProto.INT64])
    np.testing.assert_array_equal(y, [[0, 5, 0, 6]])


def test_category_mapper_maps_both_ways() -> None:
    attributes = {"domain": "ai.onnx.ml", "cats_int64s": [1, 2], "cats_strings": ["one", "two"]}
    node = make_node("CategoryMapper", ["x"], ["y"], **attributes, default_int64=-5)
    (y,) = run_fast(node, [np.array([["two", "?"]], object)], version=1, output_types=[TensorProto.INT64])
    np.testing.assert_array_equal(y, [[2, -5]])
    node = make_node("CategoryMapper", ["x"], ["y"], **attributes, default_string="none")
    (y,) = run_fast(node, [np.array([1, 9])], version=1, output_types=[TensorProto.STRING])
    assert y.tolist() == ["one", "none"]


def test_the_first_version_of_tile_repeats_along_one_axis() -> None:
    x = numbers(1, (2, 3))
    node = make_node("Tile", ["x", "n", "a"], ["y"])
    (y,) = run_fast(node, [x, np.array([3], np.float32), np.array([1], np.float32)], version=1)
    np.testing.assert_array_equal(y, np.tile(x, (1, 3)))


# The factory


def create(
    node: NodeProto,
    version: int,
    input_types: list[int],
    output_types: list[int],
    constants: dict[int, Array] | None = None,
) -> Any:
    schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    return create_python_kernel(
        node,
        domain=node.domain,
        op_type=node.op_type,
        since_version=schema.since_version,
        opset_imports={node.domain: version},
        input_types=input_types,
        output_types=output_types,
        attributes=attributes_of(node, schema.since_version),
        constants=constants,
    )


def test_every_fast_path_belongs_to_an_operator_of_onnx() -> None:
    known = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas_with_history()}
    assert set(fast_path_operators()) <= known


def test_a_kernel_may_prepare_constants_and_computes_the_same() -> None:
    x, parameters = numbers(1, (2, 3, 4)), [np.abs(numbers(n, (3,))) for n in range(4)]
    node = make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"])
    prepared = create(node, 15, [1] * 5, [1], dict(enumerate(parameters, start=1)))
    np.testing.assert_array_equal(prepared(x, *parameters), create(node, 15, [1] * 5, [1])(x, *parameters))


def test_fast_paths_are_all_there_whichever_family_was_imported_first(tmp_path: Path) -> None:
    code = (
        "import onnx_light_ort.engine.python_kernels.activations\n"
        "from onnx_light_ort.engine.python_kernels.fast_paths import find_fast_path\n"
        "assert find_fast_path('', 'Conv')"
    )
    # Elsewhere than in the repository, whose folder of sources would stand before the package.
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_strings_leave_a_kernel_as_objects() -> None:
    kernel = create(make_node("Cast", ["x"], ["y"], to=TensorProto.STRING), 25, [1], [8])
    y = kernel(np.array([1.5, 2], np.float32))
    assert y.dtype == object
    assert all(type(item) is str for item in y)


def test_a_result_of_another_type_is_converted_to_the_output_type() -> None:
    kernel = create(make_node("Trilu", ["x"], ["y"]), 14, [1], [TensorProto.DOUBLE])
    assert kernel(np.ones((2, 2), np.float32)).dtype == np.float64


def test_an_operator_without_an_implementation_is_refused_with_the_reason() -> None:
    from onnx_light_ort.engine.errors import UnsupportedOperator

    node = make_node("Gradient", ["x"], ["y"], domain="ai.onnx.preview.training", xs=["x"], y="y")
    with pytest.raises(
        UnsupportedOperator, match=r"ai\.onnx\.preview\.training::Gradient version 1 .*does not implement"
    ):
        create(node, 1, [1], [1])


def test_types_unknown_at_planning_are_read_from_the_arrays() -> None:
    kernel = create(make_node("Div", ["a", "b"], ["c"]), 14, [0, 0], [0])
    np.testing.assert_array_equal(kernel(np.array([7, -7]), np.array([2, 2])), [3, -3])
    np.testing.assert_array_equal(kernel(np.array([7.0, -7.0]), np.array([2.0, 2.0])), [3.5, -3.5])


@pytest.mark.parametrize("element", [n for n in TensorProto.DataType.values() if is_element_type(n)])
def test_every_element_type_passes_through_a_kernel_as_its_numpy_type(element: int) -> None:
    dtype = numpy_dtype(element)
    kernel = create(make_node("Transpose", ["x"], ["y"]), 28, [element], [element])
    x = np.ones((2, 3)).astype(dtype)
    y = kernel(x)
    assert y.dtype == dtype
    assert y.shape == (3, 2)


@pytest.mark.parametrize(
    ("lengths", "hidden", "says"),
    [([9, 3], 5, "from 0 to 3"), ([-1, 3], 5, "from 0 to 3"), ([3], 5, "each of 2"), ([3, 2], 4, "hidden_size is 4")],
)
@pytest.mark.parametrize(("op_type", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_a_recurrence_whose_sizes_do_not_fit_is_refused(
    op_type: str, gates: int, lengths: list[int], hidden: int, says: str
) -> None:
    x, w, r = numbers(1, (3, 2, 4)), numbers(2, (1, 5 * gates, 4)), numbers(3, (1, 5 * gates, 5))
    node = make_node(op_type, ["x", "w", "r", "", "l"], ["y"], hidden_size=hidden)
    with pytest.raises(ValueError, match=says):
        run_fast(node, [x, w, r, None, np.array(lengths, np.int32)])
