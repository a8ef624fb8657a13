"""``onnx-light-ort demo``: a plugin written for ONNX Runtime runs, and no ONNX Runtime is there."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HELP = "run a model through a plugin that comes with the package, and prove that no ONNX Runtime is loaded"

LIBRARY = Path(__file__).resolve().parents[1] / "demo" / "libdemo_ops.so"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report. 0; 1 where an output is wrong or an ORT library is mapped."""
    report = demonstrate()
    print(json.dumps(report, indent=2) if arguments.json else render(report))
    return 0 if report["correct"] and not report["ort_libraries"] else 1


def demonstrate() -> dict[str, Any]:
    """Runs the model and gathers what happened."""
    import numpy as np

    import onnx_light_ort as ort
    from onnx_light_ort.cli.matrix import summary
    from onnx_light_ort.host.memory_map import mapped_files, mapped_ort_runtimes

    options = ort.SessionOptions()
    rule = ort.admission_rule()
    ort.set_admission("any")  # the library comes with this package
    try:
        options.register_custom_ops_library(str(LIBRARY))
    finally:
        ort.set_admission(rule)
    session = ort.InferenceSession(model(), options)
    x = np.array([[-2.0, 0.0], [1.0, 3.0]], np.float32)
    (y,) = session.run(None, {"x": x})
    hidden = np.maximum(x @ np.array([[1, 2], [3, -1]], np.float32), 0)
    expected = (2 * hidden / (1 + np.abs(hidden))).astype(np.float32)
    matrix = ort.support_matrix()
    return {
        "library": str(LIBRARY),
        "host": f"onnx-light-ort {ort.__version__}",
        "api_version": matrix["api_version"],
        "assignment": [
            {"node": row.name, "operator": row.op_type, "provider": row.provider, "kernel": row.kernel}
            for row in session.assignment()
        ],
        "output": y.tolist(),
        "expected": expected.tolist(),
        "correct": bool(np.allclose(y, expected, rtol=1e-6)),
        "mapped_libraries": sum(".so" in path.name for path in mapped_files()),
        "ort_libraries": [str(path) for path in mapped_ort_runtimes()],
        "onnxruntime_imported": "onnxruntime" in sys.modules,
        "matrix": summary(matrix),
    }


def render(report: dict[str, Any]) -> str:
    rows = [
        f"  {row['node']:8} {row['operator']:8} {row['provider']:22} {row['kernel']}" for row in report["assignment"]
    ]
    verdict = "they agree" if report["correct"] else "THEY DIFFER"
    ort_libraries = ", ".join(report["ort_libraries"]) or "none"
    return "\n".join(
        [
            f"{report['host']} loaded {report['library']},",
            f"a custom-op library in C that asked for version {report['api_version']} of the ONNX Runtime API.",
            "",
            "Who ran what:",
            *rows,
            "",
            f"output   {report['output']}",
            f"expected {report['expected']}: {verdict}",
            "",
            f"ONNX Runtime libraries among the {report['mapped_libraries']} mapped ones: {ort_libraries}",
            "",
            report["matrix"],
        ]
    )


def model() -> bytes:
    """MatMul and Relu, which the engine runs, then the plugin's Squash."""
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["product"], name="product"),
            helper.make_node("Relu", ["product"], ["hidden"], name="relu"),
            helper.make_node("Squash", ["hidden"], ["y"], name="squash", domain="demo", scale=2.0),
        ],
        "demo",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 2])],
        [helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [1, 2, 3, -1])],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("demo", 1)]
    model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    return model
