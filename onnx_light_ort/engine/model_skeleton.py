"""Splits a serialized model into its structure and its weights without copying the weights.

Protobuf's parser copies every tensor, and reading one back copies it again. Here the wire format of a large model is
walked once: the raw data of big tensors is left where it is (a mapped file, or the caller's bytes), and in its place
the skeleton keeps a short token. What nodes carry for people (doc strings, metadata) is left out with it. The skeleton
is then parsed as any model; it is small whatever the weights are.

Wire format: https://protobuf.dev/programming-guides/encoding; field numbers: onnx.proto.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from onnx import ModelProto, TensorProto

from onnx_light_ort.errors import InvalidProtobuf

#: A model below this size is parsed as it is.
_SPLIT_FROM = 1 << 20
#: A tensor with less raw data stays in the skeleton.
_TENSOR_FROM = 4096
#: A message below this size is copied as it is.
_MESSAGE_FROM = 512

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5

_TENSOR_RAW_DATA = 9
# doc_string and metadata_props of a node: exporters leave stack traces there, many times the size of the node.
_NODE_NOTES = frozenset({6, 9})

_MESSAGE_TENSOR = "tensor"
# Fields that lead to tensors, by message: field number -> message.
_FIELDS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: _MESSAGE_TENSOR},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: _MESSAGE_TENSOR, 6: "graph", 10: _MESSAGE_TENSOR, 11: "graph"},
}


class _Malformed(Exception):
    """The bytes are no protobuf message; the parser says so in its own words."""


class Skeleton:
    """A parsed model without the raw data of its big tensors."""

    __slots__ = ("_nonce", "_spans", "proto")

    def __init__(self, proto: ModelProto, nonce: bytes, spans: list[memoryview]) -> None:
        self.proto = proto
        self._nonce = nonce
        self._spans = spans

    def taken_data(self, tensor: TensorProto) -> memoryview | None:
        """The raw data that was left out of a tensor of the skeleton; None where the tensor is complete."""
        if not self._spans or not tensor.HasField("raw_data"):
            return None
        raw = tensor.raw_data
        if len(raw) == len(self._nonce) + 8 and raw.startswith(self._nonce):
            return self._spans[int.from_bytes(raw[-8:], "little")]
        return None

    def restore(self, tensor: TensorProto) -> None:
        """Puts the raw data back where it was left out."""
        data = self.taken_data(tensor)
        if data is not None:
            tensor.raw_data = bytes(data)


def split_model(data: memoryview) -> Skeleton:
    """Parses a serialized model; the skeleton's tensors keep `data` alive.

    Raises:
        InvalidProtobuf: the bytes are no ModelProto.
    """
    # The token cannot be in the model by accident or by design.
    nonce = os.urandom(16)
    spans: list[memoryview] = []
    source: bytes | bytearray | memoryview = data
    if len(data) >= _SPLIT_FROM:
        parts: list[bytes | memoryview] = []
        try:
            _copy_message(data, 0, len(data), "model", nonce, spans, parts.append)
            source = b"".join(parts)
        except _Malformed:
            spans.clear()
    try:
        proto = ModelProto.FromString(bytes(source) if isinstance(source, memoryview) else source)
    except Exception as error:
        raise InvalidProtobuf(
            f"the model is no serialized ModelProto (truncated or another format): {error}"
        ) from error
    return Skeleton(proto, nonce, spans)


def _copy_message(
    data: memoryview,
    position: int,
    end: int,
    message: str,
    nonce: bytes,
    spans: list[memoryview],
    emit: Callable[[bytes | memoryview], None],
) -> int:
    """Emits the message without big raw data; returns the size of what it emitted."""
    nested = _FIELDS.get(message, {})
    is_tensor = message == _MESSAGE_TENSOR
    size = 0
    copied = position  # everything from here to `position` is emitted as it is
    while position < end:
        start = position
        key, position = _varint(data, position, end)
        wire = key & 7
        if wire == _LENGTH:
            length, position = _varint(data, position, end)
            stop = position + length
            if stop > end:
                raise _Malformed
            number = key >> 3
            if message == "node" and number in _NODE_NOTES:
                emit(data[copied:start])
                size += start - copied
                copied = stop
            elif length >= (_TENSOR_FROM if is_tensor else _MESSAGE_FROM) and (
                number in nested or (is_tensor and number == _TENSOR_RAW_DATA)
            ):
                emit(data[copied:start])
                size += start - copied
                if is_tensor:
                    content: list[bytes | memoryview] = [nonce + len(spans).to_bytes(8, "little")]
                    spans.append(data[position:stop])
                    content_size = len(content[0])
                else:
                    content = []
                    content_size = _copy_message(data, position, stop, nested[number], nonce, spans, content.append)
                head = _encoded_varint(key) + _encoded_varint(content_size)
                emit(head)
                for part in content:
                    emit(part)
                size += len(head) + content_size
                copied = stop
            position = stop
        elif wire == _VARINT:
            _, position = _varint(data, position, end)
        elif wire == _FIXED64:
            position += 8
        elif wire == _FIXED32:
            position += 4
        else:
            raise _Malformed
    if position != end:
        raise _Malformed
    emit(data[copied:end])
    return size + end - copied


def _varint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    result = shift = 0
    while position < end and shift < 64:
        byte = data[position]
        position += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, position
        shift += 7
    raise _Malformed


def _encoded_varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
