"""Forks, and interpreters that end while threads run."""

from __future__ import annotations

import subprocess
import sys

import pytest

SESSION = """
import os, sys, threading
import numpy as np
from onnx import TensorProto, helper
import onnx_light_ort as ort

def session(op_type):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    names = ["x", *(f"v{i}" for i in range(50)), "y"]
    nodes = [helper.make_node(op_type, [a], [b]) for a, b in zip(names, names[1:])]
    graph = helper.make_graph(nodes, "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    return ort.InferenceSession(model.SerializeToString(), options)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", SESSION + code], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("op_type", ["Relu", "Atan"])
def test_a_thread_that_runs_while_the_interpreter_ends_ends_with_it(op_type: str) -> None:
    done = run(
        f"""
s = session({op_type!r})
def forever():
    while True:
        s.run(None, {{"x": np.ones(100000, np.float32)}})
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
threading.Event().wait(0.3)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_forked_child_runs_and_drops_a_session_of_its_parent() -> None:
    done = run(
        """
s = session("Relu")
feed = {"x": np.ones(1000000, np.float32)}
s.run(None, feed)
child = os.fork()
if child == 0:
    ok = s.run(None, feed)[0].sum() == 1000000
    del s
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
assert s.run(None, feed)[0].sum() == 1000000
"""
    )
    assert (done.returncode, done.stderr) == (0, "")
