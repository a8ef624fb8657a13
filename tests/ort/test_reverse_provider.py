"""The EP in a real ORT session: what it takes and leaves, and how its kernels behave from run to run."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto
from reverse_session import EP, devices, run, session, single_node

BF16 = ml_dtypes.bfloat16


def test_a_device_of_the_cpu_is_offered() -> None:
    assert [device.device.type for device in devices()] == [onnxruntime.OrtHardwareDeviceType.CPU]


def test_a_bfloat16_addition_runs_with_the_provider_and_not_without() -> None:
    a, b = np.arange(6).reshape(2, 3).astype(BF16), np.array([10, 20, 30], BF16)
    model = single_node("Add", [a, b], [TensorProto.BFLOAT16], 17)
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented, match="Could not find an implement"):
        session(model, None)
    with_ep = session(model)
    assert with_ep.get_providers() == [EP, "CPUExecutionProvider"]
    np.testing.assert_array_equal(run(with_ep, {"i0": a, "i1": b})[0], a + b)
