"""Operators compute what they do in ORT, over attributes that the operator cases of onnx leave out.

Each case is a model of one node. It runs in ORT, in a session of this package, and in one whose kernels are all Python
ones. docs/operators.md has the differences that are marked here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
    np_dtype_to_tensor_dtype,
)

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import python_registry

FLOAT, INT64, INT32, UINT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.UINT8

_generator = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return _generator.normal(size=shape).astype(np.float32)


def quantized(dtype: Any, *shape: int) -> Any:
    limits = np.iinfo(dtype)
    return np.asarray(_generator.integers(limits.min, limits.max + 1, shape)).astype(dtype)


def number(value: float) -> Any:
    return np.asarray(value, np.float32)


@dataclass
class Case:
    op_type: str
    inputs: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = 17
    outputs: tuple[int, ...] = (FLOAT,)
    difference: str = ""

    def __str__(self) -> str:
        attributes = ",".join(f"{key}={value}" for key, value in self.attributes.items())
        return f"{self.op_type}{self.opset}[{attributes}]".replace(" ", "")

    def names(self) -> list[str]:
        return ["" if value is None else f"i{position}" for position, value in enumerate(self.inputs)]

    def feed(self) -> dict[str, Any]:
        return {name: value for name, value in zip(self.names(), self.inputs, strict=True) if name}

    def model(self) -> bytes:
        names = [f"o{position}" for position in range(len(self.outputs))]
        inputs = [
            make_tensor_value_info(name, np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in self.feed().items()
        ]
        outputs = [
            make_tensor_value_info(name, element, None) for name, element in zip(names, self.outputs, strict=True)
        ]
        node = make_node(self.op_type, self.names(), names, **self.attributes)
        model = make_model(
            make_graph([node], "one node", inputs, outputs),
            opset_imports=[make_opsetid("", self.opset)],
            ir_version=9,
        )
        return onnx.shape_inference.infer_shapes(model).SerializeToString()


def pooling_cases() -> Iterator[Case]:
    for op_type, auto_pad, stride in product(
        ["MaxPool", "AveragePool", "LpPool"], ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"], [1, 2, 3]
    ):
        attributes = {"auto_pad": auto_pad, "strides": [stride, stride], "kernel_shape": [3, 2]}
        yield Case(op_type, [normal(1, 2, 8, 7)], attributes)
    for ceil_mode in (0, 1):
        uneven = {"pads": [1, 0, 1, 1], "ceil_mode": ceil_mode, "strides": [2, 2], "kernel_shape": [3, 3]}
        for counts in (0, 1):
            yield Case("AveragePool", [normal(1, 1, 7, 6)], {**uneven, "count_include_pad": counts}, opset=19)
            apart = {**uneven, "kernel_shape": [2, 2], "strides": [3, 3], "pads": [0, 1, 1, 0]}
            yield Case("AveragePool", [normal(1, 1, 7, 6)], {**apart, "count_include_pad": counts}, opset=19)
            dilated = {**uneven, "kernel_shape": [2, 3], "dilations": [2, 2], "strides": [2, 1]}
            yield Case("AveragePool", [normal(1, 1, 9, 8)], {**dilated, "count_include_pad": counts}, opset=19)
        for order in (0, 1):
            attributes = {**uneven, "dilations": [1, 2], "storage_order": order}
            yield Case("MaxPool", [normal(1, 2, 7, 6)], attributes, outputs=(FLOAT, INT64))
        yield Case("LpPool", [normal(1, 1, 8, 6)], {**uneven, "p": 3}, opset=18)
    yield Case("MaxPool", [normal(1, 2, 5, 6, 4)], {"kernel_shape": [2, 3, 2], "pads": [1] * 6})
    yield Case("MaxPool", [normal(1, 2, 9)], {"kernel_shape": [3], "pads": [1, 1]})
    yield Case("GlobalMaxPool", [normal(1, 2, 5)])
    yield Case("GlobalMaxPool", [normal(1, 2, 5, 3, 2)])
    yield Case("GlobalLpPool", [normal(1, 2, 5, 3)], {"p": 3})
    regions = np.array([[0, 0, 0, 7, 7], [0, 2, 1, 8, 5], [0, 3, 3, 3, 3]], np.float32)
    yield Case("MaxRoiPool", [normal(1, 2, 8, 9), regions], {"pooled_shape": [3, 2]})
    yield Case("MaxRoiPool", [normal(1, 2, 8, 9), regions * 2], {"pooled_shape": [2, 3], "spatial_scale": 0.5})


def convolution_cases() -> Iterator[Case]:
    for auto_pad, stride in product(["SAME_UPPER", "SAME_LOWER", "VALID"], [1, 2, 3]):
        attributes = {"auto_pad": auto_pad, "strides": [stride, stride]}
        yield Case("Conv", [normal(1, 2, 8, 7), normal(3, 2, 3, 2)], attributes)
        yield Case("ConvTranspose", [normal(1, 2, 5, 4), normal(2, 3, 3, 3)], attributes)
    for group in (1, 2):
        x, w = normal(1, 4, 4, 3), normal(4, 3, 4, 4)
        attributes = {"group": group, "strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 0]}
        yield Case("ConvTranspose", [x, normal(4, 3, 3, 2), normal(3 * group)], {**attributes, "dilations": [1, 2]})
        wanted = {"group": group, "strides": [2, 3], "output_shape": [9, 10]}
        yield Case("ConvTranspose", [x, w], wanted)
        yield Case("ConvTranspose", [x, w], {**wanted, "auto_pad": "SAME_UPPER"})
        yield Case("ConvTranspose", [x, w], {**wanted, "auto_pad": "SAME_LOWER"})
    x, w = quantized(np.uint8, 1, 2, 6, 6), quantized(np.uint8, 3, 2, 3, 3)
    zeros = [quantized(np.uint8), quantized(np.uint8)]
    yield Case("ConvInteger", [x, w, *zeros], {"pads": [1, 1, 1, 1]}, outputs=(INT32,))
    for dtype in (np.int8, np.uint8):
        scales = np.array([0.02, 0.03, 0.04], np.float32)
        weights = [quantized(dtype, 3, 2, 3, 3), scales, np.zeros(3, dtype)]
        bias = quantized(np.int8, 3).astype(np.int32) * 50
        inputs = [x, number(0.02), quantized(np.uint8), *weights, number(0.9), quantized(np.uint8), bias]
        yield Case("QLinearConv", inputs, {"pads": [1, 0, 1, 1], "strides": [2, 1]}, outputs=(UINT8,))


def recurrent_cases() -> Iterator[Case]:
    lengths = np.array([2, 4], np.int32)
    for (direction, n), clip in product([("forward", 1), ("reverse", 1), ("bidirectional", 2)], [0.0, 0.4]):
        attributes: dict[str, Any] = {"hidden_size": 5, "direction": direction}
        if clip:
            attributes["clip"] = clip
        x, state = normal(4, 2, 3), normal(n, 2, 5)
        for couples in (0, 1):
            inputs = [
                x,
                normal(n, 20, 3),
                normal(n, 20, 5),
                normal(n, 40),
                lengths,
                state,
                normal(n, 2, 5),
                normal(n, 15),
            ]
            yield Case("LSTM", inputs, {**attributes, "input_forget": couples}, 14, (FLOAT,) * 3)
        for resets_after in (0, 1):
            inputs = [x, normal(n, 15, 3), normal(n, 15, 5), normal(n, 30), lengths, state]
            yield Case("GRU", inputs, {**attributes, "linear_before_reset": resets_after}, 14, (FLOAT,) * 2)
        inputs = [x, normal(n, 5, 3), normal(n, 5, 5), normal(n, 10), lengths, state]
        yield Case("RNN", inputs, {**attributes, "activations": ["Tanh"] * n}, 14, (FLOAT,) * 2)
    parameters = {"activation_alpha": [0.3, 0.7, 0.9], "activation_beta": [0.1, 0.2, 0.4]}
    for functions, difference in [
        (["Relu", "Tanh", "Softsign"], ""),
        (["HardSigmoid", "Relu", "Softplus"], ""),
        (["LeakyRelu", "ThresholdedRelu", "Elu"], "ORT's default threshold is 0"),
        (["Sigmoid", "Affine", "ScaledTanh"], "ORT's default factors are 0"),
    ]:
        attributes = {"hidden_size": 5, "activations": functions}
        inputs = [normal(4, 2, 3), normal(1, 20, 3), normal(1, 20, 5)]
        yield Case("LSTM", inputs, attributes, 14, difference=difference)
        yield Case("LSTM", inputs, {**attributes, **parameters}, 14)


def resize_cases() -> Iterator[Case]:
    x = normal(1, 2, 5, 6)
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"]
    for mode, coordinate, scales in product(
        ["nearest", "linear", "cubic"], coordinates, [(1, 1, 2, 3), (1, 1, 0.6, 1.5), (1, 1, 1.7, 0.8)]
    ):
        for nearest in ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"][: 4 if mode == "nearest" else 1]:
            difference = ""
            if coordinate == "align_corners" and scales[2] == 1.7:
                difference = "ORT divides by the rounded size"
            if coordinate == "half_pixel_symmetric" and scales[2] == 0.6 and nearest == "floor":
                difference = "a coordinate between two elements"
            attributes = {"mode": mode, "coordinate_transformation_mode": coordinate, "nearest_mode": nearest}
            yield Case("Resize", [x, None, np.array(scales, np.float32)], attributes, 19, difference=difference)
    sizes, region = np.array([1, 2, 8, 3]), np.array([0, 0, 0.1, -0.2, 1, 1, 0.9, 1.1], np.float32)
    for mode in ("nearest", "linear", "cubic"):
        yield Case("Resize", [x, None, None, sizes], {"mode": mode}, 13)
        cropping = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 5.0}
        yield Case("Resize", [x, region, None, sizes], {"mode": mode, **cropping}, 13)
        if mode != "nearest":
            scales = np.array([1, 1, 0.45, 0.6], np.float32)
            yield Case("Resize", [normal(1, 2, 9, 8), None, scales], {"mode": mode, "antialias": 1}, 18)
    for op_type, opset, mode in product(["Resize", "Upsample"], [9, 10], ["nearest", "linear"]):
        if (op_type, opset) in (("Resize", 10), ("Upsample", 9)):
            yield Case(op_type, [x, np.array([1, 1, 1.7, 2.3], np.float32)], {"mode": mode}, opset)
        if (op_type, opset) == ("Resize", 10):
            yield Case(op_type, [x, np.array([1, 1, 0.6, 0.4], np.float32)], {"mode": mode}, opset)

    for mode, padding, aligns in product(["nearest", "linear", "cubic"], ["zeros", "border", "reflection"], [0, 1]):
        attributes = {"mode": mode, "padding_mode": padding, "align_corners": aligns}
        if (mode, padding) != ("cubic", "border"):  # where the reference moves the position, and ORT the elements
            yield Case("GridSample", [normal(2, 2, 5, 6), normal(2, 4, 3, 2)], attributes, 20)
        if mode != "cubic":
            yield Case("GridSample", [normal(1, 2, 3, 4, 5), normal(1, 2, 3, 4, 3)], attributes, 20)


def other_cases() -> Iterator[Case]:
    yield Case("LRN", [normal(1, 3, 3, 4) * 3], {"size": 5, "alpha": 0.3, "beta": 0.7, "bias": 1.2})
    for dtype in (np.int8, np.uint8):
        element = np_dtype_to_tensor_dtype(np.dtype(dtype))
        a, b = quantized(np.uint8, 2, 3, 40), quantized(dtype, 40, 5)
        yield Case("MatMulInteger", [a, b, quantized(np.uint8), quantized(dtype, 5)], outputs=(INT32,))
        left, right = [a[0], number(0.02), quantized(np.uint8)], [b, number(0.03), quantized(dtype)]
        yield Case("QLinearMatMul", [*left, *right, number(0.7), quantized(np.uint8)], outputs=(UINT8,))
        yield Case("QuantizeLinear", [normal(4, 5) * 50, np.abs(normal(5)), quantized(dtype, 5)], outputs=(element,))
        yield Case("DequantizeLinear", [quantized(dtype, 4, 5), np.abs(normal(5)), quantized(dtype, 5)])
    for shift in range(-3, 4):
        yield Case("DynamicQuantizeLinear", [normal(5, 6) * 3 + number(shift)], {}, 11, (UINT8, FLOAT, UINT8))
    for mode in ("constant", "edge", "reflect", "wrap"):
        yield Case("Pad", [normal(3, 4, 5), np.array([1, 0, 2, 1, 1, 2])], {"mode": mode}, 19)
    yield Case("Pad", [normal(3, 4, 5), np.array([-1, 0, 2, 1, -1, -2])], {}, 13)
    for op_type in (
        *("Erf", "Sigmoid", "HardSigmoid", "Softplus", "Softsign", "Elu", "Selu", "Celu", "LeakyRelu", "Round"),
        *("ThresholdedRelu", "HardSwish", "Mish"),
    ):
        yield Case(op_type, [normal(40) * 8], {}, 18)
    for approximate in ("none", "tanh"):
        yield Case("Gelu", [normal(40) * 4], {"approximate": approximate}, 20)
    for op_type, axis in product(["Softmax", "LogSoftmax", "Hardmax"], [0, 1, 2]):
        yield Case(op_type, [normal(2, 3, 4)], {"axis": axis}, 11)
    a = _generator.integers(-20, 20, 50).astype(np.int32)
    b = (_generator.integers(1, 7, 50) * _generator.choice([-1, 1], 50)).astype(np.int32)
    yield Case("Div", [a, b], outputs=(INT32,))
    for fmod in (0, 1):
        yield Case("Mod", [a, b], {"fmod": fmod}, outputs=(INT32,))
    for largest in (0, 1):
        ties = _generator.integers(0, 5, (3, 7)).astype(np.int64)
        yield Case("TopK", [ties, np.array([4])], {"largest": largest}, outputs=(INT64, INT64))
    yield Case("GroupNormalization", [normal(2, 6, 3, 4), normal(6), normal(6)], {"num_groups": 3}, 21)
    yield Case("MeanVarianceNormalization", [normal(2, 3, 4, 5)])
    boxes, scores = _generator.random((1, 20, 4), np.float32), _generator.random((1, 2, 20), np.float32)
    limits = [np.array([5]), np.array([0.3], np.float32), np.array([0.1], np.float32)]
    yield Case("NonMaxSuppression", [boxes, scores, *limits], outputs=(INT64,))
    yield Case("GatherElements", [normal(5, 4), _generator.integers(-5, 5, (2, 3))])
    for reduction in ("add", "mul", "max", "min"):
        indices = _generator.integers(-4, 4, (2, 5))
        yield Case("ScatterElements", [normal(4, 5), indices, normal(2, 5)], {"reduction": reduction}, 18)
    yield Case("Split", [normal(7, 2)], {"num_outputs": 3}, 18, (FLOAT,) * 3)
    yield Case("Clip", [normal(30), number(0.5), number(-0.5)])
    backwards = [np.array([-1, 5]), np.array([-100, 0]), np.array([0, 1]), np.array([-2, -1])]
    yield Case("Slice", [normal(6, 7), *backwards])


def all_cases() -> Iterator[Any]:
    for family in (pooling_cases, convolution_cases, recurrent_cases, resize_cases, other_cases):
        for case in family():
            marks = [pytest.mark.xfail(reason=case.difference, strict=True)] if case.difference else []
            yield pytest.param(case, id=str(case), marks=marks)


@pytest.mark.parametrize("kernels", ["every kernel", "Python kernels"])
@pytest.mark.parametrize("case", all_cases())
def test_operator_computes_what_it_does_in_ort(case: Case, kernels: str) -> None:
    model = case.model()
    expected = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, case.feed())
    options = ort.SessionOptions()
    if kernels == "Python kernels":
        options.add_kernel_registry(python_registry())
    actual = ort.InferenceSession(model, options).run(None, case.feed())
    for mine, theirs in zip(actual, expected, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(mine, theirs)
