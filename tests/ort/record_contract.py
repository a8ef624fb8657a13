"""Runs the contract probe in the real ORT and writes what it answered to tests/goldens/contract.

Build the probe first: ``cmake -S fixtures -B build/fixtures && cmake --build build/fixtures``.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import tempfile
from pathlib import Path

import onnxruntime

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fixtures"))

from contract_probe.probe_library import GOLDENS, ContractProbe, golden_text  # noqa: E402
from contract_probe.probe_model import run_custom_op, run_execution_provider  # noqa: E402

LIBRARY = ROOT / "build" / "fixtures" / "contract_probe" / "libcontract_probe.so"


class _ApiBase(ctypes.Structure):
    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32)),
        ("get_version_string", ctypes.CFUNCTYPE(ctypes.c_char_p)),
    )


_CREATE_ENV = 3  # the slot's index in OrtApi
_FATAL = 4


def runtime_api_base() -> int:
    """The address of the OrtApiBase of the ORT that this environment holds.

    An environment is made first, which lives as long as the process: without one, slots that log end the process.
    """
    folder = Path(onnxruntime.__file__).parent / "capi"
    libraries = sorted(folder.glob("libonnxruntime.so.*"))
    if len(libraries) != 1:
        raise FileNotFoundError(f"{folder} should hold one libonnxruntime.so.*, and holds {len(libraries)}")
    get_api_base = ctypes.CDLL(str(libraries[0])).OrtGetApiBase
    get_api_base.restype = ctypes.POINTER(_ApiBase)
    base = get_api_base()
    create_env = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))(
        base.contents.get_api(1)[_CREATE_ENV]
    )
    environment = ctypes.c_void_p()
    if create_env(_FATAL, b"contract probe", ctypes.byref(environment)) is not None:
        raise RuntimeError("CreateEnv failed")
    return ctypes.addressof(base.contents)


def without_optimizations(options: onnxruntime.SessionOptions) -> None:
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def record(library: Path, folder: Path) -> None:
    """Writes one golden file a group to `folder`, in place of those that it holds."""
    probe = ContractProbe(library, runtime_api_base())
    groups = {group: {case: probe.run(case) for case in cases} for group, cases in probe.groups().items()}
    with tempfile.TemporaryDirectory() as scratch:
        groups |= run_custom_op(onnxruntime, library, Path(scratch))
    with tempfile.TemporaryDirectory() as scratch:
        groups |= run_execution_provider(onnxruntime, library, Path(scratch), without_optimizations)
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.json"):
        stale.unlink()
    for group, cases in groups.items():
        (folder / f"{group}.json").write_text(golden_text(f"onnxruntime {onnxruntime.__version__}", cases))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, default=LIBRARY, help="the built probe")
    parser.add_argument("--output", type=Path, default=GOLDENS, help="the folder to write to")
    arguments = parser.parse_args()
    record(arguments.library.resolve(), arguments.output)


if __name__ == "__main__":
    main()
