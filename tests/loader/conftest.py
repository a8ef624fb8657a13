from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onnx_light_ort.host.admission import set_admission
from onnx_light_ort.host.library_path import set_library_allow_list


@pytest.fixture(scope="session")
def plugins(fixtures_dir: Path) -> Path:
    """The folder of the loader's fixture libraries."""
    return fixtures_dir / "loader"


@pytest.fixture(autouse=True)
def default_policy() -> Iterator[None]:
    """Fixtures are in no compatibility matrix: load them silently, and leave the policy as it is for everyone else."""
    set_admission("any")
    yield
    set_admission("warn")
    set_library_allow_list(None)
