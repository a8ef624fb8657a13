"""Elementwise operators: unary functions, arithmetic, comparisons, logic, variadic sums and extremes, Where, Clip.

Most are one numpy ufunc. A ufunc on arrays of rank 0 answers a scalar, which the wrappers turn back into an array.
numpy's division and conversion warnings are the caller's to silence: entering ``np.errstate`` costs more than a small
operator, so that the engine does it once for a run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel, is_integer_type

_UNARY: dict[str, Callable[[Any], Any]] = {
    "Abs": np.absolute,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "BitwiseNot": np.invert,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Exp": np.exp,
    "Floor": np.floor,
    "IsNaN": np.isnan,
    "Log": np.log,
    "Neg": np.negative,
    "Not": np.logical_not,
    "Reciprocal": np.reciprocal,
    "Round": np.rint,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
}

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add,
    "And": np.logical_and,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Mul": np.multiply,
    "Or": np.logical_or,
    "Sub": np.subtract,
    "Xor": np.logical_xor,
}

# numpy answers int8 for the extremes of two int4 arrays, float32 for some functions of bfloat16 ones.
_WIDENED_BY_NUMPY = frozenset(
    {TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2, TensorProto.BFLOAT16}
)


def elementwise(compute: Callable[..., Any], node: KernelNode) -> PythonKernel:
    """Wraps a ufunc so that it always answers an array of the output's type."""
    dtype = node.output_dtype(0)
    if dtype is not None and node.output_types[0] in _WIDENED_BY_NUMPY:

        def converting_kernel(*inputs: Array) -> Array:
            return np.asarray(compute(*inputs)).astype(dtype, copy=False)

        return converting_kernel

    def kernel(*inputs: Array) -> Array:
        y = compute(*inputs)
        return y if type(y) is np.ndarray else np.asarray(y)

    return kernel


@fast_path(*_UNARY)
def _unary(node: KernelNode) -> PythonKernel:
    return elementwise(_UNARY[node.op_type], node)


@fast_path(*_BINARY)
def _binary(node: KernelNode) -> PythonKernel:
    return with_legacy_broadcast(elementwise(_BINARY[node.op_type], node), node)


def with_legacy_broadcast(kernel: PythonKernel, node: KernelNode) -> PythonKernel:
    """Before version 7, B is broadcast only on request, and aligned with the dimensions of A from ``axis`` on."""
    if node.since_version >= 7 or not node.attribute("broadcast"):
        return kernel
    axis = node.attribute("axis")
    if axis is None:
        return kernel

    def kernel_with_aligned_b(a: Array, b: Array) -> Any:
        trailing = a.ndim - (axis % a.ndim) - b.ndim
        return kernel(a, b.reshape(b.shape + (1,) * trailing))

    return kernel_with_aligned_b


@fast_path("Div")
def _div(node: KernelNode) -> PythonKernel:
    compute = _truncated_division if is_integer_type(node.input_type(0)) else np.true_divide
    return with_legacy_broadcast(elementwise(compute, node), node)


def _truncated_division(a: Array, b: Array) -> Any:
    """Integer division that rounds towards zero, where numpy's rounds down."""
    quotient = np.floor_divide(a, b)
    rounded_down = (quotient < 0) & (quotient * b != a)
    return quotient + rounded_down.astype(quotient.dtype)


@fast_path("Mod")
def _mod(node: KernelNode) -> PythonKernel:
    return elementwise(np.fmod if node.attribute("fmod") else np.mod, node)


@fast_path("Pow")
def _pow(node: KernelNode) -> PythonKernel:
    """The result has the base's type. Squaring, which normalisations written out as nodes do, is a multiplication."""

    def compute(x: Array, exponent: Array) -> Any:
        if exponent.size == 1 and exponent.ndim <= x.ndim and exponent.item() == 2:
            return np.multiply(x, x)
        if exponent.dtype.kind in "iu" and x.dtype.kind in "iu":
            return np.power(x.astype(np.float64), exponent).astype(x.dtype) if (exponent < 0).any() else x**exponent
        return np.power(x, exponent).astype(x.dtype, copy=False)

    def kernel(x: Array, exponent: Array) -> Array:
        return np.asarray(compute(x, exponent)).astype(x.dtype, copy=False)

    return with_legacy_broadcast(kernel, node)


@fast_path("Max", "Min")
def _extreme(node: KernelNode) -> PythonKernel:
    extreme = np.maximum if node.op_type == "Max" else np.minimum
    return elementwise(lambda *inputs: reduce(extreme, inputs), node)


@fast_path("Sum")
def _sum(node: KernelNode) -> PythonKernel:
    return elementwise(lambda *inputs: reduce(np.add, inputs), node)


@fast_path("Mean")
def _mean(node: KernelNode) -> PythonKernel:
    def kernel(*inputs: Array) -> Array:
        return np.asarray(reduce(np.add, inputs) / inputs[0].dtype.type(len(inputs)))

    return kernel


@fast_path("Where")
def _where(node: KernelNode) -> PythonKernel:
    return np.where


@fast_path("Relu")
def _relu(node: KernelNode) -> PythonKernel:
    def kernel(x: Array) -> Array:
        return np.asarray(np.maximum(x, _zero(x.dtype)))

    return kernel


_ZEROS: dict[np.dtype[Any], Array] = {}


def _zero(dtype: np.dtype[Any]) -> Array:
    """A ready zero: numpy takes twice as long when it has to convert a Python number first."""
    zero = _ZEROS.get(dtype)
    if zero is None:
        zero = _ZEROS[dtype] = np.zeros((), dtype)
    return zero


@fast_path("Clip")
def _clip(node: KernelNode) -> PythonKernel:
    """Where both limits are given and cross, the upper one wins. Limits are attributes before version 11."""
    if node.since_version < 11:
        dtype = node.output_dtype(0) or np.dtype(np.float32)
        lowest, highest = node.attribute("min"), node.attribute("max")
        low = None if lowest is None else np.asarray(lowest, dtype)
        high = None if highest is None else np.asarray(highest, dtype)
        return lambda x: _clipped(x, low, high)
    return _clipped


def _clipped(x: Array, low: Array | None = None, high: Array | None = None) -> Array:
    y = x if low is None else np.maximum(x, low)
    y = y if high is None else np.minimum(y, high)
    return np.asarray(y).astype(x.dtype, copy=False)


@fast_path("IsInf")
def _is_inf(node: KernelNode) -> PythonKernel | None:
    if node.attribute("detect_negative", 1) and node.attribute("detect_positive", 1):
        return elementwise(np.isinf, node)
    return None
