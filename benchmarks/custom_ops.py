"""Custom ops beside ONNX Runtime, which hosts the same library and model in a process of its own.

``python benchmarks/custom_ops.py`` in an environment with the package, its ``ort`` extra, and CMake with a compiler.
``--soak RUNS`` instead runs one session so often and fails where memory grew.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from side_by_side import Runtime, compare_creation, compare_runs

ROOT = Path(__file__).resolve().parents[1]
MICRO = 1e6
#: What each figure may be at most, as a multiple of ONNX Runtime's.
LIMITS = {"run() of one custom op": 0.5, "chain of 1,000 custom ops": 0.5, "session of 1,000 custom ops": 1.0}


def build_library(folder: Path) -> Path:
    """The fixtures' library with AddOne, built for the occasion."""
    for command in (
        ["cmake", "-S", ROOT / "fixtures", "-B", folder],
        ["cmake", "--build", folder, "--target", "kernel_state"],
    ):
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return folder / "custom_ops" / "libkernel_state.so"


def chain(folder: Path, nodes: int) -> Path:
    """A model of AddOne after itself on four floats."""
    path = folder / f"add_one_{nodes}.onnx"
    names = ["x", *(f"v{i}" for i in range(1, nodes)), "y"]
    graph = helper.make_graph(
        [helper.make_node("AddOne", [names[i]], [names[i + 1]], name=f"n{i}", domain="fixture") for i in range(nodes)],
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("fixture", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


def compare(folder: Path, library: Path) -> bool:
    """Prints each figure; true where all are within their limits."""
    feeds = {"x": np.array([-1, 2, -3, 4], np.float32)}
    options = {"custom_ops": [str(library)]}
    with Runtime("onnx-light-ort") as ours, Runtime("onnxruntime") as ort:
        pair = [ours, ort]
        one, many = chain(folder, 1), chain(folder, 1000)
        figures = {
            "run() of one custom op": compare_runs(pair, one, feeds, **options),
            "chain of 1,000 custom ops": compare_runs(pair, many, feeds, **options),
            "session of 1,000 custom ops": compare_creation(pair, many, rounds=5, **options),
        }
    good = True
    for label, seconds in figures.items():
        ratio = seconds["onnx-light-ort"] / seconds["onnxruntime"]
        within = ratio <= LIMITS[label]
        good = good and within
        cells = "  ".join(f"{name} {value * MICRO:10.2f} us" for name, value in seconds.items())
        print(f"{label:32s} {cells}   {ratio:.2f} x, limit {LIMITS[label]}{'' if within else '  MISSED'}", flush=True)
    return good


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def soak(folder: Path, library: Path, runs: int) -> bool:
    """Runs one session so often; true where memory did not grow by as much as four bytes a run."""
    import onnx_light_ort as ort

    ort.set_admission("any")
    options = ort.SessionOptions()
    options.register_custom_ops_library(library)
    session = ort.InferenceSession(chain(folder, 1), options)
    feed = {"x": np.array([-1, 2, -3, 4], np.float32)}
    for _ in range(10_000):
        session.run(None, feed)
    before, begin = resident_bytes(), time.perf_counter()
    for _ in range(runs):
        session.run(None, feed)
    grown = resident_bytes() - before
    print(f"{runs} runs in {time.perf_counter() - begin:.1f} s: memory grew by {grown} bytes")
    return grown <= max(4 * runs, 1 << 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--soak", type=int, metavar="RUNS")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = build_library(folder / "build")
        good = compare(folder, library) if arguments.soak is None else soak(folder, library, arguments.soak)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
