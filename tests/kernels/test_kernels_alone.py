"""The kernels without engine and Python: their C++ test, built under the sanitizers, on each CPU level."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_kernels_equal_plain_loops_and_stay_in_their_buffers(tmp_path: Path) -> None:
    # cmake, ctest and ninja of the test extra lie beside the interpreter, wherever PATH points.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment |= {"PATH": path, "CMAKE_GENERATOR": "Ninja", "UBSAN_OPTIONS": "halt_on_error=1"}
    definitions = {
        "CMAKE_BUILD_TYPE": "None",
        "CMAKE_CXX_FLAGS": "-O1",
        "ONNX_LIGHT_ORT_HOST": "OFF",
        "ONNX_LIGHT_ORT_KERNEL_TESTS": "ON",
        "ONNX_LIGHT_ORT_SANITIZE": "address,undefined",
    }
    build = str(tmp_path / "build")
    for command in (
        ["cmake", "-S", str(ROOT), "-B", build, *(f"-D{name}={value}" for name, value in definitions.items())],
        ["cmake", "--build", build, "--parallel", "2"],
        ["ctest", "--test-dir", build, "--output-on-failure"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}"
