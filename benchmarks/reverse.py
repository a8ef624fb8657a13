"""This project's kernels inside ONNX Runtime, beside ONNX Runtime's own: published networks with claim=all.

``python benchmarks/reverse.py [--threads N] [--only NAME]`` in an environment with the package and its ``ort`` extra;
``--sessions N`` makes N sessions of a bfloat16 model instead, and fails when memory grows by more than 4 MB after the
first hundredth of them.
"""

from __future__ import annotations

import argparse
import math
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


def sessions(count: int) -> None:
    import onnxruntime
    from onnx import TensorProto
    from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
    from side_by_side import _our_devices

    inputs = [make_tensor_value_info("x", TensorProto.FLOAT, [4])]
    outputs = [make_tensor_value_info("y", TensorProto.FLOAT, [4])]
    nodes = [
        make_node("Cast", ["x"], ["b"], to=TensorProto.BFLOAT16),
        make_node("Add", ["b", "b"], ["c"]),
        make_node("Cast", ["c"], ["y"], to=TensorProto.FLOAT),
    ]
    model = make_model(
        make_graph(nodes, "g", inputs, outputs), opset_imports=[make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_provider_for_devices(_our_devices(), {})
    feed = {"x": np.ones(4, np.float32)}
    begin = time.perf_counter()
    resident = []
    for _ in range(count):
        onnxruntime.InferenceSession(model, options).run(None, feed)
        resident.append(resident_kilobytes())
    growth = resident[-1] - resident[count // 100]
    spent = (time.perf_counter() - begin) / count
    print(
        f"{count} sessions: {spent * MILLI:.2f} ms each; memory grew by {growth} kB after the first {count // 100}, "
        f"and by {resident[-1] - resident[count // 2]} kB in the second half"
    )
    if growth > 4096:
        sys.exit("memory grows with the number of sessions")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--sessions", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.sessions:
        sessions(arguments.sessions)
    else:
        real_models(arguments.threads, arguments.only)
