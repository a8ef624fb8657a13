"""A library comes and goes a thousand times, and nothing stays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from execution_provider_cases import PLUGINS

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "provider_cycles.py"


@pytest.mark.parametrize("failures", [[], ["--failures"]], ids=["well", "with_a_failure_at_each_step"])
def test_nothing_stays_of_a_thousand_cycles(fixtures_dir: Path, tmp_path: Path, failures: list[str]) -> None:
    # A copy: nobody else has it loaded.
    library = shutil.copy(PLUGINS["kernel_ep"].path(fixtures_dir), tmp_path)
    done = subprocess.run([sys.executable, PROGRAM, library, *failures], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the library is not mapped" in done.stdout
