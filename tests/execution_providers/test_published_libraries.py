"""Published libraries of execution providers, unmodified, register, show what they offer, and are unregistered."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from execution_provider_cases import PLUGINS

#: In a process of its own, since such a library may stay for as long as one lives.
_PROGRAM = """
import sys
import onnx_light_ort as ort
from onnx_light_ort.host.memory_map import mapped_ort_runtimes
name, library = sys.argv[1:]
ort.set_admission("any")
for _ in range(2):
    ort.register_execution_provider_library(name, library)
    (device,) = [device for device in ort.get_ep_devices() if device.ep_name == name]
    print(device.ep_vendor, device.ep_metadata["version"], device.device.type.name, device.device.origin)
    report = ort.unregister_execution_provider_library(name)
    assert len(ort.get_ep_devices()) == 1
    assert report.unmapped or report.reasons
    assert mapped_ort_runtimes() == frozenset()
"""


@pytest.mark.parametrize(
    ("plugin", "shows"), [("ggml", "onnxruntime-ggml 0.2.0 CPU host"), ("nxrt", "nxrt 0.1.0 CPU host")]
)
def test_a_published_library_comes_and_goes(fixtures_dir: Path, plugin: str, shows: str) -> None:
    library = PLUGINS[plugin].path(fixtures_dir)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, PLUGINS[plugin].ep_name, library], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [shows, shows]
