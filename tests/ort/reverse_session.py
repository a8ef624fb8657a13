"""Sessions of the real ORT with and without this project's EP, and values of types that ORT's Python API takes none of
as arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
    tensor_dtype_to_np_dtype,
)

from onnx_light_ort import reverse

EP = reverse.get_ep_name()
Array = Any

#: Elements that share a byte: how many, by ONNX's type number.
_PACKED = {21: 2, 22: 2, 23: 2, 25: 4, 26: 4}


@cache
def devices() -> list[Any]:
    """The EP's devices; the library is registered once a process."""
    onnxruntime.register_execution_provider_library("onnx_light", reverse.library_path())
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == EP]


def session_options(claim: str | None = "missing", *, optimize: bool = True) -> Any:
    """Options for a session with the EP; without it where claim is None."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if claim is not None:
        options.add_provider_for_devices(devices(), {} if claim == "missing" else {"claim": claim})
    return options


def session(model: onnx.ModelProto | bytes, claim: str | None = "missing", *, optimize: bool = True) -> Any:
    """A session of the real ORT; without the EP where claim is None."""
    content = model if isinstance(model, bytes) else model.SerializeToString()
    options = session_options(claim, optimize=optimize)
    if claim is None:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return onnxruntime.InferenceSession(content, options)


def taken(of: Any) -> list[str]:
    """The operators of the nodes that the EP has in a session."""
    return [
        node.op_type
        for part in of.get_provider_graph_assignment_info()
        if part.ep_name == EP
        for node in part.get_nodes()
    ]


def single_node(
    op_type: str,
    inputs: Sequence[Array | None],
    output_types: Sequence[int],
    opset: int,
    attributes: Mapping[str, Any] | None = None,
    *,
    domain: str = "",
    element_types: Sequence[int] | None = None,
) -> onnx.ModelProto:
    """A model of one node, whose inputs are named i0, i1, ... and outputs o0, o1, ...; None leaves an input out."""
    names = ["" if value is None else f"i{position}" for position, value in enumerate(inputs)]
    types = element_types or [0 if value is None else element_type(value) for value in inputs]
    infos = [
        make_tensor_value_info(name, kind, [f"{name}_{axis}" for axis in range(np.ndim(value))])
        for name, kind, value in zip(names, types, inputs, strict=True)
        if name
    ]
    outputs = [f"o{position}" for position in range(len(output_types))]
    graph = make_graph(
        [make_node(op_type, names, outputs, name="the_node", domain=domain, **(attributes or {}))],
        "one node",
        infos,
        [make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, output_types, strict=True)],
    )
    imports = [make_opsetid(domain, opset)]
    return make_model(graph, opset_imports=imports, ir_version=10)


def element_type(array: Array) -> int:
    """ONNX's type number of an array's dtype, those of ml_dtypes included."""
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype))


def to_ort(array: Array, element: int | None = None) -> Any:
    """An OrtValue with an array's content; sub-byte types get packed."""
    array = np.asarray(array, order="C")
    element = element_type(array) if element is None else element
    made = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(array.shape), element)
    raw = _packed(array, _PACKED[element]) if element in _PACKED else array.tobytes()
    if raw:
        ctypes.memmove(made.data_ptr(), raw, len(raw))
    return made


def from_ort(value: Any) -> Array:
    """The content of an OrtValue as an array, of ml_dtypes' types where numpy has none."""
    element = value.element_type()
    if element == onnx.TensorProto.STRING:
        return value.numpy()
    shape = value.shape()
    count = int(np.prod(shape, dtype=np.int64))
    dtype = np.dtype(tensor_dtype_to_np_dtype(element))
    per_byte = _PACKED.get(element, 1)
    size = -(-count // per_byte) if per_byte > 1 else count * dtype.itemsize
    raw = ctypes.string_at(value.data_ptr(), size) if size else b""
    if per_byte == 1:
        return np.frombuffer(raw, dtype).reshape(shape).copy()
    bits = 8 // per_byte
    codes = np.frombuffer(raw, np.uint8)[:, None] >> (np.arange(per_byte, dtype=np.uint8) * bits) & ((1 << bits) - 1)
    return _from_codes(codes.reshape(-1)[:count].astype(np.uint8), dtype, bits).reshape(shape)


def as_value(value: Any) -> Any:
    """A value of an operator case as an array: some are protobuf tensors, some numpy scalars."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def run(of: Any, feed: Mapping[str, Any]) -> list[Any]:
    """Runs a session of ORT with arrays of any type; texts, sequences and optionals go the way of ORT's own run()."""
    if any(not isinstance(value, np.ndarray) or value.dtype.kind in "OUS" for value in feed.values()):
        return list(of.run(None, dict(feed)))
    outputs = of.run_with_ort_values(None, {name: to_ort(value) for name, value in feed.items()})
    if all(value.has_value() and value.is_tensor() for value in outputs):
        return [from_ort(value) for value in outputs]
    return list(of.run(None, dict(feed)))


def _packed(array: Array, per_byte: int) -> bytes:
    bits = 8 // per_byte
    codes = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    codes = np.concatenate([codes, np.zeros(-len(codes) % per_byte, np.uint8)]).reshape(-1, per_byte)
    packed = np.bitwise_or.reduce(codes << (np.arange(per_byte, dtype=np.uint8) * bits), axis=1)
    return bytes(packed.astype(np.uint8).tobytes())


def _from_codes(codes: Array, dtype: Any, bits: int) -> Array:
    if dtype.name.startswith("int"):  # ml_dtypes keeps the sign extended
        signs = np.uint8(1 << (bits - 1))
        codes = (codes ^ signs) - signs
    return codes.astype(np.uint8).view(dtype)
