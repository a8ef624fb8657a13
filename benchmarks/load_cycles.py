"""Loads a library of custom ops, makes and runs a session with it, and lets it go, many times: nothing may stay.

``python benchmarks/load_cycles.py [--cycles N]``, in an environment with CMake and a compiler
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from pathlib import Path

import numpy as np
from custom_ops import build_library, chain

import onnx_light_ort as ort
from onnx_light_ort.host.memory_map import mapped_files


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def cycle(library: Path, model: Path) -> None:
    options = ort.SessionOptions()
    options.register_custom_ops_library(library)
    session = ort.InferenceSession(model, options)
    session.run(None, {"x": np.ones(4, np.float32)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=1000)
    cycles = parser.parse_args().cycles
    ort.set_admission("any")
    with tempfile.TemporaryDirectory() as folder:
        library, model = build_library(Path(folder) / "build"), chain(Path(folder), 1)
        for _ in range(400):  # caches and the allocator settle
            cycle(library, model)
        gc.collect()
        before = resident_bytes()
        for _ in range(cycles):
            cycle(library, model)
        gc.collect()
        grown = resident_bytes() - before
        still_mapped = library in mapped_files()
    print(
        f"{cycles} cycles: memory grew by {grown / 1024:.0f} KiB; the library is {'' if still_mapped else 'not '}mapped"
    )
    if still_mapped or grown > cycles * 1024:
        raise SystemExit("something stays behind")


if __name__ == "__main__":
    main()
