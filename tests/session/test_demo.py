"""``onnx-light-ort demo``: a plugin EP runs a network, and the program proves it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


@pytest.fixture(scope="module")
def report() -> Any:
    """In a process of its own: it says what is mapped."""
    command = [sys.executable, "-m", "onnx_light_ort.cli", "demo", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_the_plugin_runs_what_it_claims_and_the_engine_the_rest(report: Any) -> None:
    assert {row["node"]: row["provider"] for row in report["assignment"]} == {
        **dict.fromkeys(["conv1", "relu1", "conv2", "relu2", "dense"], "DemoExecutionProvider"),
        **dict.fromkeys(["pool1", "pool2", "flatten", "softmax"], "CPUExecutionProvider"),
    }
    assert report["computes_counted_in_plugin"] == 3


def test_every_digit_is_read_right(report: Any) -> None:
    assert report["correct"]
    assert len(report["outputs"]) == 10
    assert min(report["outputs"]) > 0.5


def test_no_onnx_runtime_is_mapped_or_imported(report: Any) -> None:
    assert report["mapped_libraries"] > 0
    assert report["ort_libraries"] == []
    assert not report["onnxruntime_imported"]


def test_what_is_expected_follows_from_the_weights_by_numpy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    from make_digits import forward

    network = onnx.load(FOLDER / "digits.onnx")
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in network.graph.initializer}
    samples = np.load(FOLDER / "digits.npz")
    probabilities, _ = forward(weights, samples["pictures"].astype(np.float32) / 255)
    np.testing.assert_allclose(probabilities, samples["probabilities"], rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), samples["labels"])
