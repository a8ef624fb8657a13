"""What frames keep for later: bounded, and given back before an allocation fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import KernelRegistry

MEGABYTE = 2**20


def model(
    nodes: list[object], inputs: list[object], outputs: list[object], constants: tuple[object, ...] = ()
) -> bytes:
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    serialized: bytes = made.SerializeToString()
    return serialized


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_size_that_grows_from_run_to_run_leaves_no_buffers_behind() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Relu", ["product"], ["positive"]),
        helper.make_node("ReduceSum", ["positive"], ["y"], keepdims=0),
    ]
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [1, 64], np.ones(64))]
    session = ort.InferenceSession(model(nodes, [x], [y], tuple(weights)))
    session.run(None, {"x": np.ones((8090, 1), np.float32)})
    before = resident_bytes()
    for n in range(4100, 8090, 10):  # at most 2 MB at a time
        session.run(None, {"x": np.ones((n, 1), np.float32)})
    assert resident_bytes() - before < 40 * MEGABYTE


def branch(name: str, rows: int) -> object:
    nodes = [
        helper.make_node("Expand", ["one", f"{name}_shape"], [f"{name}_big"]),
        helper.make_node("ReduceSum", [f"{name}_big"], [f"{name}_y"], keepdims=0),
    ]
    shape = [helper.make_tensor(f"{name}_shape", TensorProto.INT64, [1], [rows])]
    return helper.make_graph(
        nodes, name, [], [helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, [])], shape
    )


def test_what_one_branch_keeps_does_not_starve_the_other() -> None:
    rows = 20 * MEGABYTE // 4
    nodes = [
        helper.make_node("Neg", ["x"], ["one"]),  # computed, so that the branches are not folded
        helper.make_node("If", ["c"], ["y"], then_branch=branch("a", rows), else_branch=branch("b", rows + 64)),
    ]
    inputs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
    ]
    options = ort.SessionOptions()
    options.memory_limit = 25 * MEGABYTE
    y = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])]
    session = ort.InferenceSession(model(nodes, inputs, y), options)
    for condition in (True, False, True):
        (total,) = session.run(None, {"c": np.array(condition), "x": np.array([-1], np.float32)})
        assert total == pytest.approx(rows + (0 if condition else 64), rel=1e-3)


def test_what_python_kernels_return_counts_against_the_limit_while_it_lives() -> None:
    registry = KernelRegistry("mine")
    registry.register_kernel("", "Relu", 14, None, {}, lambda node: lambda x: np.maximum(x, 0))
    options = ort.SessionOptions()
    options.add_kernel_registry(registry)
    options.memory_limit = 3 * MEGABYTE
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])
    names = ["x", "a", "b", "c", "d", "y"]
    chain = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"step{i}") for i in range(5)]
    session = ort.InferenceSession(model(chain, [x], [y]), options)
    small, large = np.ones(MEGABYTE // 4, np.float32), np.ones(MEGABYTE, np.float32)
    for _ in range(3):  # Five arrays of a megabyte, of which two live at a time; those of the last run are gone.
        np.testing.assert_array_equal(session.run(None, {"x": small})[0], small)
        with pytest.raises(ort.OutOfMemory, match=r"'step0'.*memory limit"):
            session.run(None, {"x": large})
