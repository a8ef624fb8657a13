"""Scan of opset 8: a loop over its batch dimension around a Scan of opset 9."""

from __future__ import annotations

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto, helper

from onnx_light_ort import errors
from onnx_light_ort.engine.graph import Node


def scan_over_batch(node: Node) -> FunctionProto:
    """The function body of a Scan of opset 8.

    Every input has the batch dimension first; the loop takes one entry of each at a time, and stacks what the inner
    Scan makes of them, states and scan outputs alike.

    Raises:
        NotImplemented: the node gives a length for each batch entry.
    """
    if node.inputs and node.inputs[0] is not None:
        raise errors.NotImplemented(f"{node}: Scan of opset 8 with sequence_lens is not supported: export opset 9")
    inputs = [f"in{index}" for index in range(len(node.inputs) - 1)]
    outputs = [f"out{index}" for index in range(len(node.outputs))]
    nodes: list[NodeProto] = [
        helper.make_node("Shape", [inputs[0]], ["shape"]),
        helper.make_node("Constant", [], ["zero"], value=helper.make_tensor("zero", TensorProto.INT64, [], [0])),
        helper.make_node("Gather", ["shape", "zero"], ["batch"]),
        helper.make_node("Loop", ["batch", ""], outputs, body=_entry(inputs, outputs)),
    ]
    function: FunctionProto = helper.make_function(
        "onnx_light_ort",
        "ScanOverBatch",
        ["lengths", *inputs],
        outputs,
        nodes,
        [helper.make_opsetid("", 9)],
        attributes=["body", "num_scan_inputs", "directions"],
    )
    return function


def _entry(inputs: list[str], outputs: list[str]) -> GraphProto:
    """The loop's body: one batch entry."""
    scan = helper.make_node("Scan", [f"{name}_entry" for name in inputs], [f"{name}_entry" for name in outputs])
    for name, attribute, kind in (
        ("body", "body", AttributeProto.GRAPH),
        ("num_scan_inputs", "num_scan_inputs", AttributeProto.INT),
        ("scan_input_directions", "directions", AttributeProto.INTS),
    ):
        scan.attribute.append(AttributeProto(name=name, ref_attr_name=attribute, type=kind))
    gathers = [helper.make_node("Gather", [name, "entry"], [f"{name}_entry"]) for name in inputs]
    body: GraphProto = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), *gathers, scan],
        "entry",
        [
            helper.make_tensor_value_info("entry", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        ],
        [helper.make_empty_tensor_value_info(name) for name in ("go_on", *(f"{name}_entry" for name in outputs))],
    )
    return body
