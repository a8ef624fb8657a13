"""Constants: initialisers, tensors of Constant nodes, and what planning computed from them."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.attribute import tensor_array
from onnx_light_ort.engine.value_type import (
    STRING,
    dense_byte_size,
    element_type_bits,
    element_type_name,
    is_element_type,
    numpy_dtype,
)
from onnx_light_ort.errors import Fail

Array = np.ndarray[Any, Any]

_MAX_BYTES = 2**63 - 1

_BUFFER_ALIGNMENT = 16


class ExternalLocation:
    """Where the data of an external tensor lies: a checked path, byte offset and length. ``location`` is the path as
    the model writes it, relative to the model's folder."""

    __slots__ = ("length", "location", "offset", "path")

    def __init__(self, path: str, location: str, offset: int, length: int) -> None:
        self.path = path
        self.location = location
        self.offset = offset
        self.length = length


class Constant:
    """A tensor that does not change between runs.

    It is held as it came, a small TensorProto or bytes of a (mapped) buffer in ONNX's raw layout, until somebody
    asks for its array. ``array()`` is read-only; it may lie in the mapped file.
    """

    __slots__ = ("_array", "_data", "_proto", "dims", "element_type", "external")

    def __init__(
        self,
        element_type: int,
        dims: tuple[int, ...],
        *,
        proto: TensorProto | None = None,
        data: memoryview | None = None,
        external: ExternalLocation | None = None,
        array: Array | None = None,
    ) -> None:
        self.element_type = element_type
        self.dims = dims
        self.external = external
        self._proto = proto
        self._data = data
        self._array = array

    @classmethod
    def of_array(cls, array: Array, element_type: int) -> Constant:
        """Takes over a C-contiguous array."""
        array.flags.writeable = False
        return cls(element_type, array.shape, array=array)

    @property
    def byte_size(self) -> int:
        """Bytes of the dense tensor; 0 for strings."""
        if self.element_type == STRING:
            return 0
        return dense_byte_size(self.element_type, element_count(self.dims) or 0)

    @property
    def raw_data(self) -> memoryview | None:
        """The tensor in ONNX's raw layout (sub-byte elements packed) where it is held so."""
        return self._data

    def array(self) -> Array:
        """The tensor, one element an item."""
        if self._array is None:
            if self._data is not None:
                self._array = self._array_of_data(self._data)
            else:
                assert self._proto is not None
                self._array = tensor_array(self._proto, self.dims)
                self._proto = None
        return self._array

    def _array_of_data(self, data: memoryview) -> Array:
        dtype = numpy_dtype(self.element_type)
        if element_type_bits(self.element_type) < 8:
            proto = TensorProto(data_type=self.element_type, dims=self.dims, raw_data=bytes(data))
            return tensor_array(proto)
        array = np.frombuffer(data, dtype=dtype.newbyteorder("<") if dtype.kind in "iufc" else dtype)
        if array.size and array.ctypes.data % min(dtype.itemsize, _BUFFER_ALIGNMENT):
            copied = array.copy()
            _forget_pages(data, array)
            array = copied
        array = array.reshape(self.dims)
        array.flags.writeable = False
        return array

    def tensor_proto(self, name: str) -> TensorProto:
        """The tensor under a name, for shape inference; for small tensors only."""
        from onnx import numpy_helper

        if self._proto is not None and self._proto.name == name:
            return self._proto
        proto: TensorProto = numpy_helper.from_array(self.array(), name)
        return proto


def _forget_pages(data: memoryview, array: Array) -> None:
    """Lets the system drop the pages of a mapped file whose content was copied; they would count twice."""
    mapped = data.obj
    if not isinstance(mapped, mmap.mmap):
        return
    base = np.frombuffer(mapped, np.uint8).ctypes.data
    first = -(-(array.ctypes.data - base) // mmap.PAGESIZE) * mmap.PAGESIZE
    last = (array.ctypes.data - base + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


def element_count(dims: tuple[int, ...]) -> int | None:
    """Product of dims; None where one is negative or the product leaves int64."""
    count = 1
    for dim in dims:
        if dim < 0:
            return None
        count *= dim
    return count if count <= _MAX_BYTES else None


def checked_byte_size(name: str, element_type: int, dims: tuple[int, ...]) -> int:
    """Bytes that a tensor's data must have, computed before anything is allocated.

    Raises:
        Fail: unknown element type, a negative dimension, or a size that no address space has.
    """
    if not is_element_type(element_type):
        raise Fail(
            f"tensor {name!r} has the element type {element_type}, which ONNX does not define: re-export the model"
        )
    count = element_count(dims)
    if count is None:
        reason = "a negative dimension" if any(dim < 0 for dim in dims) else "more elements than int64 can count"
        raise Fail(f"tensor {name!r} of shape {list(dims)} has {reason}: re-export the model")
    size = dense_byte_size(element_type, count)
    if size > _MAX_BYTES:
        raise Fail(f"tensor {name!r} of shape {list(dims)} takes more bytes than an address space has")
    return size


def check_data_length(name: str, element_type: int, dims: tuple[int, ...], length: int) -> None:
    """Raises Fail when `length` bytes of raw data are not what the type and dims say."""
    expected = checked_byte_size(name, element_type, dims)
    if element_type == STRING:
        raise Fail(f"tensor {name!r} keeps strings as raw data; ONNX keeps them in string_data")
    if length != expected:
        raise Fail(
            f"tensor {name!r} of type {element_type_name(element_type)} and shape {list(dims)} takes {expected} bytes, "
            f"but the model has {length}: the model is damaged or its external data is too short"
        )
