"""The library in older releases of ORT, each in a process of its own: the EP down to 1.24, custom operators below."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_CUSTOM_OPERATORS = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import onnxruntime
from onnx_light_ort import reverse
from test_reverse_custom_ops import small_model
print(onnxruntime.__version__)
model = small_model()
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(reverse.library_path())
content = reverse.rewrite(model, {node.op_type for node in model.graph.node}).SerializeToString()
made = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
alone = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
for steps in (4, 1, 3):
    feed = {"x": np.random.default_rng(steps).normal(size=(steps, 2, 3)).astype(np.float32)}
    np.testing.assert_allclose(made.run(None, feed)[0], alone.run(None, feed)[0], rtol=2e-3)
"""

_PROVIDER = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import onnxruntime
from reverse_session import EP, devices
from small_networks import encoder, encoder_feed
print(onnxruntime.__version__)
options = onnxruntime.SessionOptions()
options.add_provider_for_devices(devices(), {})
small = encoder(16)
small.graph.output[0].type.tensor_type.elem_type = 1
small.graph.node[-1].output[0] = "small"
small.graph.node.add(op_type="Cast", input=["small"], output=[small.graph.output[0].name]).attribute.add(
    name="to", type=2, i=1
)
made = onnxruntime.InferenceSession(small.SerializeToString(), options)
assert made.get_providers()[0] == EP
alone = onnxruntime.InferenceSession(encoder(1).SerializeToString(), providers=["CPUExecutionProvider"])
feed = encoder_feed(2, 6)
np.testing.assert_allclose(made.run(None, feed)[0], alone.run(None, feed)[0], atol=0.1)
"""

_REGISTRATION = """
import sys
import onnxruntime
from onnx_light_ort import reverse
print(onnxruntime.__version__)
try:
    onnxruntime.register_execution_provider_library("onnx_light", reverse.library_path())
except Exception as error:
    print(error)
"""


def output(script: str, release: Path) -> str:
    """What a script prints with another release of ORT on its path."""
    environment = {**os.environ, "PYTHONPATH": str(release)}
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=180)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("version", ["1.19.2", "1.20.1", "1.24.4"])
def test_custom_operators_run_in_an_older_runtime(wheel: Callable[[str], Path], version: str) -> None:
    assert output(_CUSTOM_OPERATORS, wheel(f"onnxruntime=={version}")) == f"{version}\n"


@pytest.mark.parametrize("version", ["1.24.4"])
def test_the_provider_runs_a_bfloat16_encoder_in_an_older_runtime(wheel: Callable[[str], Path], version: str) -> None:
    assert output(_PROVIDER, wheel(f"onnxruntime=={version}")) == f"{version}\n"


def test_a_runtime_that_is_too_old_for_the_provider_says_so(wheel: Callable[[str], Path]) -> None:
    assert "needs ONNX Runtime 1.24 or newer, and this is 1.23.2" in output(_REGISTRATION, wheel("onnxruntime==1.23.2"))
