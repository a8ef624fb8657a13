"""What a model of 10,000 nodes costs a host whose EP asks everything about every node.

Run as ``python benchmarks/graph_capability.py LIBRARY`` with the built fixture ``libgraph_reader.so`` and the real ORT
installed. Prints JSON: calls, and seconds of processor time of each runtime, the least of all rounds. For ORT that is
what making a session takes more with the EP than without; here it is writing the graph down, freezing it, answering
and freeing it. The runtimes take turns, each in processes of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 5

_ORT = """
import sys, time, os, json
import onnxruntime
library, model = sys.argv[1:]
onnxruntime.register_execution_provider_library("GraphReader", library)
devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == "GraphReader"]
def seconds(with_ep):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if with_ep:
        options.add_provider_for_devices(devices, {})
    begin = time.process_time()
    onnxruntime.InferenceSession(model, options)
    return time.process_time() - begin
seconds(True)
print(json.dumps([[seconds(False), seconds(True)] for _ in range(3)]))
"""

_HERE = """
import sys, time, json
sys.path.append(sys.argv[3])
from pathlib import Path
from graph_reader.reader_library import GraphReader
from onnx_light_ort._native import abi
from onnx_light_ort.engine.kernel_registry import KernelContext
from onnx_light_ort.engine.model_loading import load_model
from onnx_light_ort.engine.type_inference import infer_model
from onnx_light_ort.host.graph_view import ModelViews
reader = GraphReader(Path(sys.argv[1]), abi.api_base_address("plain"))
rows = []
for _ in range(3):
    model = load_model(sys.argv[2])
    infer_model(model, KernelContext(()))
    begin = time.process_time()
    view = ModelViews(model).freeze(model.graph)
    calls, _ = reader.ask(view.address)
    del view
    rows.append([calls, time.process_time() - begin])
print(json.dumps(rows))
"""


def write_model(path: Path, blocks: int = 2500) -> None:
    """Blocks of Gemm, Relu, Add and Softmax, with three initializers each."""
    nodes, initializers, last = [], [], "x"
    for i in range(blocks):
        initializers += [
            numpy_helper.from_array(np.eye(8, dtype=np.float32), f"w{i}"),
            numpy_helper.from_array(np.ones(8, np.float32), f"b{i}"),
            numpy_helper.from_array(np.ones(8, np.float32), f"a{i}"),
        ]
        nodes += [
            helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"g{i}"], f"gemm{i}", alpha=1.0, transB=1),
            helper.make_node("Relu", [f"g{i}"], [f"r{i}"], f"relu{i}"),
            helper.make_node("Add", [f"r{i}", f"a{i}"], [f"s{i}"], f"add{i}"),
            helper.make_node("Softmax", [f"s{i}"], [f"p{i}"], f"softmax{i}", axis=-1),
        ]
        last = f"p{i}"
    types = [helper.make_tensor_value_info(name, 1, ["N", 8]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "blocks", types[:1], types[1:], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def main() -> None:
    library = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        model, answers = Path(folder) / "model.onnx", Path(folder) / "answers.jsonl"
        write_model(model)
        environment = {**os.environ, "GRAPH_READER_DOES": "ask", "GRAPH_READER_FILE": str(answers)}

        def ask(script: str) -> list[list[float]]:
            command = [sys.executable, "-c", script, library, str(model), str(ROOT / "fixtures")]
            done = subprocess.run(
                command[: 5 if script is _ORT else 6], env=environment, capture_output=True, text=True
            )
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            rows: list[list[float]] = json.loads(done.stdout.splitlines()[-1])
            return rows

        ort: list[list[float]] = []
        here: list[list[float]] = []
        for _ in range(ROUNDS):
            ort += ask(_ORT)
            here += ask(_HERE)
        asked = json.loads(answers.read_text().splitlines()[0])
    ort_seconds = min(row[1] for row in ort) - min(row[0] for row in ort)
    here_seconds = min(row[1] for row in here)
    print(json.dumps({
        "calls": {"onnxruntime": asked["calls"], "onnx-light-ort": here[0][0]},
        "seconds": {"onnxruntime": ort_seconds, "onnx-light-ort": here_seconds},
        "ratio": here_seconds / ort_seconds,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
