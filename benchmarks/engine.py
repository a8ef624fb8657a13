"""The engine beside ONNX Runtime and onnx.reference: fixed costs, chains, real models, session creation.

``python benchmarks/engine.py [--threads N] [--only NAME]`` in an environment with the package and its ``ort`` extra.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from side_by_side import Runtime, compare_creation, compare_runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

from real_models import REAL_MODELS

MICRO = 1e6


def chain(folder: Path, op_type: str, nodes: int, **attributes: str) -> Path:
    """A model of one operator after itself on four floats."""
    path = folder / f"{op_type}_{nodes}.onnx"
    names = ["x", *(f"v{i}" for i in range(1, nodes)), "y"]
    graph = helper.make_graph(
        [helper.make_node(op_type, [names[i]], [names[i + 1]], name=f"n{i}", **attributes) for i in range(nodes)],
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return path


def row(label: str, figures: dict[str, float], unit: float = MICRO, suffix: str = "us") -> None:
    ours = figures["onnx-light-ort"]
    cells = [f"{name} {seconds * unit:10.2f} {suffix}" for name, seconds in figures.items()]
    ratios = [f"{ours / seconds:.2f} x {name}" for name, seconds in figures.items() if name != "onnx-light-ort"]
    print(f"{label:38s} {'  '.join(cells)}   ({', '.join(ratios)})", flush=True)


def fixed_costs(runtimes: list[Runtime], folder: Path) -> None:
    feeds = {"x": np.array([[-1, 2, -3, 4]], np.float32)}
    row("run() of one Relu", compare_runs(runtimes, chain(folder, "Relu", 1), feeds))
    # Einsum has no native kernel: a Python-kernel node of one numpy call.
    for op_type, attributes in (("Relu", {}), ("Einsum", {"equation": "ij->ij"})):
        one = compare_runs(runtimes, chain(folder, op_type, 1, **attributes), feeds)
        many = compare_runs(runtimes, chain(folder, op_type, 1000, **attributes), feeds)
        row(f"a node in a chain of 1,000 {op_type}", {name: (many[name] - one[name]) / 999 for name in many})


def real_models(runtimes: list[Runtime], threads: int) -> None:
    pair = [runtime for runtime in runtimes if runtime.name != "onnx.reference"]
    ratios = []
    for model in REAL_MODELS:
        figures = compare_runs(pair, model.path(), model.make_feeds(), rounds=5, budget=0.3, threads=threads)
        row(model.name, figures)
        ratios.append(figures["onnx-light-ort"] / figures["onnxruntime"])
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"real models, geometric mean: {mean:.2f} x onnxruntime, worst {max(ratios):.2f}")


def session_creation(runtimes: list[Runtime], folder: Path) -> None:
    pair = [runtime for runtime in runtimes if runtime.name != "onnx.reference"]
    for nodes in (1000, 10000):
        figures = compare_creation(pair, chain(folder, "Relu", nodes))
        row(f"session of {nodes} nodes", figures, 1e3, "ms")
    for model in REAL_MODELS:
        row(f"session of {model.name}", compare_creation(pair, model.path()), 1e3, "ms")


def external_weights(folder: Path, gigabytes: float = 2.0) -> None:
    """Peak memory of loading a model whose weights lie beside it, as a multiple of their size."""
    rows = int(gigabytes * 2**30 / 4 / 8 / 4096)
    path = folder / "large.onnx"
    with (folder / "weights.bin").open("wb") as file:
        for _ in range(8):
            file.write(np.ones((rows, 4096), np.float32).tobytes())
    size = rows * 4096 * 4
    weights = []
    for i in range(8):
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[rows, 4096])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": "weights.bin", "offset": i * size, "length": size}.items():
            tensor.external_data.add(key=key, value=str(value))
        weights.append(tensor)
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["v0"])]
    nodes += [helper.make_node("MatMul", ["x", f"w{i}"], [f"v{i}"]) for i in range(1, 8)]
    nodes.append(helper.make_node("Sum", [f"v{i}" for i in range(8)], ["y"]))
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, rows])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4096])],
        weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    for name in ("onnx-light-ort", "onnxruntime"):
        with Runtime(name) as runtime:
            before = runtime.ask("peak")
            seconds = runtime.create(path)
            loaded = runtime.ask("peak")
            runtime.time({"x": np.ones((1, rows), np.float32)}, 1)
            after = runtime.ask("peak")
            print(
                f"{name}: {8 * size / 2**30:.1f} GB of external weights load in {seconds:.2f} s; peak memory "
                f"{(loaded - before) / (8 * size):.2f} of their size once loaded, "
                f"{(after - before) / (8 * size):.2f} after a run"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="intra-op threads for the real models")
    parser.add_argument("--only", choices=["fixed", "models", "creation", "external"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Runtime("onnx-light-ort") as ours, Runtime("onnxruntime") as ort, Runtime("onnx.reference") as reference:
            if arguments.only in (None, "fixed"):
                fixed_costs([ours, ort, reference], folder)
            if arguments.only in (None, "models"):
                real_models([ours, ort], arguments.threads)
            if arguments.only in (None, "creation"):
                session_creation([ours, ort], folder)
        if arguments.only in (None, "external"):
            external_weights(folder)


if __name__ == "__main__":
    main()
