"""Runs the contract probe in the real ORT and writes what it answered to tests/goldens/contract."""

from __future__ import annotations

import argparse
import ctypes
import sys
import tempfile
from pathlib import Path

import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.contract.contract_probe import GOLDENS, HEADERS, ContractProbe, build_probe, golden_text
from tests.contract.probe_model import run_in_callbacks


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


def recorded_goldens(library: Path) -> dict[str, str]:
    """The text of each golden file, by its name, as ORT answers now."""
    probe = ContractProbe(library, runtime_api_base())
    runtime = f"onnxruntime {onnxruntime.__version__}"
    groups = {group: {case: probe.run(case) for case in cases} for group, cases in probe.groups().items()}
    with tempfile.TemporaryDirectory() as folder:
        groups |= run_in_callbacks(onnxruntime, library, Path(folder))
    return {f"{group}.json": golden_text(runtime, cases) for group, cases in groups.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headers", type=Path, default=HEADERS, help="folder of the C header to build against")
    parser.add_argument("--print", type=Path, metavar="LIBRARY", help="print what this built probe records")
    arguments = parser.parse_args()
    if arguments.print:
        goldens = recorded_goldens(arguments.print)
        sys.stdout.write("".join(goldens[name] for name in sorted(goldens)))
        return
    with tempfile.TemporaryDirectory() as folder:
        goldens = recorded_goldens(build_probe(Path(folder), arguments.headers))
    GOLDENS.mkdir(parents=True, exist_ok=True)
    for stale in GOLDENS.glob("*.json"):
        stale.unlink()
    for name, text in goldens.items():
        (GOLDENS / name).write_text(text)
    print(f"{len(goldens)} files written to {GOLDENS}")


if __name__ == "__main__":
    main()
