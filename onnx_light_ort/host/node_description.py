"""Nodes written down for native code, which tells plugins of them when they make kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, TypeProto

from onnx_light_ort.engine.attribute import attribute_value
from onnx_light_ort.engine.value_type import tensor_type

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Node, Value

#: Name, element type and dimensions of an argument.
Argument = tuple[str, int, Sequence[int | str | None] | None]

#: Type and value by name; strings are bytes, in whatever encoding.
Attributes = dict[str, tuple[int, Any]]

#: The identities of the types that shapeless_type made, which live as long as the process.
_SHAPELESS: set[int] = set()


@cache
def shapeless_type(element_type: int) -> TypeProto:
    """The one tensor type of unknown rank that values of an element type share."""
    proto = tensor_type(element_type, None)
    _SHAPELESS.add(id(proto))
    return proto


def describe_arguments(values: Iterable[Value | None]) -> list[Argument | None]:
    """Name, element type and dimensions of each argument, as native code takes them."""
    arguments: list[Argument | None] = []
    for value in values:
        if value is None:
            arguments.append(None)
            continue
        proto = value.type_proto
        # Most values of custom ops have a type of their operator's signature, which says nothing of the shape.
        shape = None if proto is None or id(proto) in _SHAPELESS else value.shape
        arguments.append((value.name, value.element_type, shape))
    return arguments


def describe_attributes(node: Node) -> Attributes:
    """The attributes that the model gives the node, in as far as kernels can ask for them."""
    return read_attributes(node.proto.attribute[:]) if node.has_attributes else {}


def read_attributes(protos: Iterable[AttributeProto]) -> Attributes:
    attributes: Attributes = {}
    for proto in protos:
        kind = proto.type
        if kind == AttributeProto.STRING:
            attributes[proto.name] = (kind, proto.s)
        elif kind == AttributeProto.STRINGS:
            attributes[proto.name] = (kind, list(proto.strings))
        elif kind in _READ:
            attributes[proto.name] = (kind, attribute_value(proto))
    return attributes


_READ = frozenset(
    {AttributeProto.FLOAT, AttributeProto.INT, AttributeProto.FLOATS, AttributeProto.INTS, AttributeProto.TENSOR}
)
