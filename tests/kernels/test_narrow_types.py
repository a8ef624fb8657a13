"""Types that C++ has no arithmetic for: casts and quantization of float8, float4, float8e8m0, int4, int2 and their kin,
against ml_dtypes and the reference implementation of package onnx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

FLOAT8 = [
    np.dtype(t)
    for t in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz)
]
FLOAT4 = np.dtype(ml_dtypes.float4_e2m1fn)
SCALE = np.dtype(ml_dtypes.float8_e8m0fnu)
SMALL_INTEGERS = [np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)]
NARROW = [*FLOAT8, FLOAT4, SCALE, *SMALL_INTEGERS]
WIDE = [
    np.dtype(t)
    for t in (
        "float32",
        "float64",
        "float16",
        ml_dtypes.bfloat16,
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "bool",
    )
]


def number(dtype: np.dtype[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype)


def every_value(dtype: np.dtype[Any]) -> Array:
    """All codes of a narrow type, an odd number of them where several share a byte."""
    if dtype in SMALL_INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        return np.arange(info.min, info.max + 1).astype(dtype).repeat(3)[:-1]
    codes = 16 if dtype == FLOAT4 else 256
    return np.arange(codes, dtype=np.uint8).repeat(3)[:-1].view(dtype)


def assert_same(got: Array, expected: Array, message: str = "") -> None:
    assert got.dtype == expected.dtype, message
    if got.dtype in SMALL_INTEGERS or got.dtype.kind in "iub":
        np.testing.assert_array_equal(got.astype(np.int64), expected.astype(np.int64), message)
    else:
        np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64), message)
        signs = np.signbit(got.astype(np.float64)) == np.signbit(expected.astype(np.float64))
        assert (signs | np.isnan(expected.astype(np.float64))).all(), message


@pytest.mark.parametrize("source", NARROW, ids=str)
def test_every_value_of_a_narrow_type_widens_exactly(run_native: RunNative, source: np.dtype[Any]) -> None:
    x = every_value(source)
    for target in WIDE:
        finite = x
        if target.kind in "iub":
            as_float = x.astype(np.float64)
            keep = np.isfinite(as_float) & (np.abs(as_float) < 100)
            if target.kind == "u":
                keep &= as_float >= 0
            finite = x[keep]
        with np.errstate(all="ignore"):
            expected = finite.astype(np.float64).astype(target)
        (got,) = run_native("Cast", 25, [finite], [number(target)], to=number(target))
        assert_same(got, expected, f"{source} to {target}")


@pytest.mark.parametrize("target", [*FLOAT8, FLOAT4], ids=str)
@pytest.mark.parametrize("saturate", [0, 1])
def test_floats_round_to_the_nearest_narrow_number(run_native: RunNative, target: np.dtype[Any], saturate: int) -> None:
    numbers = np.unique(every_value(target).astype(np.float32))
    numbers = numbers[np.isfinite(numbers)]
    ties = (numbers[1:] + numbers[:-1]) / 2
    beside = np.concatenate([np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf))])
    drawn = np.random.default_rng(0).normal(0, 100, 1000).astype(np.float32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30, 464, 465, 480, 61440, 65536], np.float32)
    x = np.concatenate([numbers, ties, beside, drawn, special])
    (got,) = run_native("Cast", 23, [x], [number(target)], to=number(target), saturate=saturate)
    with np.errstate(all="ignore"):
        expected = numpy_helper.saturate_cast(x, target) if saturate else x.astype(target)
    assert_same(got, expected)
    for source in (np.float64, np.float16, ml_dtypes.bfloat16):
        small = drawn.astype(source)
        (got,) = run_native("Cast", 23, [small], [number(target)], to=number(target), saturate=saturate)
        with np.errstate(all="ignore"):
            single = small.astype(np.float32)
            expected = numpy_helper.saturate_cast(single, target) if saturate else single.astype(target)
        assert_same(got, expected)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_scales_round_to_powers_of_two(run_native: RunNative, mode: str, saturate: int) -> None:
    x = np.concatenate(
        [
            np.exp2(np.random.default_rng(0).uniform(-126, 127.9, 500)),
            [1, 1.5, 3, 0, np.inf, np.nan, 2.0**127 * 1.7, 1e-40, 6],
        ]
    ).astype(np.float32)
    (got,) = run_native("Cast", 24, [x], [number(SCALE)], to=number(SCALE), saturate=saturate, round_mode=mode)
    expected = numpy_helper.to_float8e8m0(x, bool(saturate), mode).astype(SCALE)
    np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("target", SMALL_INTEGERS, ids=str)
def test_integers_lose_their_high_bits(run_native: RunNative, target: np.dtype[Any]) -> None:
    for source in WIDE:
        if source.kind not in "iu":
            continue
        x = np.arange(100).astype(source) if source.kind == "u" else np.arange(-50, 51).astype(source)
        (got,) = run_native("Cast", 25, [x], [number(target)], to=number(target))
        assert_same(got, x.astype(target), str(source))
    info = ml_dtypes.iinfo(target)
    fractions = np.linspace(int(info.min), int(info.max), 31).astype(np.float32)
    (got,) = run_native("Cast", 25, [fractions], [number(target)], to=number(target))
    assert_same(got, np.trunc(fractions).astype(target))


@pytest.mark.parametrize("target", NARROW, ids=str)
def test_a_cast_of_many_blocks_on_two_threads(run_native: RunNative, target: np.dtype[Any]) -> None:
    x = np.tile(every_value(target)[:-1], 5000)[:200_001]
    wide = np.dtype(np.float32)
    (as_float,) = run_native("Cast", 25, [x], [number(wide)], to=number(wide))
    assert_same(as_float, x.astype(np.float32))
    if target in SMALL_INTEGERS:
        like = np.zeros(1, target)
        (back,) = run_native("CastLike", 25, [as_float, like], [number(target)])
        assert_same(back, x)


def test_narrow_types_cast_into_each_other(run_native: RunNative) -> None:
    for source in [*FLOAT8, FLOAT4]:
        x = every_value(source)
        x = x[np.isfinite(x.astype(np.float32))]
        for target in [*FLOAT8, FLOAT4]:
            (got,) = run_native("Cast", 25, [x], [number(target)], to=number(target))
            assert_same(got, numpy_helper.saturate_cast(x.astype(np.float32), target), f"{source} to {target}")


def test_bit_cast_keeps_the_bits(run_native: RunNative) -> None:
    x = np.arange(-6, 6, dtype=np.float32).reshape(3, 4)
    for target in (np.int32, np.uint32):
        (got,) = run_native("BitCast", 26, [x], [number(np.dtype(target))], to=number(np.dtype(target)))
        np.testing.assert_array_equal(got, x.view(target))
    half = x.astype(ml_dtypes.bfloat16)
    (got,) = run_native("BitCast", 26, [half], [TensorProto.FLOAT16], to=TensorProto.FLOAT16)
    np.testing.assert_array_equal(got, half.view(np.float16))
    nibbles = np.arange(-8, 7).astype(ml_dtypes.int4)
    (got,) = run_native("BitCast", 26, [nibbles], [TensorProto.UINT4], to=TensorProto.UINT4)
    np.testing.assert_array_equal(got.astype(np.int64), nibbles.astype(np.int64) % 16)
    with pytest.raises(Exception, match="another width"):
        run_native("BitCast", 26, [x], [TensorProto.INT64], to=TensorProto.INT64)


@pytest.mark.parametrize(
    "dtype", [np.dtype(t) for t in ("int8", "uint8", "int16", "uint16")] + [*FLOAT8, FLOAT4, *SMALL_INTEGERS], ids=str
)
@pytest.mark.parametrize("layout", ["tensor", "axis", "last axis", "blocks", "blocks of the last axis"])
@pytest.mark.parametrize("scale_type", ["float32", "float16", "bfloat16"])
def test_quantization_of_all_types(run_native: RunNative, dtype: np.dtype[Any], layout: str, scale_type: str) -> None:
    generator = np.random.default_rng(1)
    x = generator.uniform(-30, 30, (3, 7, 5)).astype(np.float32)
    axis = 2 if "last" in layout else 1
    attributes: dict[str, Any] = {"axis": axis}
    shape: tuple[int, ...] = ()
    if "axis" in layout:
        shape = (x.shape[axis],)
    if "blocks" in layout:
        attributes["block_size"] = 2
        shape = tuple((n + 1) // 2 if d == axis else n for d, n in enumerate(x.shape))
    # Powers of two, so that no quotient is rounded before the result is.
    scale = np.asarray(np.exp2(generator.integers(-1, 3, shape))).astype(scale_type)
    x = (np.round(x * 4) / 4).astype(scale_type)
    zero = np.zeros(shape, dtype) if dtype not in SMALL_INTEGERS else generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu" and dtype not in SMALL_INTEGERS:
        zero = generator.integers(0, 9, shape).astype(dtype)

    def reference(op_type: str, inputs: list[Array]) -> Array:
        names = ["x", "scale", "zero"]
        wide = [a.astype(np.float32) if a.dtype in ("float16", ml_dtypes.bfloat16) else a for a in inputs]
        graph = helper.make_graph(
            [helper.make_node(op_type, names, ["y"], **attributes)],
            "one node",
            [helper.make_tensor_value_info(n, number(a.dtype), None) for n, a in zip(names, wide, strict=True)],
            [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])
        return np.asarray(ReferenceEvaluator(model).run(None, dict(zip(names, wide, strict=True)))[0])  # type: ignore[arg-type]

    (got,) = run_native("QuantizeLinear", 25, [x, scale, zero], [number(dtype)], **attributes)
    assert_same(got, reference("QuantizeLinear", [x, scale, zero]))
    (back,) = run_native("DequantizeLinear", 25, [got, scale, zero], [number(scale.dtype)], **attributes)
    np.testing.assert_array_equal(back, reference("DequantizeLinear", [got, scale, zero]).astype(scale_type))
    assert back.dtype == scale.dtype


def test_quantization_by_powers_of_two(run_native: RunNative) -> None:
    x = np.linspace(-6, 6, 64, dtype=np.float32).reshape(2, 32)
    scale = np.array([[0.5, 2], [1, 4]], np.float32).astype(SCALE)
    attributes = {"axis": 1, "block_size": 16, "output_dtype": TensorProto.FLOAT4E2M1}
    (got,) = run_native("QuantizeLinear", 24, [x, scale], [TensorProto.FLOAT4E2M1], **attributes)
    steps = scale.astype(np.float32).repeat(16, 1)
    assert_same(got, (x / steps).astype(FLOAT4))
    (back,) = run_native(
        "DequantizeLinear", 24, [got, scale], [TensorProto.FLOAT], axis=1, block_size=16, output_dtype=1
    )
    np.testing.assert_array_equal(back, got.astype(np.float32) * steps)


def test_integers_are_quantized_too(run_native: RunNative) -> None:
    x = np.array([-300, -7, 0, 5, 6, 300], np.int32)
    scale, zero = np.array(2, np.float32), np.array(3, np.int8)
    (got,) = run_native("QuantizeLinear", 10, [x, scale, zero], [TensorProto.INT8])
    np.testing.assert_array_equal(got, np.array([-128, -1, 3, 5, 6, 127], np.int8))


@pytest.mark.parametrize("dtype", [FLOAT4, *SMALL_INTEGERS], ids=str)
def test_elements_that_share_a_byte_are_moved(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = every_value(dtype)[:9].reshape(3, 3)
    (got,) = run_native("Transpose", 25, [x], [number(dtype)], perm=[1, 0])
    assert_same(got, np.ascontiguousarray(x.T))
    (got,) = run_native("Pad", 25, [x, np.array([0, 1, 0, 2])], [number(dtype)])
    padded = np.zeros((3, 6), dtype)
    padded[:, 1:4] = x
    assert_same(got, padded)
    value = numpy_helper.from_array(x.reshape(-1)[-1:])
    (got,) = run_native("ConstantOfShape", 25, [np.array([5])], [number(dtype)], value=numpy_helper.to_array(value))
    assert_same(got, np.repeat(x.reshape(-1)[-1:], 5))


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_float8_is_asked_for_nan_and_infinity(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = every_value(dtype)
    (nan,) = run_native("IsNaN", 20, [x], [TensorProto.BOOL])
    np.testing.assert_array_equal(nan, np.isnan(x.astype(np.float32)))
    (infinite,) = run_native("IsInf", 20, [x], [TensorProto.BOOL])
    np.testing.assert_array_equal(infinite, np.isinf(x.astype(np.float32)))
