"""Tensors whose data lies in files beside the model.

A model may name such files only below its own folder: the path is relative, and with every link resolved it is still
there. Files are mapped, not read, so that weights take memory only as they are touched, and once.
"""

from __future__ import annotations

import mmap
import os

from onnx import TensorProto

from onnx_light_ort.engine.constant import Constant, ExternalLocation, checked_byte_size
from onnx_light_ort.engine.value_type import STRING
from onnx_light_ort.errors import Fail

_MAPPED_FROM = 1 << 16


class ExternalData:
    """The data files of one model. A map lives as long as a tensor made from it."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._root: str | None = None
        self._maps: dict[str, memoryview] = {}
        self._paths: dict[str, str] = {}

    def constant(self, tensor: TensorProto) -> Constant:
        """The tensor over the mapped file.

        Raises:
            Fail: it holds strings; its entry is malformed, leaves the model's folder or names no file; the file is
                too short.
        """
        name, dims = tensor.name, tuple(tensor.dims)
        expected = checked_byte_size(name, tensor.data_type, dims)
        if tensor.data_type == STRING:
            raise Fail(f"external tensor {name!r} holds strings, which ONNX keeps in the model: re-export the model")
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = self._contained_path(name, entries.get("location"))
        offset = self._number(name, "offset", entries.get("offset"), 0)
        length = self._number(name, "length", entries.get("length"), expected)
        if length != expected:
            raise Fail(
                f"external tensor {name!r} of shape {list(dims)} takes {expected} bytes, but its entry says "
                f"length {length}: re-export the model"
            )
        view = self._mapped(name, path)
        if offset + length > len(view):
            raise Fail(
                f"external tensor {name!r} needs bytes {offset} to {offset + length} of {path!r}, which has only "
                f"{len(view)}: the file is truncated or belongs to another model"
            )
        location = ExternalLocation(path, entries["location"], offset, length)
        return Constant(tensor.data_type, dims, data=view[offset : offset + length], external=location)

    def _contained_path(self, name: str, location: str | None) -> str:
        if not location:
            raise Fail(f"external tensor {name!r} has no location: re-export the model")
        known = self._paths.get(location)
        if known is not None:
            return known
        if self._directory is None:
            raise Fail(
                f"external tensor {name!r} lies in {location!r}, but the model was given as bytes, which have no "
                "folder: load it by its path"
            )
        if os.path.isabs(location):
            raise Fail(
                f"external tensor {name!r}: absolute path {location!r}; only paths below the model's folder are read"
            )
        if self._root is None:
            self._root = os.path.realpath(self._directory)
        path = os.path.realpath(os.path.join(self._root, location))
        if os.path.commonpath((self._root, path)) != self._root:
            raise Fail(
                f"external tensor {name!r}: {location!r} leads to {path!r}, outside the model's folder {self._root!r}; "
                "put the file below that folder"
            )
        if not os.path.isfile(path):
            raise Fail(f"external tensor {name!r}: no file {path!r}; it must lie beside the model")
        self._paths[location] = path
        return path

    @staticmethod
    def _number(name: str, key: str, text: str | None, default: int) -> int:
        if text is None or text == "":
            return default
        if not (text.isascii() and text.isdigit()):
            raise Fail(f"external tensor {name!r}: {key} {text!r} is no non-negative number")
        return int(text)

    def _mapped(self, name: str, path: str) -> memoryview:
        view = self._maps.get(path)
        if view is None:
            try:
                view = self._maps[path] = map_file(path)
            except OSError as error:
                raise Fail(f"external tensor {name!r}: cannot read {path!r}: {error.strerror}") from error
        return view


def map_file(path: str) -> memoryview:
    """The bytes of a file, read-only. A small one is read, which takes less time and memory than to map it."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size < _MAPPED_FROM:
            return memoryview(file.read(size))
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
