"""Types of values: ONNX's element-type numbers, their names and numpy dtypes, and the type strings of schemas."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from onnx import TypeProto

TypeKey = int | str | None
"""How a type is compared: the element-type number of a dense tensor, the type string of anything else ("seq(tensor(
float))"), or None where the type is not known."""

Dim = int | str | None
"""A dimension: its size, its symbolic name, or None where it has neither."""

# Name, bits an element (0: no fixed size), by TensorProto.DataType number.
_ELEMENT_TYPES: dict[int, tuple[str, int]] = {
    1: ("float", 32),
    2: ("uint8", 8),
    3: ("int8", 8),
    4: ("uint16", 16),
    5: ("int16", 16),
    6: ("int32", 32),
    7: ("int64", 64),
    8: ("string", 0),
    9: ("bool", 8),
    10: ("float16", 16),
    11: ("double", 64),
    12: ("uint32", 32),
    13: ("uint64", 64),
    14: ("complex64", 64),
    15: ("complex128", 128),
    16: ("bfloat16", 16),
    17: ("float8e4m3fn", 8),
    18: ("float8e4m3fnuz", 8),
    19: ("float8e5m2", 8),
    20: ("float8e5m2fnuz", 8),
    21: ("uint4", 4),
    22: ("int4", 4),
    23: ("float4e2m1", 4),
    24: ("float8e8m0", 8),
    25: ("uint2", 2),
    26: ("int2", 2),
}

_NUMBERS = {name: number for number, (name, _) in _ELEMENT_TYPES.items()}

STRING = 8


def is_element_type(number: int) -> bool:
    return number in _ELEMENT_TYPES


def element_type_name(number: int) -> str:
    """Name as ONNX's type strings write it ("float", "bfloat16"); "undefined" for a number that is no type."""
    return _ELEMENT_TYPES[number][0] if number in _ELEMENT_TYPES else "undefined"


def element_type_bits(number: int) -> int:
    """Bits that one element takes in a dense buffer; 0 for strings."""
    return _ELEMENT_TYPES[number][1]


def dense_byte_size(element_type: int, element_count: int) -> int:
    """Bytes of a dense buffer; elements below a byte are packed and the last byte is padded."""
    return (element_count * element_type_bits(element_type) + 7) // 8


@cache
def numpy_dtype(element_type: int) -> np.dtype[Any]:
    """The dtype that arrays of the type have at the numpy boundary (``ml_dtypes`` for what numpy lacks)."""
    from onnx.helper import tensor_dtype_to_np_dtype

    return np.dtype(tensor_dtype_to_np_dtype(element_type))


@cache
def element_type_of_dtype(dtype: np.dtype[Any]) -> int:
    """The element-type number of arrays of a dtype; 0 where ONNX has none."""
    if dtype.kind in "OUST":
        return STRING
    from onnx.helper import np_dtype_to_tensor_dtype

    try:
        return int(np_dtype_to_tensor_dtype(dtype.newbyteorder("=")))
    except (KeyError, ValueError):
        return 0


@cache
def type_key_of_string(text: str) -> TypeKey:
    """The key of a schema's type string: 1 for "tensor(float)", the string itself for what is no dense tensor."""
    if text.startswith("tensor(") and text.endswith(")"):
        return _NUMBERS.get(text[7:-1], text)
    return text


def type_string_of_key(key: TypeKey) -> str:
    if key is None:
        return "unknown"
    return f"tensor({element_type_name(key)})" if isinstance(key, int) else key


def type_string(proto: TypeProto) -> str:
    """ "tensor(float)", "seq(tensor(int64))", "map(string,tensor(float))", …; "" where the type is not set."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return f"tensor({element_type_name(proto.tensor_type.elem_type)})"
    if kind == "sequence_type":
        return f"seq({type_string(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_string(proto.optional_type.elem_type)})"
    if kind == "map_type":
        return f"map({element_type_name(proto.map_type.key_type)},{type_string(proto.map_type.value_type)})"
    if kind == "sparse_tensor_type":
        return f"sparse_tensor({element_type_name(proto.sparse_tensor_type.elem_type)})"
    return ""


def shape_of(proto: TypeProto | None) -> tuple[Dim, ...] | None:
    """Dimensions of a tensor's type; None where the rank is not known or the type is no tensor.

    Symbols that shape inference made up ("unk__3") are dimensions without a name.
    """
    # Reading a proto's fields takes longer than writing it down whole, and few types are different.
    return None if proto is None else _shape_of_written(proto.SerializeToString())


@lru_cache(4096)
def _shape_of_written(written: bytes) -> tuple[Dim, ...] | None:
    proto = TypeProto.FromString(written)
    kind = proto.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return None
    tensor = getattr(proto, kind)
    if not tensor.HasField("shape"):
        return None
    return tuple(_dim(dim) for dim in tensor.shape.dim)


def _dim(dim: Any) -> Dim:
    if dim.HasField("dim_value"):
        value: int = dim.dim_value
        return value if value >= 0 else None
    name: str = dim.dim_param
    return None if not name or name.startswith("unk__") else name


@cache
def tensor_of_any_rank(element_type: int) -> TypeProto:
    """The type of a tensor whose shape is not known; shared, not to be changed."""
    return tensor_type(element_type, None)


@lru_cache(1024)
def tensor_of_shape(element_type: int, shape: tuple[int, ...]) -> TypeProto:
    """The type of a tensor; shared, not to be changed."""
    return tensor_type(element_type, shape)


def tensor_type(element_type: int, shape: tuple[Dim, ...] | None) -> TypeProto:
    """A tensor's TypeProto; shape None: any rank."""
    proto = TypeProto()
    proto.tensor_type.elem_type = element_type
    if shape is not None:
        dims = proto.tensor_type.shape
        dims.SetInParent()
        for dim in shape:
            entry = dims.dim.add()
            if isinstance(dim, int):
                entry.dim_value = dim
            elif dim:
                entry.dim_param = dim
    return proto
