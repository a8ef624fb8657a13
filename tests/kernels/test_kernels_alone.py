"""The kernels without engine and Python: their C++ test, on each CPU level."""

from __future__ import annotations

import os
import subprocess

import pytest

PROGRAM = os.environ.get("ONNX_LIGHT_ORT_KERNELS_TEST")


@pytest.mark.skipif(
    PROGRAM is None,
    reason="configure with ONNX_LIGHT_ORT_KERNEL_TESTS; name kernels_test in ONNX_LIGHT_ORT_KERNELS_TEST",
)
@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_kernels_equal_plain_loops_and_stay_in_their_buffers(level: str) -> None:
    assert PROGRAM is not None
    # The program brings its own sanitizer.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment["ONNX_LIGHT_ORT_CPU"] = level
    done = subprocess.run([PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
