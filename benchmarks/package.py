"""What the package costs before it does anything: import time, wheel size, clean build.

``python benchmarks/package.py [--build]`` in an environment that has the package. ``--build`` also builds a wheel from
scratch, in a new virtual environment, and measures time and size.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def processor_seconds(command: list[str]) -> float:
    """Processor time of a process and its children: other work on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_seconds(statement: str) -> float:
    return processor_seconds([sys.executable, "-c", statement])


def import_time(rounds: int = 15) -> None:
    base, ours = float("inf"), float("inf")
    for _ in range(rounds):  # in turns, so that both see the same machine
        base = min(base, import_seconds("import numpy, onnx"))
        ours = min(ours, import_seconds("import numpy, onnx, onnx_light_ort"))
    print(f"import: {1e3 * (ours - base):.1f} ms over `import numpy, onnx` ({1e3 * base:.0f} ms)")


def clean_build() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "clone")], check=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
        begin = time.perf_counter()
        command = [str(folder / "env" / "bin" / "python"), "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
        busy = processor_seconds([*command, str(folder / "dist"), str(folder / "clone")])
        seconds = time.perf_counter() - begin
        (wheel,) = (folder / "dist").glob("*.whl")
        size = wheel.stat().st_size / 1e6
        print(f"clean build: {seconds:.0f} s, with the download of the build tools; processor time {busy:.0f} s")
        print(f"wheel: {size:.2f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="also build a wheel from scratch")
    arguments = parser.parse_args()
    import_time()
    if arguments.build:
        clean_build()
