"""A sentence encoder built as MiniLM is, and a residual convolutional network; random weights of any float type."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
    tensor_dtype_to_np_dtype,
)

Array = Any

VOCABULARY, WIDTH, HEADS, INNER, LAYERS = 300, 64, 4, 256, 2


class NetworkBuilder:
    """Collects nodes and initializers; weights are drawn in float32 and rounded to the network's type."""

    def __init__(self, element: int, seed: int) -> None:
        self.element = element
        self.dtype = np.dtype(tensor_dtype_to_np_dtype(element))
        self.generator = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, array: Array) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(np.asarray(value, np.float32).astype(self.dtype))

    def weight(self, *shape: int, scale: float | None = None, around: float = 0) -> str:
        spread = scale if scale is not None else float(np.prod(shape[:-1])) ** -0.5
        drawn = around + self.generator.normal(size=shape).astype(np.float32) * spread
        return self.constant(drawn.astype(np.float32).astype(self.dtype))

    def add(self, op_type: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [f"v{len(self.nodes)}_{position}" for position in range(outputs)]
        self.nodes.append(make_node(op_type, list(inputs), names, name=f"{op_type}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def model(self, inputs: list[onnx.ValueInfoProto], output: str, opset: int) -> ModelProto:
        declared = [make_tensor_value_info(output, self.element, None)]
        graph = make_graph(self.nodes, "network", inputs, declared, self.initializers)
        model = make_model(graph, opset_imports=[make_opsetid("", opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


def linear(network: NetworkBuilder, x: str, rows: int, columns: int, *, integer: bool) -> str:
    """x W + b; with `integer`, x and W are quantized to 8 bits and multiplied as whole numbers."""
    if not integer:
        product = network.add("MatMul", x, network.weight(rows, columns))
    else:
        drawn = network.generator.normal(size=(rows, columns)).astype(np.float32) * rows**-0.5
        scale = np.abs(drawn).max() / 127
        weights = network.constant(np.round(drawn / scale).astype(np.int8))
        quantized, x_scale, x_zero = network.add("DynamicQuantizeLinear", x, outputs=3)
        whole = network.add("MatMulInteger", quantized, weights, x_zero)
        factor = network.add("Mul", x_scale, network.number(scale))
        product = network.add("Mul", network.add("Cast", whole, to=network.element), factor)
    return str(network.add("Add", product, network.weight(columns, scale=0.02)))


def encoder(element: int, *, integer: bool = False) -> ModelProto:
    """Inputs ids and mask of int64, (batch, tokens); output (batch, WIDTH): the mean of the last layer's tokens."""
    network = NetworkBuilder(element, seed=1)
    mask = network.add("Cast", "mask", to=element)

    def normalized(x: str) -> str:
        scale, bias = network.weight(WIDTH, scale=0.1, around=1), network.weight(WIDTH, scale=0.1)
        return str(network.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5))

    def heads(x: str) -> str:
        split = network.add("Reshape", x, network.constant(np.array([0, 0, HEADS, WIDTH // HEADS])))
        return str(network.add("Transpose", split, perm=[0, 2, 1, 3]))

    hidden = normalized(network.add("Gather", network.weight(VOCABULARY, WIDTH, scale=1), "ids"))
    hidden_mask = network.add("Unsqueeze", mask, network.constant(np.array([1, 2])))
    penalty = network.add("Mul", network.add("Sub", network.number(1), hidden_mask), network.number(-1e4))
    for _ in range(LAYERS):
        q, k, v = (heads(linear(network, hidden, WIDTH, WIDTH, integer=integer)) for _ in range(3))
        scores = network.add("MatMul", q, network.add("Transpose", k, perm=[0, 1, 3, 2]))
        scaled = network.add("Div", scores, network.number((WIDTH / HEADS) ** 0.5))
        weights = network.add("Softmax", network.add("Add", scaled, penalty), axis=-1)
        mixed = network.add("Transpose", network.add("MatMul", weights, v), perm=[0, 2, 1, 3])
        joined = network.add("Reshape", mixed, network.constant(np.array([0, 0, WIDTH])))
        attended = linear(network, joined, WIDTH, WIDTH, integer=integer)
        hidden = normalized(network.add("Add", hidden, attended))
        inner = linear(network, hidden, WIDTH, INNER, integer=integer)
        erf = network.add("Erf", network.add("Div", inner, network.number(2**0.5)))
        half = network.add("Mul", inner, network.number(0.5))
        active = network.add("Mul", half, network.add("Add", erf, network.number(1)))
        hidden = normalized(network.add("Add", hidden, linear(network, active, INNER, WIDTH, integer=integer)))
    axis = network.constant(np.array([1]))
    kept = network.add("Mul", hidden, network.add("Unsqueeze", mask, network.constant(np.array([-1]))))
    total = network.add("ReduceSum", kept, axis, keepdims=0)
    count = network.add("ReduceSum", mask, axis, keepdims=1)
    inputs = [make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("ids", "mask")]
    return network.model(inputs, network.add("Div", total, count), 17)


def encoder_feed(batch: int, tokens: int, seed: int = 0) -> dict[str, Array]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, tokens + 1, batch)
    return {
        "ids": generator.integers(0, VOCABULARY, (batch, tokens)),
        "mask": (np.arange(tokens) < lengths[:, None]).astype(np.int64),
    }


def classifier(element: int, *, integer: bool = False) -> ModelProto:
    """Input image (batch, 3, height, width) of the network's type; output (batch, 10): probabilities. With `integer`,
    every convolution reads an image that was rounded to 8 bits, and weights of 8 bits."""
    network = NetworkBuilder(element, seed=2)

    def convolution(x: str, inputs: int, outputs: int, size: int, stride: int = 1) -> str:
        attributes = {"kernel_shape": [size, size], "strides": [stride, stride], "pads": [size // 2] * 4}
        weights = network.weight(outputs, inputs, size, size, scale=(inputs * size * size) ** -0.5)
        if integer:
            x = eight_bits(x, 0.05, 128, np.uint8)
            weights = eight_bits(weights, 0.02, 0, np.int8)
        filtered = network.add("Conv", x, weights, network.weight(outputs, scale=0.02), **attributes)
        scale, bias, mean = (network.weight(outputs, scale=0.1, around=around) for around in (1, 0, 0))
        return str(network.add("BatchNormalization", filtered, scale, bias, mean, network.constant(ones(outputs))))

    def eight_bits(x: str, scale: float, zero: int, dtype: Any) -> str:
        parameters = network.number(scale), network.constant(np.asarray(zero, dtype))
        return str(network.add("DequantizeLinear", network.add("QuantizeLinear", x, *parameters), *parameters))

    def ones(count: int) -> Array:
        return np.ones(count, np.float32).astype(network.dtype)

    x = network.add("Relu", convolution("image", 3, 16, 3))
    for inputs, outputs in ((16, 16), (16, 32)):
        stride = 1 if inputs == outputs else 2
        inner = network.add("Relu", convolution(x, inputs, outputs, 3, stride))
        outer = convolution(inner, outputs, outputs, 3)
        shortcut = x if inputs == outputs else convolution(x, inputs, outputs, 1, stride)
        x = network.add("Relu", network.add("Add", outer, shortcut))
    x = network.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = network.add("Flatten", network.add("GlobalAveragePool", x))
    logits = network.add("Gemm", x, network.weight(32, 10), network.weight(10, scale=0.02))
    image = make_tensor_value_info("image", element, ["batch", 3, "height", "width"])
    return network.model([image], network.add("Softmax", logits, axis=1), 22)


def classifier_feed(batch: int, size: int, element: int, seed: int = 0) -> dict[str, Array]:
    drawn = np.random.default_rng(seed).normal(size=(batch, 3, size, size)).astype(np.float32)
    return {"image": drawn.astype(tensor_dtype_to_np_dtype(element))}
