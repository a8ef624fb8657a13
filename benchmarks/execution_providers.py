"""Plugin EPs beside ONNX Runtime, which hosts the same libraries and models in a process of its own.

``python benchmarks/execution_providers.py [--only WORD]`` in an environment with the package, its ``ort`` extra, and
CMake with a compiler. Prints figures, and fails where one misses its limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from side_by_side import Feeds, Provider, Runtime, compare_creation, compare_runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

from execution_provider_cases import MODELS, PLUGINS
from execution_provider_models import (
    TransformerSize,
    conv_relu,
    convolution_over_time,
    mlp,
    one_pair,
    residual_network,
    transformer,
)
from onnx_models import chain

ROOT = Path(__file__).resolve().parents[1]
RUNTIMES = ("onnx-light-ort", "onnxruntime")
#: What each figure may be at most, as a multiple of ONNX Runtime's.
LIMITS = {"run": 1.0, "host's share of run()": 0.5, "session": 1.0, "peak memory": 0.8}
MILLI = 1e-3


def _rows(count: int, width: int) -> Feeds:
    return {"x": np.random.default_rng(0).standard_normal((count, width), dtype=np.float32)}


def _image() -> Feeds:
    return {"image": np.random.default_rng(0).standard_normal((1, 3, 96, 96), dtype=np.float32)}


def _series() -> Feeds:
    return {"series": np.random.default_rng(0).standard_normal((1, 4, 4000), dtype=np.float32)}


def _sentences() -> Feeds:
    ids = np.random.default_rng(0).integers(0, 1000, (2, 64))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


#: Models of which a run takes more than a millisecond, and what to feed them.
LARGE: dict[str, tuple[Callable[[], onnx.ModelProto], Callable[[], Feeds]]] = {
    "mlp": (partial(mlp, 512, 2048), partial(_rows, 64, 512)),
    "residual_network": (partial(residual_network, 512, 6), partial(_rows, 64, 512)),
    "conv_relu": (partial(conv_relu, 32, 96), _image),
    "convolution_over_time": (partial(convolution_over_time, 64, 4000), _series),
    "transformer": (partial(transformer, TransformerSize(layers=4, width=256, heads=8, tokens=1000)), _sentences),
    "silero_vad_op18_ifless": (
        MODELS["silero_vad_op18_ifless"].make,
        lambda: MODELS["silero_vad_op18_ifless"].feeds()[0],
    ),
}
WHOLE = {
    "ggml": ("mlp", "residual_network", "convolution_over_time", "transformer", "silero_vad_op18_ifless"),
    "nxrt": ("mlp", "residual_network", "conv_relu", "convolution_over_time", "transformer"),
}


def build_fixtures(folder: Path) -> Path:
    """The fixtures' libraries with EPs, built for the occasion."""
    for command in (
        ["cmake", "-S", ROOT / "fixtures", "-B", folder],
        ["cmake", "--build", folder, "--target", "compiling_ep", "kernel_ep"],
    ):
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return folder


_PEAK = """
import sys
from pathlib import Path
import numpy as np
package, library, ep_name, model, feeds, *pairs = sys.argv[1:]
ort = __import__(package)
ort.register_execution_provider_library(ep_name, library)
options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 3
devices = [device for device in ort.get_ep_devices() if device.ep_name == ep_name]
options.add_provider_for_devices(devices, dict(pair.split("=") for pair in pairs))
session = ort.InferenceSession(model, options)
with np.load(feeds) as arrays:
    arrays = dict(arrays)
for _ in range(3):
    session.run(None, arrays)
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


def peak_bytes(path: Path, feeds: Feeds, provider: Provider) -> dict[str, float]:
    """Most memory that a process had which made a session and ran it and did nothing else, by runtime."""
    saved = path.with_suffix(".npz")
    np.savez(saved, **feeds)  # type: ignore[arg-type]
    pairs = [f"{key}={value}" for key, value in provider.options]
    peaks = {}
    for name in RUNTIMES:
        package = name.replace("-", "_")
        command = [sys.executable, "-c", _PEAK, package, provider.library, provider.ep_name, str(path), str(saved)]
        # Not in the repository, whose sources would hide the installed package.
        done = subprocess.run([*command, *pairs], cwd=path.parent, check=True, capture_output=True, text=True)
        peaks[name] = float(done.stdout.splitlines()[-1])
    return peaks


class Report:
    """Prints figures, and remembers whether all are within their limits."""

    def __init__(self) -> None:
        self.good = True

    def add(self, kind: str, label: str, figures: dict[str, float], unit: float, suffix: str) -> None:
        ratio = figures["onnx-light-ort"] / figures["onnxruntime"]
        within = ratio <= LIMITS[kind]
        self.good = self.good and within
        cells = "  ".join(f"{name} {value / unit:9.2f} {suffix}" for name, value in figures.items())
        missed = "" if within else "  MISSED"
        print(f"{kind:22s} {label:32s} {cells}   {ratio:.2f} x, limit {LIMITS[kind]}{missed}", flush=True)


def compare(folder: Path, fixtures: Path, only: str, report: Report) -> None:
    def saved(name: str, make: Callable[[], onnx.ModelProto]) -> Path:
        path = folder / f"{name}.onnx"
        if not path.exists():
            onnx.save(make(), path)
        return path

    with Runtime("onnx-light-ort") as ours, Runtime("onnxruntime") as ort:
        pair = [ours, ort]
        compiling = PLUGINS["compiling_ep"]
        idle = Provider(str(compiling.path(fixtures)), compiling.ep_name, (("compute", "outputs_only"),))
        feeds: Feeds = {"x": np.zeros((1, 1), np.float32)}
        if only in "one_pair":
            figures = compare_runs(pair, saved("one_pair", one_pair), feeds, provider=idle)
            report.add("host's share of run()", "a partition that does nothing", figures, 1e-6, "us")
        if only in "chain":
            kernels = Provider(str(PLUGINS["kernel_ep"].path(fixtures)), PLUGINS["kernel_ep"].ep_name)
            path = saved("chain", partial(chain, 1000, "Neg"))
            figures = compare_runs(pair, path, {"v0": np.ones(4, np.float32)}, provider=kernels)
            report.add("host's share of run()", "1,000 kernels that do little", figures, 1e-6, "us")
            report.add("session", "1,000 kernels", compare_creation(pair, path, provider=kernels), MILLI, "ms")
        for plugin, names in WHOLE.items():
            provider = Provider(str(PLUGINS[plugin].path(fixtures)), PLUGINS[plugin].ep_name)
            for name in (name for name in names if only in f"{plugin} {name}"):
                make, make_feeds = LARGE[name]
                label, path = f"{plugin} {name}", saved(name, make)
                figures = compare_runs(pair, path, make_feeds(), rounds=5, budget=0.3, provider=provider)
                if figures["onnxruntime"] >= MILLI:
                    report.add("run", label, figures, MILLI, "ms")
                report.add("session", label, compare_creation(pair, path, rounds=5, provider=provider), MILLI, "ms")
                report.add("peak memory", label, peak_bytes(path, make_feeds(), provider), 2**20, "MiB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="plugins and models with the word in their names")
    parser.add_argument("--fixtures", type=Path, help="where the fixtures are built already")
    arguments = parser.parse_args()
    os.environ.setdefault("ORT_GGML_LOG", "off")
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fixtures = arguments.fixtures.resolve() if arguments.fixtures else build_fixtures(folder / "build")
        compare(folder, fixtures, arguments.only, report)
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
