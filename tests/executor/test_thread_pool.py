"""The thread pool, in a program of its own under ThreadSanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "onnx_light_ort" / "_native" / "engine"


def test_loops_of_several_callers_meet_each_index_once_without_a_race(tmp_path: Path) -> None:
    program = tmp_path / "thread_pool_test"
    sources = [Path(__file__).parent / "thread_pool_test.cpp", ENGINE / "thread_pool.cpp"]
    includes = [f"-I{ENGINE}", f"-I{ROOT / 'kernels' / 'include'}"]
    flags = ["-std=c++17", "-O1", "-g", "-fsanitize=thread", "-pthread"]
    subprocess.run(["g++", *flags, *includes, *sources, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
