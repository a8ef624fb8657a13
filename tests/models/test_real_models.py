"""Published networks give what ONNX Runtime gives for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from real_models import ALL_MODELS, sample

import onnx_light_ort as ort

GOLDENS = Path(__file__).resolve().parents[1] / "goldens" / "models"


@pytest.mark.parametrize("name", ALL_MODELS)
def test_a_published_network_gives_what_onnx_runtime_gives(name: str) -> None:
    model = ALL_MODELS[name]
    session = ort.InferenceSession(str(model.path()))
    feeds = model.make_feeds()
    before = {key: value.copy() for key, value in feeds.items()}
    with np.load(GOLDENS / f"{name}.npz") as golden:
        for _ in range(2):  # the second run meets the buffers of the first
            outputs = dict(zip([info.name for info in session.get_outputs()], session.run(None, feeds), strict=True))
            assert {key for key in golden if not key.endswith(".shape")} == set(outputs)
            for output, value in outputs.items():
                expected = golden[output]
                assert list(value.shape) == golden[f"{output}.shape"].tolist()
                np.testing.assert_allclose(
                    sample(value), expected, rtol=1e-4, atol=1e-4 * float(np.abs(expected).max()), err_msg=output
                )
    for key, value in feeds.items():
        np.testing.assert_array_equal(value, before[key])
