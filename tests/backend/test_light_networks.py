"""The nine networks inside package onnx, run through InferenceSession, against the outputs that come with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test
import pytest

import onnx_light_ort as ort

LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
NETWORKS = sorted(path.stem for path in LIGHT.glob("light_*.onnx"))


def test_the_nine_networks_are_there() -> None:
    assert len(NETWORKS) == 9


@pytest.mark.parametrize("network", NETWORKS)
def test_light_network_computes_its_expected_output(network: str) -> None:
    session = ort.InferenceSession(str(LIGHT / f"{network}.onnx"))
    (data,) = session.get_inputs()
    # What onnx.backend.test feeds: a ramp from 0 to 1.
    size = int(np.prod(data.shape))
    ramp = (np.arange(size).reshape(data.shape) / size).astype(np.float32)
    (actual,) = session.run(None, {data.name: ramp})
    proto = onnx.TensorProto.FromString((LIGHT / f"{network}_output_0.pb").read_bytes())
    np.testing.assert_allclose(actual, onnx.numpy_helper.to_array(proto), rtol=1e-4, atol=1e-7)
