"""Splits a serialized model into its structure and its weights without copying the weights.

Protobuf's parser copies every tensor, and reading one back copies it again. Here the wire format of a large model is
walked once: the raw data of big tensors is left where it is (a mapped file, or the caller's bytes), and in its place
the skeleton keeps a short token. What nodes carry for people (doc strings, metadata) is left out with it. The skeleton
is then parsed as any model; it is small whatever the weights are.
"""

from __future__ import annotations

import os

from onnx import ModelProto, TensorProto

from onnx_light_ort._native import engine as native
from onnx_light_ort.errors import InvalidProtobuf

#: A model below this size is parsed as it is.
_SPLIT_FROM = 1 << 16


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
    source: bytes | memoryview = data
    if len(data) >= _SPLIT_FROM:
        split = native.split_model(data, nonce)
        if split is not None:
            source = split[0]
            spans = [data[begin:end] for begin, end in split[1]]
    try:
        proto = ModelProto.FromString(bytes(source) if isinstance(source, memoryview) else source)
    except Exception as error:
        raise InvalidProtobuf(
            f"the model is no serialized ModelProto (truncated or another format): {error}"
        ) from error
    return Skeleton(proto, nonce, spans)
