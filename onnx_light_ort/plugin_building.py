"""Where a plugin's build finds what it needs of the installed package."""

from __future__ import annotations

from pathlib import Path

from onnx_light_ort import _native


def _installed(folder: str) -> str:
    # Beside the extension module, also where the Python sources lie elsewhere.
    assert _native.__file__ is not None
    return str(Path(_native.__file__).with_name(folder))


def include_dir() -> str:
    """The folder of the C header: ``#include <onnx_light_ort/ort_abi.h>``. C11 or C++17."""
    return _installed("include")


def cmake_dir() -> str:
    """The folder for CMake's ``onnx_light_ort_ROOT``, by which ``find_package(onnx_light_ort CONFIG)`` finds the
    target ``onnx_light_ort::abi`` and the function ``onnx_light_ort_add_plugin``."""
    return _installed("cmake")
