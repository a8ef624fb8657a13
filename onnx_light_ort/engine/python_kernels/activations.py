"""Activation functions, each in the precision of its input (float16 and bfloat16 are computed in float32)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

Activation = Callable[[Array], Any]


def activation_kernel(compute: Activation) -> PythonKernel:
    def kernel(x: Array) -> Array:
        if x.dtype.itemsize >= 4:
            y = compute(x)
            return y if type(y) is np.ndarray else np.asarray(y)
        return np.asarray(compute(x.astype(np.float32))).astype(x.dtype)

    return kernel


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), of full relative precision for negative x too; where exp overflows, the result is 0."""
    y: Array = np.exp(-x)
    y += 1
    return np.reciprocal(y, out=y) if y.ndim else np.reciprocal(y)


def softplus(x: Array) -> Any:
    return np.logaddexp(x, np.zeros((), x.dtype))


def hard_sigmoid(x: Array, alpha: float, beta: float) -> Any:
    y: Array = x * alpha
    y += beta
    return np.minimum(np.maximum(y, 0), 1)


def leaky_relu(x: Array, alpha: float) -> Any:
    return np.where(x < 0, x * alpha, x)


def elu(x: Array, alpha: float) -> Any:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def softsign(x: Array) -> Any:
    return x / (1 + np.abs(x))


# Coefficients of x and of 1 in the odd rational approximation of erf on [-4, 4] that Eigen and XLA use for float32;
# highest power of x squared first.
_ERF_NUMERATOR = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_ERF_DENOMINATOR = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)


def erf(x: Array) -> Array:
    """The error function: within 4e-7 in float32, exact to the last digits in float64 (at Python's speed)."""
    if x.dtype == np.float64:
        exact: Array = np.fromiter(map(math.erf, x.flat), np.float64, x.size).reshape(x.shape)
        return exact
    bounded = np.clip(x, -4, 4)
    square = bounded * bounded
    y = _polynomial(square, _ERF_NUMERATOR)
    y *= bounded
    y /= _polynomial(square, _ERF_DENOMINATOR)
    return y


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    y: Array = x * coefficients[0]
    for coefficient in coefficients[1:-1]:
        y += coefficient
        y *= x
    y += coefficients[-1]
    return y


def gelu(x: Array, approximate: str) -> Any:
    if approximate == "tanh":
        return x * sigmoid(x * (2 * math.sqrt(2 / math.pi)) * (1 + 0.044715 * x * x))
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))


_PLAIN: dict[str, Activation] = {
    "Erf": erf,
    "HardSwish": lambda x: x * hard_sigmoid(x, 1 / 6, 0.5),
    "Mish": lambda x: x * np.tanh(softplus(x)),
    "Sigmoid": sigmoid,
    "Softplus": softplus,
    "Softsign": softsign,
}


@fast_path(*_PLAIN)
def _plain(node: KernelNode) -> PythonKernel | None:
    if node.op_type == "Erf" and node.input_type(0) not in _FLOATS:
        return None
    return activation_kernel(_PLAIN[node.op_type])


_FLOATS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16})


@fast_path("Celu")
def _celu(node: KernelNode) -> PythonKernel:
    alpha: float = node.attribute("alpha", 1.0)
    return activation_kernel(lambda x: np.maximum(x, 0) + np.minimum(alpha * np.expm1(np.minimum(x, 0) / alpha), 0))


@fast_path("Elu")
def _elu(node: KernelNode) -> PythonKernel:
    alpha: float = node.attribute("alpha", 1.0)
    return activation_kernel(lambda x: elu(x, alpha))


@fast_path("Gelu")
def _gelu(node: KernelNode) -> PythonKernel:
    approximate: str = node.attribute("approximate", "none")
    return activation_kernel(lambda x: gelu(x, approximate))


@fast_path("HardSigmoid")
def _hard_sigmoid(node: KernelNode) -> PythonKernel:
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return activation_kernel(lambda x: hard_sigmoid(x, alpha, beta))


@fast_path("LeakyRelu")
def _leaky_relu(node: KernelNode) -> PythonKernel:
    alpha: float = node.attribute("alpha", 0.01)
    return activation_kernel(lambda x: leaky_relu(x, alpha))


@fast_path("Selu")
def _selu(node: KernelNode) -> PythonKernel:
    alpha, gamma = node.attribute("alpha"), node.attribute("gamma")
    return activation_kernel(lambda x: gamma * elu(x, alpha))


@fast_path("ThresholdedRelu")
def _thresholded_relu(node: KernelNode) -> PythonKernel:
    alpha: float = node.attribute("alpha", 1.0)
    return activation_kernel(lambda x: np.where(x > alpha, x, np.zeros((), x.dtype)))


@fast_path("Softmax", "LogSoftmax", "Hardmax")
def _softmax(node: KernelNode) -> PythonKernel:
    """Along one axis from version 13 on; before, over all dimensions from ``axis`` on, taken as one."""
    compute = _SOFTMAXES[node.op_type]
    axis: int = node.attribute("axis", -1 if node.since_version >= 13 else 1)
    if node.since_version >= 13:
        return activation_kernel(lambda x: compute(x, axis))

    def over_trailing_dimensions(x: Array) -> Array:
        rows = x.reshape(math.prod(x.shape[: axis % (x.ndim + 1)]), -1) if x.size else x
        y: Array = compute(rows, -1).reshape(x.shape)
        return y

    return activation_kernel(over_trailing_dimensions)


def softmax(x: Array, axis: int) -> Array:
    if not x.size:
        return x
    y: Array = x - x.max(axis=axis, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=axis, keepdims=True)
    return y


def log_softmax(x: Array, axis: int) -> Array:
    if not x.size:
        return x
    y: Array = x - x.max(axis=axis, keepdims=True)
    y -= np.log(np.exp(y).sum(axis=axis, keepdims=True))
    return y


def hardmax(x: Array, axis: int) -> Array:
    y = np.zeros_like(x)
    if x.size:
        np.put_along_axis(y, np.expand_dims(x.argmax(axis=axis), axis), 1, axis=axis)
    return y


_SOFTMAXES: dict[str, Callable[[Array, int], Array]] = {
    "Softmax": softmax,
    "LogSoftmax": log_softmax,
    "Hardmax": hardmax,
}
