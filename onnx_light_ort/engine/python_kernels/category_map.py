"""The ai.onnx.ml operators on maps and categories: CastMap, CategoryMapper, DictVectorizer, ZipMap."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel

_CASTS: dict[str, tuple[Any, Any]] = {
    "TO_FLOAT": (float, np.float32),
    "TO_INT64": (int, np.int64),
    "TO_STRING": (str, object),
}


@fast_path("CastMap", domain="ai.onnx.ml")
def _cast_map(node: KernelNode) -> PythonKernel:
    """The values in the order of their keys, of shape (1, n); a sparse one has a zero for each absent key."""
    convert, dtype = _CASTS[node.attribute("cast_to", "TO_FLOAT")]
    length = node.attribute("max_map", 1) if node.attribute("map_form", "DENSE") == "SPARSE" else None

    def kernel(values: dict[int, Any]) -> Array:
        if length is None:
            row = [convert(values[key]) for key in sorted(values)]
        else:
            if any(not 0 <= key < length for key in values):
                raise ValueError(f"CastMap: a key of {sorted(values)} is not below max_map, {length}")
            absent = "" if convert is str else 0
            row = [convert(values.get(key, absent)) for key in range(length)]
        return np.array([row], dtype)

    return kernel


@fast_path("CategoryMapper", domain="ai.onnx.ml")
def _category_mapper(node: KernelNode) -> PythonKernel:
    """From strings to integers, or from integers to strings, whatever the input has."""
    integers, strings = node.attribute("cats_int64s"), node.attribute("cats_strings")
    if node.input_type(0) == TensorProto.STRING:
        numbers = dict(zip(strings, integers, strict=True))
        otherwise = node.attribute("default_int64", -1)
        return lambda x: np.array([numbers.get(item, otherwise) for item in x.flat], np.int64).reshape(x.shape)
    names = dict(zip(integers, strings, strict=True))
    unnamed = node.attribute("default_string", "_Unused")
    return lambda x: np.array([names.get(item, unnamed) for item in x.ravel().tolist()], object).reshape(x.shape)


@fast_path("DictVectorizer", domain="ai.onnx.ml")
def _dict_vectorizer(node: KernelNode) -> PythonKernel:
    """The values of the vocabulary's keys, in its order, of shape (1, n); 0 or "" for a key that the map lacks."""
    vocabulary = node.attribute("string_vocabulary") or node.attribute("int64_vocabulary")
    dtype = node.output_dtype(0)

    def kernel(values: dict[Any, Any]) -> Array:
        absent = "" if dtype is not None and dtype.kind == "O" else 0
        return np.array([[values.get(key, absent) for key in vocabulary]], dtype)

    return kernel


@fast_path("ZipMap", domain="ai.onnx.ml")
def _zip_map(node: KernelNode) -> PythonKernel:
    """A sequence of maps, one a row, from the class labels to the row's values."""
    labels = node.attribute("classlabels_strings") or node.attribute("classlabels_int64s")

    def kernel(x: Array) -> list[dict[Any, Any]]:
        rows = x.reshape(1, -1) if x.ndim == 1 else x
        if rows.shape[1] != len(labels):
            raise ValueError(f"ZipMap has {len(labels)} class labels for the {rows.shape[1]} columns of its input")
        return [dict(zip(labels, row, strict=True)) for row in rows]

    return kernel
