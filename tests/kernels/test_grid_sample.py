"""GridSample over modes, paddings, ranks and types, against package onnx's reference implementation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

FLOATS = [np.dtype(t) for t in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)]
TOLERANCE = {"float64": 1e-5, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
PADDINGS = ["zeros", "border", "reflection"]


def reference(x: Array, grid: Array, **attributes: Any) -> Array:
    graph = helper.make_graph(
        [helper.make_node("GridSample", ["x", "grid"], ["y"], **attributes)],
        "one node",
        [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in ("x", "grid")],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    feed = {"x": x.astype(np.float64), "grid": grid.astype(np.float64)}
    return np.asarray(ReferenceEvaluator(model).run(None, feed)[0])  # type: ignore[index]


def cubic_over_an_edge(x: Array, grid: Array, aligns: int) -> Array:
    """What ORT computes: elements beyond the edge repeat it. The reference moves the position to the edge instead."""
    edge = 9
    wide = np.pad(x, [(0, 0), (0, 0)] + [(edge, edge)] * (x.ndim - 2), mode="edge")
    extents = np.array(x.shape[:1:-1], np.float64)  # the grid names the last dimension first
    position = (grid + 1) / 2 * (extents - 1) if aligns else ((grid + 1) * extents - 1) / 2
    return reference(wide, (2 * (position + edge) + 1) / (extents + 2 * edge) - 1, mode="cubic")


def draw(shape: tuple[int, ...], low: float, high: float, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(("padding", "aligns"), list(product(PADDINGS, [0, 1])))
def test_images_and_volumes_are_read_between_their_elements(
    run_native: RunNative, padding: str, aligns: int, mode: str
) -> None:
    attributes: dict[str, Any] = {"mode": mode, "padding_mode": padding, "align_corners": aligns}
    for shape, points in (((2, 3, 4, 5), (2, 6, 3, 2)), ((1, 2, 3, 4, 5), (1, 2, 3, 4, 3)), ((2, 1, 7), (2, 9, 1))):
        x, grid = draw(shape, -2, 2, 1), draw(points, -1.7, 1.7, 2)
        (got,) = run_native("GridSample", 22, [x, grid], [TensorProto.FLOAT], **attributes)
        if (mode, padding) == ("cubic", "border"):
            expected = cubic_over_an_edge(x, grid, aligns)
        else:
            expected = reference(x, grid, **attributes)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_grid_may_have_another_type(run_native: RunNative, dtype: np.dtype[Any], kind: np.dtype[Any]) -> None:
    x, grid = draw((1, 2, 4, 5), -2, 2, 1).astype(dtype), draw((1, 3, 3, 2), -1.2, 1.2, 2).astype(kind)
    (got,) = run_native("GridSample", 22, [x, grid], [helper.np_dtype_to_tensor_dtype(dtype)])
    assert got.dtype == dtype
    limit = TOLERANCE[dtype.name]
    np.testing.assert_allclose(got.astype(np.float64), reference(x, grid), rtol=limit, atol=limit)


def test_version_16_calls_the_modes_bilinear_and_bicubic(run_native: RunNative) -> None:
    x, grid = draw((1, 1, 4, 5), -2, 2, 1), draw((1, 3, 3, 2), -1.2, 1.2, 2)
    for old, new in (("bilinear", "linear"), ("bicubic", "cubic"), ("nearest", "nearest")):
        (expected,) = run_native("GridSample", 20, [x, grid], [TensorProto.FLOAT], mode=new)
        (got,) = run_native("GridSample", 16, [x, grid], [TensorProto.FLOAT], mode=old)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("padding", "mode"), list(product(PADDINGS, ["nearest", "linear", "cubic"])))
def test_positions_far_away_or_nowhere_stay_in_the_image(run_native: RunNative, padding: str, mode: str) -> None:
    x = draw((1, 1, 3, 1), 1, 2, 1)
    far = np.array([np.nan, np.inf, -np.inf, 3e38, -1e9, 1e5], np.float32)
    grid = np.stack([far, far[::-1]], -1).reshape(1, 1, 6, 2)
    for aligns in (0, 1):
        attributes: dict[str, Any] = {"mode": mode, "padding_mode": padding, "align_corners": aligns}
        (got,) = run_native("GridSample", 22, [x, grid], [TensorProto.FLOAT], **attributes)
        assert (np.abs(got) < 4).all()
