"""Matrix products: MatMul and Gemm, and the integer ones MatMulInteger and QLinearMatMul.

numpy multiplies float32 and float64 matrices with BLAS and everything else in plain loops. So narrower floats are
multiplied in float32, and integers in a floating-point type wide enough for each sum to be exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

_NARROW_FLOATS = frozenset({TensorProto.FLOAT16, TensorProto.BFLOAT16})


@fast_path("MatMul")
def _matmul(node: KernelNode) -> PythonKernel:
    if node.input_type(0) not in _NARROW_FLOATS:
        return lambda a, b: np.asarray(np.matmul(a, b))

    def kernel(a: Array, b: Array) -> Array:
        return np.asarray(np.matmul(a.astype(np.float32), b.astype(np.float32))).astype(a.dtype)

    return kernel


@fast_path("Gemm")
def _gemm(node: KernelNode) -> PythonKernel:
    """alpha * A' * B' + beta * C, where the prime is an optional transposition and C broadcasts one way."""
    transposes_a, transposes_b = bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0))
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)

    def kernel(a: Array, b: Array, c: Array | None = None) -> Array:
        dtype = a.dtype
        if dtype.kind != "f" or dtype.itemsize < 4:
            wide = np.float32 if dtype.kind not in "iu" else np.dtype(dtype)
            a, b = a.astype(wide), b.astype(wide)
            c = None if c is None else c.astype(wide)
        y: Array = np.matmul(a.T if transposes_a else a, b.T if transposes_b else b)
        if alpha != 1:
            y = y * alpha
        if c is not None and beta:
            y = y + (c if beta == 1 else c * beta)
        return y.astype(dtype, copy=False)

    return kernel


def exact_float_type(terms: int) -> np.dtype[Any]:
    """The type in which a sum of so many products of differences of 8-bit integers is exact."""
    return np.dtype(np.float32 if terms * 255 * 255 < 1 << 24 else np.float64)


def integer_product(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> Array:
    """The exact product of (a - a_zero) and (b - b_zero), in floating point.

    A zero point is one value; or one a row of ``a``, or one a column of ``b``, in the last two dimensions' shape.
    """
    dtype = exact_float_type(a.shape[-1])
    a, b = a.astype(dtype), b.astype(dtype)
    if a_zero is not None:
        a -= _row_values(a_zero.astype(dtype), a)
    if b_zero is not None:
        b -= b_zero.astype(dtype)
    return np.asarray(np.matmul(a, b))


def _row_values(values: Array, matrix: Array) -> Array:
    return values.reshape(-1, 1) if values.ndim == 1 and values.size > 1 and matrix.ndim > 1 else values


@fast_path("MatMulInteger")
def _matmul_integer(node: KernelNode) -> PythonKernel:
    def kernel(a: Array, b: Array, a_zero: Array | None = None, b_zero: Array | None = None) -> Array:
        # By way of int64, so that a sum beyond int32 wraps around as it does in integer arithmetic.
        return integer_product(a, a_zero, b, b_zero).astype(np.int64).astype(np.int32)

    return kernel


def rescaled(sums: Array, scale: Any, zero: Array | None, default_type: np.dtype[Any]) -> Array:
    """Quantizes sums: rounds ``sums * scale`` half to even, adds the zero point, saturates."""
    dtype = default_type if zero is None else zero.dtype
    y = np.rint(sums.astype(np.float64) * scale)
    if zero is not None:
        y += zero
    limits = np.iinfo(dtype)
    quantized: Array = np.clip(y, limits.min, limits.max).astype(dtype)
    return quantized


@fast_path("QLinearMatMul")
def _qlinear_matmul(node: KernelNode) -> PythonKernel | None:
    integers = (TensorProto.INT8, TensorProto.UINT8)
    if node.input_type(0) not in integers or node.input_type(3) not in integers:
        return None

    def kernel(
        a: Array, a_scale: Array, a_zero: Array, b: Array, b_scale: Array, b_zero: Array, y_scale: Array, y_zero: Array
    ) -> Array:
        sums = integer_product(a, a_zero, b, b_zero)
        return rescaled(sums, _row_values(a_scale, a) * b_scale / y_scale, y_zero, a.dtype)

    return kernel
