"""Pooling, resizing and transposed convolution in all their forms, against plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
FLOATS = [np.dtype(np.float32), np.dtype(np.float64), *HALVES]
BYTES = [np.dtype(np.int8), np.dtype(np.uint8)]
INTEGERS = [np.dtype(t) for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")]
TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


def number(dtype: np.dtype[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype)


def draw(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int = 1) -> Array:
    generator = np.random.default_rng(seed)
    if dtype.kind in "iu":
        return generator.integers(0 if dtype.kind == "u" else -100, 100, shape).astype(dtype)
    return np.asarray(generator.uniform(-4, 4, shape)).astype(dtype)


def assert_close(got: Array, expected: Array, dtype: np.dtype[Any]) -> None:
    assert got.shape == expected.shape
    assert got.dtype == dtype
    limit = TOLERANCE[dtype.name]
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=limit, atol=limit)


def windows(
    shape: tuple[int, ...], kernel: list[int], strides: list[int], dilations: list[int], pads: list[int]
) -> tuple[tuple[int, ...], dict[tuple[int, ...], list[tuple[int, ...]]]]:
    """The shape of the output, and the positions inside the input that each of its elements covers."""
    n = len(shape)
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    out = tuple((shape[i] + pads[i] + pads[n + i] - reach[i]) // strides[i] + 1 for i in range(n))
    covered = {}
    for o in np.ndindex(out):
        taps = [[o[i] * strides[i] - pads[i] + k * dilations[i] for k in range(kernel[i])] for i in range(n)]
        inside = [[t for t in axis if 0 <= t < shape[i]] for i, axis in enumerate(taps)]
        covered[o] = list(product(*inside))
    return out, covered


POOLS: list[tuple[tuple[int, ...], dict[str, list[int]]]] = [
    ((9,), {"kernel_shape": [3], "strides": [2], "dilations": [2], "pads": [1, 2]}),
    ((7, 6), {"kernel_shape": [2, 3], "strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 0, 2]}),
    ((4, 5, 3), {"kernel_shape": [2, 2, 2], "strides": [1, 2, 1], "dilations": [2, 1, 1], "pads": [0, 1, 1, 1, 0, 1]}),
]


@pytest.mark.parametrize("dtype", FLOATS + BYTES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("shape", "window"), POOLS)
def test_max_pool_says_where_its_maxima_lie(
    run_native: RunNative, shape: tuple[int, ...], window: dict[str, list[int]], order: str, dtype: np.dtype[Any]
) -> None:
    x = draw((2, 3, *shape), dtype).round()  # with ties
    out, covered = windows(shape, *window.values())
    values, indices = run_native(
        "MaxPool", 12, [x], [number(dtype), TensorProto.INT64], storage_order=int(order == "F"), **window
    )
    (alone,) = run_native("MaxPool", 12, [x], [number(dtype)], **window)
    np.testing.assert_array_equal(values, alone)
    assert values.shape == indices.shape == (2, 3, *out)
    for plane in np.ndindex(2, 3):
        offset = (plane[0] * 3 + plane[1]) * int(np.prod(shape))
        for o, positions in covered.items():
            elements = [x[plane + p] for p in positions]
            first = positions[max(range(len(elements)), key=lambda i: elements[i])]
            assert values[plane + o] == x[plane + first]
            assert indices[plane + o] == offset + np.ravel_multi_index(first, shape, order=order)


def test_a_window_of_minus_infinity_and_nan_has_the_index_of_an_element_of_its_own(run_native: RunNative) -> None:
    x = np.array([[[-np.inf, -np.inf, np.nan, 1, np.nan]]], np.float32)
    outputs = [TensorProto.FLOAT, TensorProto.INT64]
    values, indices = run_native("MaxPool", 12, [x], outputs, kernel_shape=[2], pads=[1, 0])
    np.testing.assert_array_equal(values, [[[-np.inf, -np.inf, -np.inf, 1, 1]]])
    assert indices.tolist() == [[[0, 0, 1, 3, 3]]]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("shape", "window"), POOLS)
def test_norms_of_windows_and_of_planes(
    run_native: RunNative, shape: tuple[int, ...], window: dict[str, list[int]], p: int, dtype: np.dtype[Any]
) -> None:
    x = draw((2, 3, *shape), dtype)
    powers = np.abs(x.astype(np.float64)) ** p
    out, covered = windows(shape, *window.values())
    expected = np.zeros((2, 3, *out))
    for plane in np.ndindex(2, 3):
        for o, positions in covered.items():
            expected[plane + o] = sum(powers[plane + position] for position in positions) ** (1 / p)
    (got,) = run_native("LpPool", 18, [x], [number(dtype)], p=p, **window)
    assert_close(got, expected, dtype)
    axes = tuple(range(2, x.ndim))
    for opset, exponent in ((1, float(p)), (2, p), (22, p)):
        (got,) = run_native("GlobalLpPool", opset, [x], [number(dtype)], p=exponent)
        assert_close(got, powers.sum(axes, keepdims=True) ** (1 / p), dtype)


def position(mode: str, i: int, scale: float, length: int, size: int, region: tuple[float, float]) -> float:
    """The specification's formulas, in single precision."""
    x, ratio, n, one = np.float32(i), np.float32(scale), np.float32(length), np.float32(1)
    start, end = (np.float32(bound) for bound in region)
    if mode == "asymmetric":
        return float(x / ratio)
    if mode == "align_corners":
        return 0.0 if ratio * n == 1 else float(x * (n - one) / (ratio * n - one))
    if mode == "tf_crop_and_resize":
        if size == 1:
            return float((start + end) * (n - one) / 2)
        return float(start * (n - one) + x * (end - start) * (n - one) / (ratio * n - one))
    if mode == "pytorch_half_pixel" and size == 1:
        return 0.0
    offset = np.float32(0)
    if mode == "half_pixel_symmetric":
        offset = n / 2 * (one - np.float32(size) / (ratio * n))
    return float(offset + (x + np.float32(0.5)) / ratio - np.float32(0.5))


