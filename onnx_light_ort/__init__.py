"""Runs libraries written for the public ONNX Runtime (ORT) C ABI without ORT.

The names follow ORT's own Python package: a program that uses it changes its import line.
"""

from __future__ import annotations

from onnx_light_ort import _native

if _native.__file__ is None:  # the folder of the extension's sources
    raise ImportError(
        f"onnx_light_ort was found as sources in {__path__[0]}, without its extension: run from another folder, so "
        "that the installed package is found, or install it with `pip install .`"
    )

from onnx_light_ort._abi_enums import ExecutionMode, GraphOptimizationLevel
from onnx_light_ort.ep_device import (
    HardwareDevice,
    OrtEpDevice,
    OrtHardwareDeviceType,
    get_ep_devices,
    register_execution_provider_library,
    unregister_execution_provider_library,
)
from onnx_light_ort.errors import (
    DeviceReset,
    EngineError,
    EPFail,
    Error,
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    MissingInput,
    ModelLoadCanceled,
    ModelLoaded,
    ModelRequiresCompilation,
    NodeFail,
    NoModel,
    NoSuchFile,
    NotFound,
    NotImplemented,
    OutOfMemory,
    RuntimeException,
)
from onnx_light_ort.host.admission import admission_rule, set_admission
from onnx_light_ort.host.library_errors import EntryPointError, LibraryError, UnauditedLibraryWarning
from onnx_light_ort.host.library_path import library_allow_list, set_library_allow_list
from onnx_light_ort.host.unload_report import UnloadReport
from onnx_light_ort.ort_value import OrtValue
from onnx_light_ort.plugin_building import cmake_dir, include_dir
from onnx_light_ort.session import (
    InferenceSession,
    ModelMetadata,
    NodeArg,
    get_all_providers,
    get_available_providers,
    get_device,
)
from onnx_light_ort.session_options import (
    ExecutionOrder,
    RunOptions,
    SessionOptions,
)
from onnx_light_ort.support_matrix import support_matrix

__all__ = [
    "DeviceReset",
    "EPFail",
    "EngineError",
    "EntryPointError",
    "Error",
    "ExecutionMode",
    "ExecutionOrder",
    "Fail",
    "GraphOptimizationLevel",
    "HardwareDevice",
    "InferenceSession",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "LibraryError",
    "MissingInput",
    "ModelLoadCanceled",
    "ModelLoaded",
    "ModelMetadata",
    "ModelRequiresCompilation",
    "NoModel",
    "NoSuchFile",
    "NodeArg",
    "NodeFail",
    "NotFound",
    "NotImplemented",
    "OrtEpDevice",
    "OrtHardwareDeviceType",
    "OrtValue",
    "OutOfMemory",
    "RunOptions",
    "RuntimeException",
    "SessionOptions",
    "UnauditedLibraryWarning",
    "UnloadReport",
    "__version__",
    "admission_rule",
    "cmake_dir",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "get_ep_devices",
    "include_dir",
    "library_allow_list",
    "register_execution_provider_library",
    "set_admission",
    "set_library_allow_list",
    "support_matrix",
    "unregister_execution_provider_library",
]


def __getattr__(name: str) -> str:
    # importlib.metadata takes longer to import than this package.
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("onnx-light-ort")
    except PackageNotFoundError:  # used from a source tree
        return "0.0.0"
