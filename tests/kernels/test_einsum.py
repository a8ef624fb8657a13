"""Einsum over equations, ranks and types, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]

FLOATS = [np.dtype(t) for t in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)]
INTEGERS = [np.dtype(t) for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")]
TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 1e-2, "bfloat16": 6e-2}

EQUATIONS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij->ji", [(3, 4)]),
    ("ij->j", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("iji->j", [(3, 4, 3)]),
    ("ba", [(3, 4)]),
    ("...ij->...ji", [(2, 5, 3, 4)]),
    ("i...->...", [(2, 5, 3)]),
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("i j , k j -> k i", [(3, 4), (5, 4)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bij,bjk->ikb", [(2, 3, 4), (2, 4, 5)]),
    ("bhwc,hkc->bhwk", [(2, 3, 4, 5), (3, 6, 5)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (6, 4, 5)]),
    ("...ij,jk", [(2, 3, 4), (4, 5)]),
    ("i,i->", [(6,), (6,)]),
    ("i,j->ij", [(3,), (4,)]),
    ("ij,kl->kj", [(3, 4), (5, 6)]),
    ("ij,j->ij", [(3, 4), (4,)]),
    (",ij->ij", [(), (3, 4)]),
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("ij,ij,ij->i", [(3, 4), (3, 4), (3, 4)]),
    ("bi,oij,bj->bo", [(2, 3), (4, 3, 5), (2, 5)]),
    ("aB,Bc->ac", [(2, 3), (3, 4)]),
    ("ii,ij->j", [(4, 4), (4, 5)]),
    ("bnqd,bnkd->bnqk", [(2, 3, 4, 8), (2, 3, 5, 8)]),
    ("ij,jk->ik", [(0, 4), (4, 5)]),
    ("ij,jk->ik", [(3, 0), (0, 5)]),
]


def draw(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
    generator = np.random.default_rng(seed)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    return np.asarray(generator.uniform(-2, 2, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS)
def test_equations(run_native: RunNative, equation: str, shapes: list[tuple[int, ...]], dtype: np.dtype[Any]) -> None:
    operands = [draw(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    element = helper.np_dtype_to_tensor_dtype(dtype)
    (got,) = run_native("Einsum", 28, operands, [element], equation=equation)
    assert got.dtype == dtype
    if dtype.kind in "iu":  # as numpy, integers wrap around
        np.testing.assert_array_equal(got, np.einsum(equation, *operands, dtype=dtype, casting="unsafe"))
        return
    expected = np.einsum(equation, *[x.astype(np.float64) for x in operands])
    assert got.shape == expected.shape
    limit = TOLERANCE[dtype.name]
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=limit, atol=limit)


def test_letters_of_one_element_are_broadcast(run_native: RunNative) -> None:
    a, b = draw((3, 1), FLOATS[0], 1), draw((4, 5), FLOATS[0], 2)
    (got,) = run_native("Einsum", 12, [a, b], [TensorProto.FLOAT], equation="ij,jk->ik")
    np.testing.assert_allclose(got, a * b.sum(0), rtol=1e-5)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij,jk->iz", "a letter of the output occurs twice, or in no input"),
        ("ij,jk->ii", "a letter of the output occurs twice, or in no input"),
        ("i1,jk->ik", "neither letter nor ellipsis"),
        ("ij->i", "1 terms for 2 inputs"),
        ("ijk,jk->ik", r"input 0 has shape \[3,4\], and 3 letters"),
        ("ij,ik->jk", "does not fit the extents of the others"),
    ],
)
def test_equations_that_do_not_fit_are_refused(run_native: RunNative, equation: str, message: str) -> None:
    a, b = draw((3, 4), FLOATS[0], 1), draw((4, 5), FLOATS[0], 2)
    with pytest.raises(Exception, match=f"Einsum: .*{message}"):
        run_native("Einsum", 12, [a, b], [TensorProto.FLOAT], equation=equation)
