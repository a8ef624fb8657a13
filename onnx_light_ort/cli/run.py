"""``onnx-light-ort run MODEL``: runs a model on files or random values and reports outputs and times."""

from __future__ import annotations

import argparse
import json
import math
import sys
import threading
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_light_ort.cli.plugin_arguments import add_plugin_arguments, use_plugins
from onnx_light_ort.cli.terminal_text import printable

if TYPE_CHECKING:
    import numpy as np

    from onnx_light_ort.session import InferenceSession, NodeArg

HELP = "run a model and report its outputs and times"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="the model file")
    parser.add_argument(
        "--input",
        type=_fed_file,
        action="append",
        default=[],
        metavar="NAME=FILE.npy | random",
        help="the value of an input; 'random' feeds every input that is not named (the default)",
    )
    parser.add_argument(
        "--dim",
        type=_dim_size,
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="the size of a symbolic dimension for random inputs",
    )
    add_plugin_arguments(parser)
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default 0)")
    parser.add_argument("--repeat", type=_positive, default=1, metavar="N", help="how often to run (default once)")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="threads of a run; 0: one a core (default)")
    parser.add_argument("--memory-limit", type=int, default=0, metavar="BYTES", help="of the run's buffers; 0: none")
    parser.add_argument("--output", type=Path, metavar="FILE.npz", help="write the outputs to a file")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="write the times of all nodes as a Chrome trace")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _fed_file(text: str) -> tuple[str, str] | None:
    """An input's name and file; None for the word that stands for all others."""
    name, separator, file = text.partition("=")
    if not separator and text != "random":
        raise argparse.ArgumentTypeError(f"{text}: give NAME=FILE.npy, or 'random'")
    return (name, file) if separator else None


def _dim_size(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not size.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: give NAME=SIZE")
    return name, int(size)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "positive number"  # as argparse calls it in its message


def run(arguments: argparse.Namespace) -> int:
    """Prints the report. 0: the model ran; 1: it did not."""
    from onnx_light_ort.errors import Error

    try:
        report = _report(arguments)
    except (Error, MemoryError, OSError, ValueError) as error:
        if arguments.json:
            print(json.dumps({"model": str(arguments.model), "error": type(error).__name__, "message": str(error)}))
        else:
            print(f"onnx-light-ort run: {type(error).__name__}: {printable(str(error))}", file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2) if arguments.json else _render(report))
    return 0


def _report(arguments: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    from onnx_light_ort.session import InferenceSession
    from onnx_light_ort.session_options import SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.memory_limit = arguments.memory_limit
    options.enable_profiling = arguments.profile is not None
    use_plugins(arguments, options)
    with _progress(not arguments.json) as progress:
        began = time.perf_counter()
        session = InferenceSession(str(arguments.model), options, progress=progress)
        load_seconds = time.perf_counter() - began
    feed = _feed(session, arguments)
    seconds: list[float] = []
    for _ in range(arguments.repeat):
        began = time.perf_counter()
        results = session.run(None, feed)
        seconds.append(time.perf_counter() - began)
    names = [output.name for output in session.get_outputs()]
    if arguments.output is not None:
        _save(arguments.output, dict(zip(names, map(np.asarray, results), strict=True)))
    report: dict[str, Any] = {
        "model": str(arguments.model),
        "inputs": [_described(name, value) for name, value in feed.items()],
        "outputs": [_described(name, value) for name, value in zip(names, results, strict=True)],
        "load_ms": round(load_seconds * 1e3, 3),
        "run_ms": [round(value * 1e3, 4) for value in seconds],
        "kernels": _kernel_counts(session),
    }
    if arguments.profile is not None:
        profile = session.profile
        assert profile is not None
        report["profile"] = profile.write(str(arguments.profile))
        report["slowest"] = _slowest(profile.events())
    return report


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """As numpy.savez, which takes some names for arguments of its own."""
    import numpy as np

    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array)


