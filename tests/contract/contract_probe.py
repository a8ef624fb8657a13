"""The contract probe as Python sees it: built from its sources, run case by case, compared with its goldens."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "fixtures" / "contract_probe"
GOLDENS = ROOT / "tests" / "goldens" / "contract"
HEADERS = ROOT / "generated" / "include"

Record = Mapping[str, Any]

_CAPACITY = 1 << 20
_FAILURES = {
    1: "has no such case",
    2: "wrote more records than fit",
    3: "could not make a child process",
}


def build_probe(build_folder: Path, headers: Path = HEADERS) -> Path:
    """Compiles the probe against the C header in `headers` and returns the path of the shared library."""
    (headers / "onnxruntime_c_api.h").stat()
    compile_command = ["g++", "-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]

    def compile_source(source: Path) -> Path:
        compiled = build_folder / f"{source.stem}.o"
        subprocess.run([*compile_command, f"-I{headers}", "-c", str(source), "-o", str(compiled)], check=True)
        return compiled

    with ThreadPoolExecutor(max_workers=2) as pool:
        objects = list(pool.map(compile_source, sorted(SOURCES.glob("*.cpp"))))
    library = build_folder / "libcontract_probe.so"
    subprocess.run(["g++", "-shared", "-Wl,--no-undefined", "-o", str(library), *map(str, objects)], check=True)
    return library


class ContractProbe:
    """The probe's shared library. `base` is the address of an OrtApiBase, alive as long as this object is used."""

    def __init__(self, library: Path, base: int) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.contract_probe_cases.restype = ctypes.c_char_p
        self._base = ctypes.c_void_p(base)

    def groups(self) -> dict[str, list[str]]:
        """The names of the cases in each group."""
        names: dict[str, list[str]] = json.loads(self._library.contract_probe_cases())
        return names

    def run(self, case: str) -> list[Record]:
        """Runs one case in a forked child and returns its records, in order."""
        buffer = ctypes.create_string_buffer(_CAPACITY)
        result = self._library.contract_probe_run(self._base, case.encode(), buffer, _CAPACITY)
        if result != 0:
            raise RuntimeError(f"{case}: the probe {_FAILURES.get(result, f'returned {result}')}")
        records: list[Record] = json.loads(buffer.value)
        return records


def read_goldens() -> dict[str, dict[str, list[Record]]]:
    """What ORT answered, for each group and case."""
    return {path.stem: json.loads(path.read_text())["cases"] for path in sorted(GOLDENS.glob("*.json"))}


def golden_text(runtime: str, cases: Mapping[str, list[Record]]) -> str:
    """The content of a group's golden file: cases sorted, one record a line."""
    entries = [
        f"  {json.dumps(case)}: [\n" + ",\n".join(f"   {json.dumps(record)}" for record in records) + "\n  ]"
        for case, records in sorted(cases.items())
    ]
    return f'{{\n "runtime": {json.dumps(runtime)},\n "cases": {{\n' + ",\n".join(entries) + "\n }\n}\n"
