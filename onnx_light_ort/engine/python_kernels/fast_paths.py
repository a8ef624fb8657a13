"""The registry of numpy fast paths: kernels of our own, preferred over the reference implementation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from onnx_light_ort.engine.python_kernels.kernel_node import KernelNode, PythonKernel

KernelFactory = Callable[[KernelNode], PythonKernel | None]
"""Makes the kernel of a node; None declines (this version, these attributes), and the reference runs the node."""

_FACTORIES: dict[tuple[str, str], KernelFactory] = {}

_FAMILIES = (
    "activations",
    "cast",
    "category_map",
    "concat",
    "conv_transpose",
    "convolution",
    "detection",
    "elementwise",
    "gather",
    "image_decoder",
    "matmul",
    "normalization",
    "optional",
    "pooling",
    "quantization",
    "recurrent",
    "reduction",
    "resize",
    "sampling",
    "sequence",
    "sorting",
    "tensor_shape",
)


def fast_path(*op_types: str, domain: str = "") -> Callable[[KernelFactory], KernelFactory]:
    """Registers a factory for operators of one domain."""

    def register(factory: KernelFactory) -> KernelFactory:
        for op_type in op_types:
            key = (domain, op_type)
            if key in _FACTORIES:
                raise ValueError(f"{op_type} has two fast paths: {_FACTORIES[key].__module__}, {factory.__module__}")
            _FACTORIES[key] = factory
        return factory

    return register


def find_fast_path(domain: str, op_type: str) -> KernelFactory | None:
    _load_families()
    return _FACTORIES.get((domain, op_type))


def fast_path_operators() -> list[tuple[str, str]]:
    """The (domain, operator) pairs that have a fast path, sorted."""
    _load_families()
    return sorted(_FACTORIES)


@cache
def _load_families() -> None:
    """Imports the families, whose modules register themselves, when a kernel is first asked for."""
    for family in _FAMILIES:
        import_module(f"onnx_light_ort.engine.python_kernels.{family}")
