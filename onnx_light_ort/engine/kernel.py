"""Kernels written in Python, and what a kernel factory may return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Node
    from onnx_light_ort.engine.run_context import ParallelFor, RunContext


class Kernel(ABC):
    """Computes one resolved node. Created once a node, then computes any number of times, perhaps from several threads
    at once: ``compute`` must not change the kernel without a lock of its own."""

    @abstractmethod
    def compute(self, context: RunContext) -> None:
        """Reads the context's inputs and fills its outputs. Nothing of the context may be kept afterwards."""


KernelProduct: TypeAlias = Any
"""What a factory returns: a native kernel (``onnx_light_ort._native.engine.Kernel``), a :class:`Kernel`, or a callable
``f(*inputs) -> output`` (a tuple where the node has several outputs) over numpy arrays with None for absent inputs."""

KernelFactory: TypeAlias = "Callable[[Node], KernelProduct]"
"""Makes the kernel of a resolved node. May decline with ``errors.NotImplemented``, whose message is the reason."""


def python_callable(
    kernel: KernelProduct, node: Node, wanted: Sequence[bool], parallel_for: ParallelFor
) -> Callable[..., Any]:
    """A kernel that is not native as the executor calls it. wanted: for each output whether anybody reads it."""
    if not isinstance(kernel, Kernel):
        if not callable(kernel):
            raise TypeError(f"the kernel factory of {node} returned {type(kernel).__name__}, which is no kernel")
        function: Callable[..., Any] = kernel
        return function
    from onnx_light_ort.engine.run_context import OutputSlot, RunContext

    outputs = tuple(
        OutputSlot("" if value is None else value.name, 0 if value is None else value.element_type, is_wanted)
        for value, is_wanted in zip(node.outputs, wanted, strict=True)
    )
    label = str(node)

    def call(*inputs: np.ndarray[Any, Any] | None) -> Any:
        context = RunContext(label, inputs, outputs, parallel_for)
        try:
            kernel.compute(context)
            produced = context.published()
        finally:
            context.close()
        return produced[0] if len(produced) == 1 else produced

    return call
