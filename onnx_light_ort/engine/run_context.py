"""What a Python kernel sees of one call."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_light_ort.engine.value_type import STRING, numpy_dtype
from onnx_light_ort.errors import Fail

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Array = np.ndarray[Any, Any]

_ALIGNMENT = 64


def aligned_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An uninitialised array whose data starts on a 64-byte boundary."""
    if dtype.hasobject:
        return np.empty(tuple(shape), dtype)
    count = 1
    for dim in shape:
        count *= dim
    size = count * dtype.itemsize
    buffer = np.empty(size + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    return buffer[start : start + size].view(dtype).reshape(tuple(shape))


class ParallelFor:
    """Runs a body over ranges on a session's threads; the threads are started on first use."""

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads if threads > 0 else os.cpu_count() or 1
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def __call__(self, total: int, grain: int, body: Callable[[int, int], None]) -> None:
        """Calls ``body(begin, end)`` on disjoint ranges that cover [0, total), and returns when all are done.

        No range but the last is shorter than ``grain``. An exception of the body is raised here, once.
        """
        if total <= 0:
            return
        step = max(grain, 1, -(-total // self.threads))
        if step >= total:
            body(0, total)
            return
        with self._lock:
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="onnx_light_ort")
            pool = self._pool
        futures = [pool.submit(body, begin, min(begin + step, total)) for begin in range(step, total, step)]
        try:
            body(0, step)
        finally:
            for future in futures:
                future.exception()
        for future in futures:
            future.result()

    def close(self) -> None:
        with self._lock:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None


class OutputSlot(NamedTuple):
    """One output of a node."""

    name: str
    #: 0: no dense tensor, or of unknown type.
    element_type: int
    wanted: bool


class RunContext:
    """Inputs, output slots, scratch memory and threads of one call of a :class:`Kernel`.

    Valid until ``compute`` returns: every method raises afterwards. Inputs are read-only arrays that may belong to the
    caller of the run.
    """

    __slots__ = ("_closed", "_inputs", "_label", "_outputs", "_parallel_for", "_produced")

    def __init__(
        self,
        label: str,
        inputs: tuple[Array | None, ...],
        outputs: tuple[OutputSlot, ...],
        parallel_for: ParallelFor,
    ) -> None:
        self._label = label
        self._inputs = inputs
        self._outputs = outputs
        self._produced: list[Any] = [None] * len(outputs)
        self._parallel_for = parallel_for
        self._closed = False

    @property
    def input_count(self) -> int:
        self._check()
        return len(self._inputs)

    @property
    def output_count(self) -> int:
        self._check()
        return len(self._outputs)

    def input(self, index: int) -> Array | None:
        """Input `index`; None where the node leaves it out."""
        self._check()
        return self._inputs[index] if index < len(self._inputs) else None

    def required_input(self, index: int) -> Array:
        """Input `index`; raises Fail where the node leaves it out."""
        array = self.input(index)
        if array is None:
            raise Fail(f"{self._label}: input {index} is required and absent")
        return array

    def output_wanted(self, index: int) -> bool:
        """Whether anybody reads output `index`."""
        self._check()
        return index < len(self._outputs) and self._outputs[index].wanted

    def output(self, index: int, shape: Sequence[int]) -> Array:
        """A writable array for output `index`, of the type that planning resolved; its content is undefined.

        An output that nobody reads gets one too, as long as its type is known."""
        slot = self._slot(index)
        if not slot.element_type:
            raise Fail(f"{self._label}: output {index} has no tensor type to allocate; pass a value to set_output")
        if any(dim < 0 for dim in shape):
            raise Fail(f"{self._label}: output {slot.name!r} has the negative shape {list(shape)}")
        if self._produced[index] is not None:
            raise Fail(f"{self._label}: output {slot.name!r} was allocated already in this call")
        array = aligned_empty(shape, numpy_dtype(slot.element_type))
        if slot.element_type == STRING:
            array.fill("")
        self._produced[index] = array
        return array

    def set_output(self, index: int, value: Any) -> None:
        """Publishes an existing array (a view of an input, say) or a non-tensor value as output `index`."""
        slot = self._slot(index)
        if slot.element_type and not isinstance(value, np.ndarray):
            raise Fail(f"{self._label}: output {slot.name!r} is a tensor, not {type(value).__name__}")
        self._produced[index] = value

    def scratch(self, byte_count: int) -> Array:
        """`byte_count` bytes of memory for this call, 64-byte aligned, undefined content."""
        self._check()
        return aligned_empty((byte_count,), np.dtype(np.uint8))

    def parallel_for(self, total: int, grain: int, body: Callable[[int, int], None]) -> None:
        """As :meth:`ParallelFor.__call__`."""
        self._check()
        self._parallel_for(total, grain, body)

    def published(self) -> tuple[Any, ...]:
        """The outputs, once all that are wanted are there."""
        for slot, value in zip(self._outputs, self._produced, strict=True):
            if slot.wanted and value is None:
                raise Fail(f"{self._label}: the kernel returned without its output {slot.name!r}")
        return tuple(self._produced)

    def close(self) -> None:
        """Ends the call."""
        self._closed = True
        self._inputs = ()

    def _slot(self, index: int) -> OutputSlot:
        self._check()
        if not 0 <= index < len(self._outputs):
            raise Fail(f"{self._label}: it has no output {index}, only {len(self._outputs)}")
        return self._outputs[index]

    def _check(self) -> None:
        if self._closed:
            raise Fail(f"{self._label}: the run context was used after compute() returned")
