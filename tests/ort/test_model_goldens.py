"""The goldens of the real models are what ONNX Runtime returns.

``python tests/ort/test_model_goldens.py`` records them anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "fixtures"))

from real_models import ALL_MODELS, RealModel, sample  # noqa: E402

GOLDENS = ROOT / "tests" / "goldens" / "models"


def run_in_ort(model: RealModel) -> dict[str, np.ndarray]:
    """Per output: ``<name>`` a sample of its values, ``<name>.shape`` its shape."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model.path()), options, providers=["CPUExecutionProvider"])
    recorded = {}
    for info, value in zip(session.get_outputs(), session.run(None, model.make_feeds()), strict=True):
        recorded[info.name] = sample(value)
        recorded[f"{info.name}.shape"] = np.array(value.shape)
    return recorded


@pytest.mark.parametrize("name", ALL_MODELS)
def test_a_golden_is_what_the_runtime_returns(name: str) -> None:
    with np.load(GOLDENS / f"{name}.npz") as golden:
        now = run_in_ort(ALL_MODELS[name])
        assert sorted(golden) == sorted(now)
        for output, value in now.items():
            # Another machine's vector instructions round otherwise.
            np.testing.assert_allclose(golden[output], value, rtol=1e-4, atol=1e-5 * float(np.abs(value).max()))


if __name__ == "__main__":
    GOLDENS.mkdir(parents=True, exist_ok=True)
    for model in ALL_MODELS.values():
        np.savez_compressed(GOLDENS / f"{model.name}.npz", **run_in_ort(model))
        print(model.name)
