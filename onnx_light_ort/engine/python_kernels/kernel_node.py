"""The resolved node that a Python kernel is made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto

from onnx_light_ort.engine.value_type import numpy_dtype

Array = np.ndarray[Any, Any]

PythonKernel = Callable[..., Any]
"""``f(*inputs) -> output`` or a tuple of outputs.

Inputs are numpy arrays (``ml_dtypes`` arrays for the types that numpy lacks, one element an item; object arrays of
``str`` for strings), lists for sequences, dictionaries or lists of dictionaries for maps, and None for an absent
optional input or an optional without value. An input is never written; an output may be a view of an input.
"""


@dataclass(frozen=True)
class KernelNode:
    """What a kernel factory may know of its node.

    ``input_types`` and ``output_types`` are ``TensorProto.DataType`` numbers, 0 where the value is absent, is not a
    dense tensor or has no known type. ``attributes`` holds Python values, the schema's defaults included; an attribute
    that is neither given nor has a default is missing. ``constants`` maps the positions of inputs known at planning to
    their arrays: a kernel may prepare them once, and still receives them at each call.
    """

    proto: NodeProto
    domain: str
    op_type: str
    since_version: int
    opset_imports: Mapping[str, int]
    input_types: tuple[int, ...]
    output_types: tuple[int, ...]
    attributes: Mapping[str, Any]
    constants: Mapping[int, Array] = field(default_factory=dict)

    @property
    def output_count(self) -> int:
        """How many outputs a kernel answers: up to the last one that is wanted, whose name is not empty."""
        return max((position for position, name in enumerate(self.proto.output, start=1) if name), default=1)

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def input_type(self, index: int) -> int:
        return self.input_types[index] if index < len(self.input_types) else 0

    def output_dtype(self, index: int) -> np.dtype[Any] | None:
        element_type = self.output_types[index] if index < len(self.output_types) else 0
        return numpy_dtype(element_type) if element_type else None


def is_integer_type(element_type: int) -> bool:
    return element_type in _INTEGER_TYPES


_INTEGER_TYPES = frozenset(
    {
        TensorProto.INT8,
        TensorProto.INT16,
        TensorProto.INT32,
        TensorProto.INT64,
        TensorProto.UINT8,
        TensorProto.UINT16,
        TensorProto.UINT32,
        TensorProto.UINT64,
        TensorProto.INT4,
        TensorProto.UINT4,
        TensorProto.INT2,
        TensorProto.UINT2,
    }
)
