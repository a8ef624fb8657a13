"""Published networks with real weights: with every node that a kernel serves on the EP, they compute what ORT does."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from real_models import REAL_MODELS, RealModel
from reverse_session import session_options, taken


@pytest.mark.parametrize("model", REAL_MODELS, ids=lambda model: model.name)
def test_a_published_network_computes_what_it_does_in_ort(model: RealModel) -> None:
    path, feeds = str(model.path()), model.make_feeds()
    with_ep = onnxruntime.InferenceSession(path, session_options("all"))
    assert len(taken(with_ep)) > 10
    alone = onnxruntime.InferenceSession(path, session_options(None), providers=["CPUExecutionProvider"])
    for actual, expected in zip(with_ep.run(None, feeds), alone.run(None, feeds), strict=True):
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=2e-4 * max(scale, 1e-3))
