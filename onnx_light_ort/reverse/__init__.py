"""This project's kernels inside a real ONNX Runtime: the library that brings them, and the rewriting of models.

The library is a plugin execution provider and a custom-op library of ONNX Runtime's C ABI::

    import onnxruntime
    from onnx_light_ort import reverse

    onnxruntime.register_execution_provider_library("onnx_light", reverse.library_path())
    devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == reverse.get_ep_name()]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices, {})
    session = onnxruntime.InferenceSession("bfloat16.onnx", options)

This package does not import onnxruntime. docs/reverse.md has the options and the limits.
"""

from __future__ import annotations

from pathlib import Path

from onnx_light_ort.reverse.rewriting import rewrite

__all__ = ["get_ep_name", "library_path", "rewrite"]


def library_path() -> str:
    """The absolute path of the library, for ``onnxruntime.register_execution_provider_library`` and
    ``SessionOptions.register_custom_ops_library``.

    Raises:
        FileNotFoundError: this installation was built without it (CMake option ONNX_LIGHT_ORT_REVERSE).
    """
    path = Path(__file__).resolve().parent / "libonnx_light_reverse.so"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist: this installation was built without the library for ONNX Runtime; "
            "install a wheel of onnx-light-ort, or build with -DONNX_LIGHT_ORT_REVERSE=ON"
        )
    return str(path)


def get_ep_name() -> str:
    """The name of the execution provider, as in ``OrtEpDevice.ep_name``."""
    return "OnnxLightExecutionProvider"
