"""A model of one node, the custom op of the contract probe, with attributes of each kind and an input left out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

Record = Mapping[str, Any]


def probe_model() -> bytes:
    """The serialised model. Inputs `x` ([batch, 3], float32) and `text` ([2], string); outputs `y` and `z`."""
    attributes: dict[str, Any] = {
        "float": 1.5,
        "int": -(1 << 40),
        "string": "text",
        "floats": [1.5, -2.5],
        "ints": [1, -2, 3],
        "strings": ["ab", "", "cde"],
        "empty_string": "",
        "tensor": helper.make_tensor("tensor", TensorProto.FLOAT, [2], [0.5, 1.5]),
        "int64_scalar": helper.make_tensor("int64_scalar", TensorProto.INT64, [], [258]),
        "string_tensor": helper.make_tensor("string_tensor", TensorProto.STRING, [2], [b"a", b"bc"]),
        "empty_tensor": helper.make_tensor("empty_tensor", TensorProto.FLOAT, [0, 2], []),
        "int4_tensor": helper.make_tensor("int4_tensor", TensorProto.INT4, [3], [1, -2, 7]),
    }
    node = helper.make_node(
        "Probe",
        ["x", "", "constant", "text"],
        ["y", "", "z"],
        name="probe_node",
        domain="contract_probe",
        **attributes,
    )
    for name, kind in (
        ("empty_floats", onnx.AttributeProto.FLOATS),
        ("empty_ints", onnx.AttributeProto.INTS),
        ("empty_strings", onnx.AttributeProto.STRINGS),
    ):
        node.attribute.add(name=name, type=kind)
    graph = helper.make_graph(
        [node],
        "probe_graph",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3]),
            helper.make_tensor_value_info("text", TensorProto.STRING, [2]),
        ],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("z", TensorProto.INT64, None),
        ],
        [helper.make_tensor("constant", TensorProto.FLOAT, [2], [0.25, 4.0])],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("contract_probe", 1)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return model.SerializeToString()


def run_in_callbacks(runtime: ModuleType, library: Path, folder: Path) -> dict[str, dict[str, list[Record]]]:
    """Runs the groups of cases that need a kernel's objects in a session of `runtime`, and returns their records.

    `runtime` is a module with ORT's Python API; `folder` is empty, and receives one file a group.
    """
    os.environ["CONTRACT_PROBE_OUTPUT"] = str(folder)
    try:
        options = runtime.SessionOptions()
        # A pool's threads do not survive the fork that each case runs in.
        options.intra_op_num_threads = 1
        options.add_session_config_entry("contract_probe.key", "value")
        options.register_custom_ops_library(str(library))
        session = runtime.InferenceSession(probe_model(), options, providers=["CPUExecutionProvider"])
        feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "text": np.array(["ab", "cde"], dtype=object)}
        session.run(None, feeds)
    finally:
        del os.environ["CONTRACT_PROBE_OUTPUT"]
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
