"""``onnx-light-ort demo``: a plugin EP written for ONNX Runtime runs a network, and no ONNX Runtime is there."""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from pathlib import Path
from typing import Any

HELP = "run a network through a plugin EP that comes with the package, and prove that no ONNX Runtime is loaded"

_FOLDER = Path(__file__).resolve().parents[1] / "demo"
LIBRARY = _FOLDER / "libdemo_ep.so"
MODEL = _FOLDER / "digits.onnx"
SAMPLES = _FOLDER / "digits.npz"

#: From dark to bright; each stands for two pixels side by side, so that pictures keep their proportions.
_SHADES = " .:*#@"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report. 0; 1 where an output is wrong or an ORT library is mapped."""
    report = demonstrate()
    print(json.dumps(report, indent=2) if arguments.json else render(report))
    return 0 if report["correct"] and not report["ort_libraries"] else 1


def demonstrate() -> dict[str, Any]:
    """Runs the network on a picture of each digit and gathers what happened."""
    import numpy as np

    import onnx_light_ort as ort
    from onnx_light_ort.cli.matrix import summary
    from onnx_light_ort.host.memory_map import mapped_files, mapped_ort_runtimes

    rule = ort.admission_rule()
    ort.set_admission("any")  # the library comes with this package
    try:
        ort.register_execution_provider_library("demo", LIBRARY)
    finally:
        ort.set_admission(rule)
    options = ort.SessionOptions()
    options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "DemoExecutionProvider"])
    session = ort.InferenceSession(MODEL, options)
    with np.load(SAMPLES) as samples:
        pictures, labels, expected = (samples[name] for name in ("pictures", "labels", "probabilities"))
    (probabilities,) = session.run(None, {"pictures": pictures.astype(np.float32) / 255})
    matrix = ort.support_matrix()
    report = {
        "library": str(LIBRARY),
        "host": f"onnx-light-ort {ort.__version__}",
        "api_version": matrix["api_version"],
        "assignment": [
            {"node": row.name, "operator": row.op_type, "provider": row.provider, "kernel": row.kernel}
            for row in session.assignment()
        ],
        "computes_counted_in_plugin": _counted(LIBRARY, "computes"),
        "picture": pictures[7, 0].tolist(),
        "digits": labels.tolist(),
        "outputs": [round(float(row[digit]), 6) for row, digit in zip(probabilities, labels, strict=True)],
        "expected": [round(float(row[digit]), 6) for row, digit in zip(expected, labels, strict=True)],
        "largest_difference": float(np.abs(probabilities - expected).max()),
        "correct": bool(np.allclose(probabilities, expected, rtol=1e-4, atol=1e-6)),
        "mapped_libraries": sum(".so" in path.name for path in mapped_files()),
        "ort_libraries": [str(path) for path in mapped_ort_runtimes()],
        "onnxruntime_imported": "onnxruntime" in sys.modules,
        "matrix": summary(matrix),
    }
    del session, options
    ort.unregister_execution_provider_library("demo")
    return report


def _counted(library: Path, name: str) -> int:
    """What the library itself counted: it is loaded already, so that this finds the same copy."""
    counted = ctypes.CDLL(str(library)).counted
    counted.restype, counted.argtypes = ctypes.c_int64, [ctypes.c_char_p]
    return int(counted(name.encode()))


def render(report: dict[str, Any]) -> str:
    rows = [
        f"  {row['node']:8} {row['operator']:8} {row['provider']:22} {row['kernel']}" for row in report["assignment"]
    ]
    verdict = "they agree" if report["correct"] else "THEY DIFFER"
    ort_libraries = ", ".join(report["ort_libraries"]) or "none"
    picture = ["".join(2 * _SHADES[value * len(_SHADES) // 256] for value in row).rstrip() for row in report["picture"]]
    numbers = [
        f"  {label:12}" + "".join(f"{value:10.5f}" for value in report[key])
        for label, key in (("output", "outputs"), ("expected", "expected"))
    ]
    return "\n".join(
        [
            f"{report['host']} loaded {report['library']},",
            f"a plugin EP in C++ that asked for version {report['api_version']} of the ONNX Runtime API,",
            "to read pictures of digits such as",
            "",
            *(f"    {line}" for line in picture if line),
            "",
            "Who ran what:",
            *rows,
            "",
            f"The plugin counted {report['computes_counted_in_plugin']} computations of its own.",
            "",
            "Probability of the right digit, for a picture of each; what is expected was computed by numpy alone:",
            "  digit       " + "".join(f"{digit:10}" for digit in report["digits"]),
            *numbers,
            f"  largest difference of all probabilities {report['largest_difference']:.1e}: {verdict}",
            "",
            f"ONNX Runtime libraries among the {report['mapped_libraries']} mapped ones: {ort_libraries}",
            "",
            report["matrix"],
        ]
    )
