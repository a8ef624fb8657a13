"""This project's kernels inside ONNX Runtime, beside ONNX Runtime's own: published networks with claim=all.

``python benchmarks/reverse.py [--threads N] [--only NAME]`` in an environment with the package and its ``ort`` extra;
``--sessions N`` instead makes N sessions with the EP and N of ONNX Runtime alone, each kind in a process of its own,
and fails when those with the EP let memory grow by more than 4 MB beyond what the others do, after the first hundredth.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from side_by_side import Runtime, compare_runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fixtures"))

from real_models import REAL_MODELS

MILLI = 1e3


def real_models(threads: int, only: str) -> None:
    ratios = []
    with Runtime("onnxruntime") as alone, Runtime("onnxruntime, our EP") as with_ep:
        for model in REAL_MODELS:
            if only not in model.name:
                continue
            figures = compare_runs(
                [alone, with_ep], model.path(), model.make_feeds(), rounds=5, budget=0.3, threads=threads
            )
            ratios.append(figures[with_ep.name] / figures[alone.name])
            print(
                f"{model.name:32s} ORT {figures[alone.name] * MILLI:9.3f} ms   with the EP "
                f"{figures[with_ep.name] * MILLI:9.3f} ms   {ratios[-1]:.2f}",
                flush=True,
            )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f}, worst {max(ratios):.2f}")


def resident_kilobytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


#: What many sessions are made of: the element type of an Add between two Casts, and the EP's options, if it is there.
SESSIONS: dict[str, tuple[str, dict[str, str] | None]] = {
    "ORT alone, float32": ("FLOAT", None),
    "with the EP, float32, claim=all": ("FLOAT", {"claim": "all"}),
    "with the EP, bfloat16": ("BFLOAT16", {}),
}


def make_sessions(count: int, name: str) -> None:
    """Makes and runs them in this process, and prints what they took and left."""
    import onnxruntime
    from onnx import TensorProto
    from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
    from side_by_side import _our_devices

    element_type, ep_options = SESSIONS[name]
    inputs = [make_tensor_value_info("x", TensorProto.FLOAT, [4])]
    outputs = [make_tensor_value_info("y", TensorProto.FLOAT, [4])]
    nodes = [
        make_node("Cast", ["x"], ["b"], to=TensorProto.DataType.Value(element_type)),
        make_node("Add", ["b", "b"], ["c"]),
        make_node("Cast", ["c"], ["y"], to=TensorProto.FLOAT),
    ]
    model = make_model(
        make_graph(nodes, "g", inputs, outputs), opset_imports=[make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if ep_options is not None:
        options.add_provider_for_devices(_our_devices(), ep_options)
    feed = {"x": np.ones(4, np.float32)}
    begin = time.perf_counter()
    resident = []
    for _ in range(count):
        onnxruntime.InferenceSession(model, options).run(None, feed)
        resident.append(resident_kilobytes())
    spent = (time.perf_counter() - begin) / count
    print(json.dumps([spent, resident[-1] - resident[count // 100], resident[-1] - resident[count // 2]]))


def sessions(count: int) -> None:
    """Each kind in a process of its own."""
    grown = {}
    for name in SESSIONS:
        command = [sys.executable, __file__, "--sessions", str(count), "--kind", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        spent, grown[name], late = json.loads(done.stdout.splitlines()[-1])
        print(
            f"{name:32s} {count} sessions: {spent * MILLI:.2f} ms each; memory grew by {grown[name]} kB after the "
            f"first {count // 100}, and by {late} kB in the second half",
            flush=True,
        )
    alone, *with_ep = grown.values()
    if max(with_ep) > alone + 4096:
        sys.exit("memory grows with the number of sessions")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--kind", choices=SESSIONS, help="with --sessions: of this kind only, in this process")
    arguments = parser.parse_args()
    if arguments.kind is not None:
        make_sessions(arguments.sessions, arguments.kind)
    elif arguments.sessions:
        sessions(arguments.sessions)
    else:
        real_models(arguments.threads, arguments.only)
