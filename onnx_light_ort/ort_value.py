"""OrtValue: a value as runs take and give it, under ORT's name."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_light_ort._native import engine as native
from onnx_light_ort.engine.value_type import (
    element_type_of_dtype,
    numpy_dtype,
    type_key_of_string,
    type_string_of_key,
)
from onnx_light_ort.errors import InvalidArgument

Array = np.ndarray[Any, Any]


def _check_device(device_type: str, device_id: int) -> None:
    if device_type != "cpu" or device_id != 0:
        raise InvalidArgument(f"there is no device {device_type}:{device_id}; the only one is cpu:0")


class OrtValue:
    """A tensor in CPU memory, or a sequence, map or other value that has no array form.

    A tensor made from a contiguous array shares its memory, and keeps the array alive; so does what :meth:`numpy`
    returns with the value.
    """

    __slots__ = ("_array", "_value")

    def __init__(self, value: Any, array: Array | None = None) -> None:
        self._value = value
        self._array = array

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj: Array, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A tensor over the array's memory where it is contiguous, else over a copy. Every dtype of ONNX is taken,
        those of ml_dtypes and strings too.

        Raises:
            InvalidArgument: another device than cpu:0, or a dtype that ONNX does not have.
        """
        _check_device(device_type, device_id)
        if not isinstance(numpy_obj, np.ndarray):
            raise InvalidArgument(f"an array is expected, not {type(numpy_obj).__name__}")
        return cls(native.Value.from_object(numpy_obj), numpy_obj)

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: Array, onnx_element_type: int) -> OrtValue:
        """A tensor of an ONNX element type over the bits of an array whose items have that type's size."""
        dtype = numpy_dtype(onnx_element_type)
        if data.dtype.itemsize != dtype.itemsize:
            raise InvalidArgument(
                f"items of {data.dtype} cannot be the bits of {type_string_of_key(onnx_element_type)}"
            )
        return cls.ortvalue_from_numpy(data.view(dtype))

    @classmethod
    def ortvalue_from_shape_and_type(
        cls, shape: Any, element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """A tensor of zeros. element_type: a numpy dtype, or an ONNX element-type number."""
        _check_device(device_type, device_id)
        dtype = numpy_dtype(element_type) if isinstance(element_type, int) else np.dtype(element_type)
        if any(dim < 0 for dim in shape):
            raise InvalidArgument(f"shape {list(shape)} has a negative dimension")
        return cls.ortvalue_from_numpy(np.zeros(tuple(shape), dtype))

    @classmethod
    def of_object(cls, value: Any) -> OrtValue:
        """What a run returned: an array, or a sequence, map and so on. Not in ORT."""
        return cls(native.Value.from_object(value), value if isinstance(value, np.ndarray) else None)

    def numpy(self) -> Array:
        """The tensor as an array. Raises InvalidArgument for what is no tensor."""
        if not self.is_tensor():
            raise InvalidArgument("only a tensor has an array form; this value is none")
        if self._array is None:
            self._array = self._value.to_object()
        return self._array

    def to_object(self) -> Any:
        """The array, or the Python object of what is no tensor. Not in ORT."""
        return self.numpy() if self.is_tensor() else self._value.to_object()

    def shape(self) -> list[int]:
        return list(self._value.shape)

    def data_type(self) -> str:
        """As "tensor(float)"; "" where the value is no tensor."""
        return type_string_of_key(self._value.data_type) if self.is_tensor() else ""

    def element_type(self) -> int:
        """ONNX's element-type number; 0 where the value is no tensor."""
        return int(self._value.data_type)

    def device_name(self) -> str:
        return "cpu"

    def has_value(self) -> bool:
        return self.is_tensor() or self._value.to_object() is not None

    def is_tensor(self) -> bool:
        return bool(self._value.is_tensor)

    def is_tensor_sequence(self) -> bool:
        return not self.is_tensor() and isinstance(self._value.to_object(), list)

    def is_sparse_tensor(self) -> bool:
        return False

    def tensor_size_in_bytes(self) -> int:
        """Bytes of the tensor's buffer; sub-byte elements are packed. Raises InvalidArgument for what is no tensor."""
        if not self.is_tensor():
            raise InvalidArgument("only a tensor has a size in bytes; this value is none")
        return int(self._value.byte_size)

    def data_ptr(self) -> int:
        """Address of the first element; valid as long as this value is."""
        return int(self._value.data_pointer)

    def update_inplace(self, np_arr: Array) -> None:
        """Copies an array of the same shape and type over the tensor."""
        target = self.numpy()
        if np_arr.shape != target.shape or element_type_of_dtype(np_arr.dtype) != self.element_type():
            raise InvalidArgument(
                f"an array of {self.data_type()} and shape {self.shape()} is expected, not {np_arr.dtype} "
                f"{list(np_arr.shape)}"
            )
        target[...] = np_arr

    @property
    def engine_value(self) -> Any:
        """The value as the executor takes it. Not in ORT."""
        return self._value


def element_type_of_string(text: str) -> int:
    """The ONNX element type of "tensor(float)"; 0 for a type that is no dense tensor."""
    key = type_key_of_string(text)
    return key if isinstance(key, int) else 0
