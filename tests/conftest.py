"""What every test may ask for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """The folder of the built plugins of ``fixtures/``, one subfolder for each of its folders."""
    build = ROOT / "build" / "fixtures"
    for command in (["cmake", "-S", ROOT / "fixtures", "-B", build], ["cmake", "--build", build, "--parallel", "2"]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            pytest.fail(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}", pytrace=False)
    return build
