"""Nanoseconds that a generated thunk adds to the bare call of a trivial body; the aim is 3 at most.

Run as `python benchmarks/thunk_overhead.py`; needs g++. One JSON object a line: slot, bare_ns, thunk_ns, overhead_ns;
medians over 11 repeats of 20 million calls, in processor time.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Builds and runs the benchmark."""
    core = ROOT / "onnx_light_ort" / "_native" / "abi"
    native = ROOT / "generated" / "native"
    sources = [
        ROOT / "benchmarks" / "thunk_overhead.cpp",
        *(core / name for name in ("bootstrap.cpp", "error.cpp", "fail_fast.cpp")),
        *sorted(native.glob("*_table.cpp")),
    ]
    includes = [native, ROOT / "generated" / "include", core, ROOT / "kernels" / "include"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "thunk_overhead"
        command = [
            "g++",
            "-std=c++17",
            "-O2",
            "-fPIC",
            "-no-pie",
            "-fvisibility=hidden",
            "-Wno-ignored-attributes",
            "-Wno-unused-result",
        ]
        # The bodies that the benchmark does not call stay undefined.
        command += ["-Wl,--unresolved-symbols=ignore-all", '-DONNX_LIGHT_ORT_VERSION="benchmark"']
        command += [*(f"-I{include}" for include in includes), *map(str, sources), "-o", str(program)]
        subprocess.run(command, check=True)
        subprocess.run([str(program)], check=True)


if __name__ == "__main__":
    main()
