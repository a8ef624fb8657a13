"""Sequences, which are Python lists here. A kernel answers a new list; the tensors in it are shared."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_light_ort.engine.python_kernels.fast_paths import fast_path
from onnx_light_ort.engine.python_kernels.kernel_node import Array, KernelNode, PythonKernel


@fast_path("SequenceConstruct")
def _sequence_construct(node: KernelNode) -> PythonKernel:
    return lambda *tensors: list(tensors)


@fast_path("SequenceEmpty")
def _sequence_empty(node: KernelNode) -> PythonKernel:
    return lambda: []


@fast_path("SequenceAt")
def _sequence_at(node: KernelNode) -> PythonKernel:
    return lambda sequence, position: sequence[position.item()]


@fast_path("SequenceInsert")
def _sequence_insert(node: KernelNode) -> PythonKernel:
    """Before the element at the position, or at the end; a negative position counts from the end."""

    def kernel(sequence: list[Any], tensor: Array, position: Array | None = None) -> list[Any]:
        result = list(sequence)
        where = len(result) if position is None else position.item()
        if not -len(result) <= where <= len(result):
            raise IndexError(f"SequenceInsert at {where} of a sequence of {len(result)} elements")
        result.insert(where, tensor)
        return result

    return kernel


@fast_path("SequenceErase")
def _sequence_erase(node: KernelNode) -> PythonKernel:
    def kernel(sequence: list[Any], position: Array | None = None) -> list[Any]:
        result = list(sequence)
        del result[-1 if position is None else position.item()]
        return result

    return kernel


@fast_path("SequenceLength")
def _sequence_length(node: KernelNode) -> PythonKernel:
    return lambda sequence: np.array(len(sequence), np.int64)


@fast_path("ConcatFromSequence")
def _concat_from_sequence(node: KernelNode) -> PythonKernel:
    axis = node.attribute("axis")
    if node.attribute("new_axis", 0):
        return lambda sequence: np.stack(sequence, axis)
    return lambda sequence: np.concatenate(sequence, axis)


@fast_path("SplitToSequence")
def _split_to_sequence(node: KernelNode) -> PythonKernel:
    """Into parts of given lengths, or of one length (the last one shorter), or into slices without the axis."""
    axis: int = node.attribute("axis", 0)
    keeps_axis = bool(node.attribute("keepdims", 1))

    def kernel(x: Array, lengths: Array | None = None) -> list[Array]:
        total = x.shape[axis]
        if lengths is None:
            parts = np.split(x, total, axis)
            return parts if keeps_axis else [part.squeeze(axis) for part in parts]
        ends = np.cumsum(lengths) if lengths.ndim else np.arange(lengths.item(), total + lengths.item(), lengths.item())
        if lengths.ndim and ends[-1:].sum() != total:
            raise ValueError(f"SplitToSequence into {lengths.tolist()} does not add up to the {total} elements")
        return np.split(x, ends[:-1], axis)

    return kernel
