"""What the tests of plugin EPs share: every plugin, and no ORT in the process, ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from execution_provider_cases import PLUGINS

import onnx_light_ort
from onnx_light_ort.host.admission import set_admission
from onnx_light_ort.host.memory_map import mapped_ort_runtimes


@pytest.fixture(autouse=True)
def _no_ort_is_mapped() -> Iterator[None]:
    yield
    assert mapped_ort_runtimes() == frozenset()


@pytest.fixture(scope="module")
def every_plugin(fixtures_dir: Path) -> Iterator[Path]:
    """Registers every plugin under its own name; gives the folder of the built fixtures."""
    set_admission("any")
    for name, plugin in PLUGINS.items():
        onnx_light_ort.register_execution_provider_library(name, plugin.path(fixtures_dir))
    yield fixtures_dir
    for name in PLUGINS:
        onnx_light_ort.unregister_execution_provider_library(name)
    set_admission("warn")