@contextmanager
def _progress(wanted: bool) -> Iterator[Any]:
    """Shows the stage of loading on a terminal, once it takes long enough to wonder."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    stage = ["load"]
    done = threading.Event()

    def show() -> None:
        began, marks = time.monotonic(), "-\\|/"
        while not done.wait(0.1):
            elapsed = time.monotonic() - began
            if elapsed > 0.5:
                mark = marks[int(elapsed * 10) % len(marks)]
                print(f"\r\x1b[K{mark} {stage[0]} ({elapsed:.0f} s)", end="", file=sys.stderr, flush=True)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield lambda name: stage.__setitem__(0, name)
    finally:
        done.set()
        thread.join()


def _feed(session: InferenceSession, arguments: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    files = dict(entry for entry in arguments.input if entry is not None)
    sizes = dict(arguments.dim)
    inputs = session.get_inputs()
    unknown = sorted(set(files) - {item.name for item in inputs})
    if unknown:
        raise ValueError(f"--input: the model has no input {unknown}; it has {[item.name for item in inputs]}")
    names = {dim for item in inputs for dim in item.shape if isinstance(dim, str)}
    strangers = sorted(set(sizes) - names)
    if strangers:
        raise ValueError(f"--dim: no input has a dimension {strangers}; they have {sorted(names)}")
    generator = np.random.default_rng(arguments.seed)
    return {
        item.name: np.load(files[item.name], allow_pickle=False)
        if item.name in files
        else _random(item, sizes, generator)
        for item in inputs
    }


def _random(item: NodeArg, sizes: dict[str, int], generator: np.random.Generator) -> Any:
    import numpy as np

    from onnx_light_ort.engine.value_type import STRING, numpy_dtype
    from onnx_light_ort.ort_value import element_type_of_string

    element_type = element_type_of_string(item.type)
    if not element_type or element_type == STRING:
        raise ValueError(f"input {item.name!r} is {item.type}, which has no random values: feed it by --input")
    shape = [dim if isinstance(dim, int) else sizes.get(dim or "", 1) for dim in item.shape]
    dtype = numpy_dtype(element_type)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        # Small, so that indices stay within what they index more often than not.
        return generator.integers(0, 2, shape).astype(dtype)
    return np.asarray(generator.standard_normal(shape)).astype(dtype)


def _described(name: str, value: Any) -> dict[str, Any]:
    import numpy as np

    if not isinstance(value, np.ndarray):
        return {"name": name, "type": type(value).__name__, "length": len(value) if hasattr(value, "__len__") else None}
    described: dict[str, Any] = {"name": name, "type": str(value.dtype), "shape": list(value.shape)}
    if value.size and value.dtype.kind in "biuf":
        numbers = value.astype(np.float64)
        with np.errstate(all="ignore"):
            described.update(min=_json_number(numbers.min()), max=_json_number(numbers.max()))
            described["mean"] = _json_number(numbers.mean())
    return described


def _json_number(value: Any) -> float | None:
    """None for what JSON has no number for: NaN and the infinities."""
    return float(value) if math.isfinite(value) else None


def _kernel_counts(session: InferenceSession) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for row in session.assignment():
        counts[row.kernel.split(" ", 1)[0]] += 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _slowest(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    totals: dict[tuple[str, str], float] = defaultdict(float)
    for event in events:
        if event["cat"] == "Node":
            totals[event["name"].removesuffix("_kernel_time"), event["args"]["op_name"]] += event["dur"]
    ranked = sorted(totals.items(), key=lambda item: -item[1])[:10]
    return [{"node": name, "op_type": op_type, "us": round(us, 1)} for (name, op_type), us in ranked]


def _text(number: float | None) -> str:
    return "not finite" if number is None else f"{number:.6g}"


def _render(report: dict[str, Any]) -> str:
    lines = [f"{report['model']}  loaded in {report['load_ms']:.1f} ms"]
    for role in ("inputs", "outputs"):
        lines.append(f"{role}:")
        for item in report[role]:
            if "shape" not in item:
                lines.append(f"  {item['name']}: {item['type']} of {item['length']}")
                continue
            numbers = "".join(f"  {key} {_text(item[key])}" for key in ("min", "max", "mean") if key in item)
            lines.append(f"  {printable(item['name'])}: {item['type']} {item['shape']}{numbers}")
    times = sorted(report["run_ms"])
    middle = times[len(times) // 2]
    lines.append(
        f"run: {middle:.3f} ms" + (f" (median of {len(times)}, best {times[0]:.3f})" if len(times) > 1 else "")
    )
    lines.append("nodes: " + ", ".join(f"{count} {kind}" for kind, count in report["kernels"].items()))
    if "profile" in report:
        lines.append(f"profile: {report['profile']}")
        lines += [f"  {row['us']:10.1f} us  {row['node']} ({row['op_type']})" for row in report["slowest"]]
    return "\n".join(map(printable, lines))
