"""The goldens of plugin EPs are what the real ORT does with the same libraries and models."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from execution_provider_cases import CASES
from execution_provider_failures import FAILURES, UNDEFINED_IN_ORT
from execution_provider_goldens import GOLDENS, read_failure_goldens, read_goldens

RECORDER = Path(__file__).parent / "record_execution_providers.py"


@pytest.fixture(scope="session")
def recorded(fixtures_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([sys.executable, RECORDER, fixtures_dir, "--output", folder], check=True, capture_output=True)
    return folder


def test_there_is_a_golden_for_each_case() -> None:
    assert sorted(read_goldens(GOLDENS)) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_ort_does_with_a_plugin_what_was_recorded(name: str, recorded: Path) -> None:
    golden, outputs = read_goldens(GOLDENS)[name]
    now, outputs_now = read_goldens(recorded)[name]
    assert now == golden, "run tests/ort/record_execution_providers.py and read the difference"
    assert sorted(outputs_now) == sorted(outputs)
    for key, value in outputs.items():
        # Another machine's vector instructions round otherwise.
        np.testing.assert_allclose(outputs_now[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", [name for name in FAILURES if name not in UNDEFINED_IN_ORT])
def test_ort_still_does_with_a_wrong_plugin_what_was_recorded(name: str, fixtures_dir: Path) -> None:
    recorder = Path(__file__).parent / "record_execution_provider_failures.py"
    observed = runpy.run_path(str(recorder))["observed_apart"](fixtures_dir, name)
    observed.pop("message", None)
    assert observed == read_failure_goldens()[name]
