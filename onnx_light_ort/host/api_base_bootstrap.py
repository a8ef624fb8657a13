"""The small library that provides ``OrtGetApiBase`` to plugins that import it, loaded for them alone."""

from __future__ import annotations

from pathlib import Path

from onnx_light_ort.host.library_errors import BootstrapConflictError
from onnx_light_ort.host.ort_runtime import API_BASE_EXPORT


def bootstrap_file() -> Path:
    """Where the library is installed: beside the extension module."""
    from onnx_light_ort import _native

    assert _native.__file__
    return Path(_native.__file__).with_name("libonnx_light_ort_bootstrap.so")


def refuse_other_provider(path: Path) -> None:
    """``BootstrapConflictError`` where an import of ``OrtGetApiBase`` would bind to anything but the bootstrap."""
    from onnx_light_ort._native import abi

    provider = abi.global_provider(API_BASE_EXPORT)
    if provider is not None and provider.resolve() != bootstrap_file().resolve():
        raise BootstrapConflictError(
            path,
            f"{provider} already provides {API_BASE_EXPORT} to every library of this process, and the plugin would "
            "bind to that instead of this host; load the plugin in a process that has not loaded it",
        )