def weight(mode: str, distance: float, a: float) -> float:
    x = abs(distance)
    if mode == "linear":
        return max(1 - x, 0)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0


def resized_axis(
    x: Array, axis: int, scale: float, size: int, region: tuple[float, float], attributes: dict[str, Any]
) -> Array:
    """One axis, one output element after the other, each from as many elements of the input as can matter."""
    length = x.shape[axis]
    mode = attributes.get("mode", "nearest")
    coordinates = attributes.get("coordinate_transformation_mode", "half_pixel")
    shrink = min(scale, 1.0) if attributes.get("antialias") else 1.0
    lines = np.moveaxis(x.astype(np.float64), axis, 0)
    result = np.zeros((size, *lines.shape[1:]))
    for o in range(size):
        at = position(coordinates, o, scale, length, size, region)
        if coordinates == "tf_crop_and_resize" and not 0 <= at <= length - 1:
            result[o] = attributes.get("extrapolation_value", 0.0)
            continue
        if mode == "nearest":
            result[o] = lines[min(max(math.ceil(at - 0.5), 0), length - 1)]
            continue
        reach = math.ceil(2 / shrink) + 1
        taps = range(math.floor(at) - reach, math.floor(at) + reach + 1)
        weights = [weight(mode, (tap - at) * shrink, attributes.get("cubic_coeff_a", -0.75)) for tap in taps]
        if attributes.get("exclude_outside"):
            weights = [w if 0 <= tap < length else 0 for tap, w in zip(taps, weights, strict=True)]
        total = sum(weights)
        result[o] = sum(
            w / total * lines[min(max(tap, 0), length - 1)] for tap, w in zip(taps, weights, strict=True) if w
        )
    return np.moveaxis(result, 0, axis)


def resized(x: Array, scales: list[float], sizes: list[int], region: Array | None = None, **attributes: Any) -> Array:
    for axis, (scale, size) in enumerate(zip(scales, sizes, strict=True)):
        part = (0.0, 1.0) if region is None else (float(region[axis]), float(region[axis + x.ndim]))
        if (scale, size, part) != (1, x.shape[axis], (0.0, 1.0)):
            x = resized_axis(x, axis, scale, size, part, attributes)
    return x


def resized_by_scales(x: Array, scales: Array, **attributes: Any) -> Array:
    sizes = [math.floor(np.float32(n) * scale) for n, scale in zip(x.shape, scales, strict=True)]
    return resized(x, scales.tolist(), sizes, **attributes)


COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]
SCALES = [(2, 3), (0.6, 1.5), (0.4, 0.75)]


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_interpolation_takes_every_attribute(
    run_native: RunNative, mode: str, coordinates: str, scales: tuple[float, float]
) -> None:
    x = draw((2, 1, 5, 7), FLOATS[0])
    inputs: list[Any] = [x, None, np.array([1, 1, *scales], np.float32)]
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates}
    for more in ({}, {"antialias": 1}, {"exclude_outside": 1}, {"cubic_coeff_a": -0.5}):
        (got,) = run_native("Resize", 19, inputs, [TensorProto.FLOAT], **attributes, **more)
        assert_close(got, resized_by_scales(x, inputs[2], **attributes, **more), x.dtype)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_interpolation_of_every_type(run_native: RunNative, mode: str, dtype: np.dtype[Any]) -> None:
    x = draw((1, 2, 5, 6), dtype)
    if dtype.kind in "iu":
        x[0, 0, 0, :2] = np.iinfo(dtype).max, np.iinfo(dtype).min  # beyond which a cubic one overshoots
        if dtype.itemsize == 8:
            x[0, 0, 0, :2] //= 2**12  # what double holds
    for scales in SCALES:
        inputs: list[Any] = [x, None, np.array([1, 1, *scales], np.float32)]
        (got,) = run_native("Resize", 19, inputs, [number(dtype)], mode=mode)
        expected = resized_by_scales(x, inputs[2], mode=mode)
        if dtype in FLOATS:
            assert_close(got, expected, dtype)
            continue
        exact = np.rint(np.clip(expected, float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)))
        error = np.abs(got.astype(np.float64) - exact)
        # Sums may end on either side of a half.
        assert (error <= np.where(np.abs(expected % 1 - 0.5) < 1e-3, 1, 0) + np.abs(exact) * 1e-14).all()


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
def test_sizes_keep_the_ratio_where_that_is_wanted(run_native: RunNative, mode: str, policy: str) -> None:
    x = draw((1, 2, 5, 8), FLOATS[0])
    for sizes in ([9, 9], [3, 7], [10, 16]):
        for axes in ([2, 3], [-1, -2]):
            lengths = [x.shape[axis] for axis in axes]
            ratios = [size / length for size, length in zip(sizes, lengths, strict=True)]
            wanted = list(sizes)
            if policy != "stretch":
                ratios = [min(ratios) if policy == "not_larger" else max(ratios)] * 2
                wanted = [math.floor(ratios[0] * length + 0.5) for length in lengths]
            order = slice(None, None, 1 if axes[0] > 0 else -1)
            expected = resized(x, [1, 1, *ratios[order]], [1, 2, *wanted[order]], mode=mode)
            attributes: dict[str, Any] = {"mode": mode, "axes": axes, "keep_aspect_ratio_policy": policy}
            (got,) = run_native("Resize", 19, [x, None, None, np.array(sizes)], [TensorProto.FLOAT], **attributes)
            assert_close(got, expected, x.dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, np.dtype(np.bool_)], ids=str)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_region_is_cropped_and_extrapolated(run_native: RunNative, mode: str, dtype: np.dtype[Any]) -> None:
    if dtype == np.bool_ and mode != "nearest":
        return
    x = draw((1, 2, 5, 8), dtype)
    region = np.array([0, 0, 0.25, -0.25, 1, 1, 0.75, 1.25], np.float32)
    attributes: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 7.0,
    }
    inputs: list[Array | None] = [x, region, None, np.array([1, 2, 3, 9])]
    (got,) = run_native("Resize", 13, inputs, [number(dtype)], **attributes)
    assert got.dtype == dtype
    assert (got[..., 0] == np.asarray(7).astype(dtype)).all()
    assert (got[..., -1] == np.asarray(7).astype(dtype)).all()
    if dtype in FLOATS:
        assert_close(got, resized(x, [1, 1, 3 / 5, 9 / 8], [1, 2, 3, 9], region, **attributes), dtype)
    (whole,) = run_native("Resize", 13, [x, None, *inputs[2:]], [number(dtype)], **attributes)
    if dtype in FLOATS:
        assert_close(whole, resized(x, [1, 1, 3 / 5, 9 / 8], [1, 2, 3, 9], **attributes), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_versions_without_coordinate_modes_read_from_the_front(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((1, 1, 2, 10), dtype)
    for op_type, opset, scale in [("Upsample", 7, 2.5), ("Upsample", 9, 2.5), ("Resize", 10, 2.5), ("Resize", 10, 0.6)]:
        scales = np.array([1, 1, 1, scale], np.float32)
        inputs = [x] if opset == 7 else [x, scales]
        attributes: dict[str, Any] = {"scales": scales.tolist()} if opset == 7 else {}
        (got,) = run_native(op_type, opset, inputs, [number(dtype)], mode="nearest", **attributes)
        at = np.arange(int(10 * scale), dtype=np.float32) / np.float32(scale)
        # A smaller output takes the next element, as in ORT.
        nearest = np.ceil(at) if scale < 1 else np.floor(at)
        np.testing.assert_array_equal(got, x[..., nearest.astype(int)])
        (got,) = run_native(op_type, opset, inputs, [number(dtype)], mode="linear", **attributes)
        lines = [np.interp(at, np.arange(10), line) for line in x.reshape(2, 10).astype(np.float64)]
        assert_close(got, np.reshape(lines, got.shape), dtype)
    (got,) = run_native("Upsample", 1, [x], [number(dtype)], mode="nearest", height_scale=2.0, width_scale=3.0)
    np.testing.assert_array_equal(got, x.repeat(2, 2).repeat(3, 3))


def test_resizing_refuses_what_does_not_fit(run_native: RunNative) -> None:
    x = draw((1, 1, 4, 4), FLOATS[0])
    scales = np.array([2, 2, 2], np.float32)
    with pytest.raises(Exception, match="Resize: scales has 3 values, expected 4"):
        run_native("Resize", 13, [x, None, scales], [TensorProto.FLOAT])
    with pytest.raises(Exception, match="Resize: mode is 'spline'"):
        run_native("Resize", 13, [x, None, scales], [TensorProto.FLOAT], mode="spline")
    with pytest.raises(Exception, match="interpolation of bool"):
        run_native("Resize", 13, [x > 0, None, scales], [TensorProto.BOOL], mode="linear")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("wanted", [None, [9, 10], [7, 12], [1, 3, 9, 10]])
def test_a_transposed_convolution_has_the_size_that_is_wanted(
    run_native: RunNative, auto_pad: str, wanted: list[int] | None, dtype: np.dtype[Any]
) -> None:
    x, w = draw((1, 2, 4, 3), dtype), draw((2, 3, 4, 4), dtype, 2)
    attributes: dict[str, Any] = {"strides": [2, 3], "auto_pad": auto_pad}
    if wanted is not None:
        attributes["output_shape"] = wanted
    (got,) = run_native("ConvTranspose", 22, [x, w], [number(dtype)], **attributes)
    full = np.zeros((1, 3, 10, 10))
    for i, j in np.ndindex(4, 3):
        full[:, :, 2 * i : 2 * i + 4, 3 * j : 3 * j + 4] += np.einsum(
            "nc,cmhw->nmhw", x[:, :, i, j].astype(np.float64), w.astype(np.float64)
        )
    size = wanted[-2:] if wanted is not None else [8, 9] if auto_pad.startswith("SAME") else [10, 10]
    for axis, extent in ((2, size[0]), (3, size[1])):
        cut = full.shape[axis] - extent
        before = cut // 2 if auto_pad == "SAME_UPPER" else cut - cut // 2
        grown = np.pad(full, [(max(-before, 0), max(before - cut, 0)) if a == axis else (0, 0) for a in range(4)])
        full = grown.take(range(max(before, 0), max(before, 0) + extent), axis)
    np.testing.assert_allclose(
        got.astype(np.float64), full, rtol=2 * TOLERANCE[dtype.name], atol=4 * TOLERANCE[dtype.name]
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_maxima_of_regions(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((2, 3, 8, 9), dtype)
    regions = np.array([[0, 0, 0, 7, 7], [1, 2, 1, 8, 5], [0, 3, 3, 3, 3], [1, -4, 2, 20, 30], [0, 40, 0, 50, 7]])
    for cells, scale in (((3, 2), 1.0), ((2, 4), 0.5)):
        (got,) = run_native(
            "MaxRoiPool", 22, [x, regions.astype(dtype)], [number(dtype)], pooled_shape=list(cells), spatial_scale=scale
        )
        assert got.dtype == dtype
        for index, (image, left, top, right, bottom) in enumerate(regions):
            bounds = []
            for first, last, count, extent in ((top, bottom, cells[0], 8), (left, right, cells[1], 9)):
                start, end = math.floor(first * scale + 0.5), math.floor(last * scale + 0.5)
                length = max(end - start + 1, 1) / count
                edges = [(math.floor(i * length) + start, math.ceil((i + 1) * length) + start) for i in range(count)]
                bounds.append([(min(max(a, 0), extent), min(max(b, 0), extent)) for a, b in edges])
            for i, j in np.ndindex(cells):
                part = x[image, :, slice(*bounds[0][i]), slice(*bounds[1][j])]
                expected = part.max((1, 2)) if part.size else np.zeros(3, dtype)
                np.testing.assert_array_equal(got[index, :, i, j], expected)
    with pytest.raises(Exception, match="MaxRoiPool: a region is of image 2"):
        run_native(
            "MaxRoiPool", 22, [x, np.array([[2, 0, 0, 1, 1]]).astype(dtype)], [number(dtype)], pooled_shape=[1, 1]
        )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_maxima_go_back_to_where_they_were_found(run_native: RunNative, dtype: np.dtype[Any]) -> None:
    x = draw((2, 3, 6, 8), dtype)
    types = [number(dtype), TensorProto.INT64]
    for window in ({"kernel_shape": [2, 2], "strides": [2, 2]}, {"kernel_shape": [3, 2], "strides": [3, 2]}):
        values, indices = run_native("MaxPool", 22, [x], types, **window)
        (got,) = run_native("MaxUnpool", 22, [values, indices], types[:1], **window)
        expected = np.zeros(x.size, dtype)
        expected[indices.reshape(-1)] = values.reshape(-1)
        np.testing.assert_array_equal(got, expected.reshape(x.shape))
    with pytest.raises(Exception, match="MaxUnpool: index 999 is outside"):
        run_native(
            "MaxUnpool", 22, [values[:1, :1, :1, :1], np.full((1, 1, 1, 1), 999)], types[:1], kernel_shape=[1, 1]
        )
