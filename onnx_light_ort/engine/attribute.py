"""Attributes of nodes as Python values."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import AttributeProto, TensorProto, numpy_helper

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Node


def node_attributes(node: Node) -> dict[str, Any]:
    """The node's own attributes and the defaults of its operator's schema; subgraphs are left out."""
    attributes: dict[str, Any] = {}
    for proto in node.proto.attribute[:]:  # walking a slice is faster, see graph_building.add_nodes
        if proto.type not in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            attributes[proto.name] = attribute_value(proto)
    if node.operator is not None:
        for name, default in node.operator.attribute_defaults.items():
            attributes.setdefault(name, default)
    return attributes


def attribute_value(proto: AttributeProto) -> Any:
    """int, float, str, a list of them, an array for a tensor, a list of arrays, or the proto itself."""
    read = _READERS.get(proto.type)
    return proto if read is None else read(proto)


def _text(data: bytes) -> str:
    # Bytes that are no UTF-8 survive as surrogates, so that no attribute is lost.
    return data.decode("utf-8", "surrogateescape")


# Of the element types whose raw data a numpy of this machine's byte order reads as it is.
_RAW_DTYPES: dict[int, np.dtype[Any]] = (
    {1: np.dtype(np.float32), 6: np.dtype(np.int32), 7: np.dtype(np.int64), 9: np.dtype(np.bool_)}
    if sys.byteorder == "little"
    else {}
)


def tensor_array(proto: TensorProto, dims: tuple[int, ...] | None = None) -> np.ndarray[Any, Any]:
    """The tensor as a read-only array; strings are objects of type str. Pass the dims where they are known: reading
    them again takes as long as all else."""
    dtype = _RAW_DTYPES.get(proto.data_type) if proto.HasField("raw_data") else None
    if dtype is not None:  # The common case; a bytes object is as read-only as the array is to be.
        return np.frombuffer(proto.raw_data, dtype).reshape(tuple(proto.dims) if dims is None else dims)
    array = numpy_helper.to_array(proto)
    if array.dtype.kind in "OSU":
        flat = [_text(item) if isinstance(item, bytes) else str(item) for item in proto.string_data]
        array = np.array(flat, dtype=object).reshape(tuple(proto.dims))
    array = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


_READERS: dict[int, Any] = {
    AttributeProto.FLOAT: lambda proto: proto.f,
    AttributeProto.INT: lambda proto: proto.i,
    AttributeProto.STRING: lambda proto: _text(proto.s),
    AttributeProto.TENSOR: lambda proto: tensor_array(proto.t),
    AttributeProto.FLOATS: lambda proto: list(proto.floats),
    AttributeProto.INTS: lambda proto: list(proto.ints),
    AttributeProto.STRINGS: lambda proto: [_text(item) for item in proto.strings],
    AttributeProto.TENSORS: lambda proto: [tensor_array(item) for item in proto.tensors],
}


def is_given(default: AttributeProto) -> bool:
    """Whether a schema's default is a value. A default tensor without a type says that it depends on the inputs."""
    return default.type != AttributeProto.TENSOR or bool(default.t.data_type)
