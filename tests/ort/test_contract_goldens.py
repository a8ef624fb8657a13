"""The goldens of the contract probe are what the real ORT answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.contract_probe import GOLDENS, build_probe
from tests.ort import record_contract


@pytest.fixture(scope="session")
def probe_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_probe(tmp_path_factory.mktemp("contract_probe"))


@pytest.fixture(scope="session")
def recorded(probe_library: Path) -> dict[str, str]:
    return record_contract.recorded_goldens(probe_library)


def test_there_is_a_golden_file_for_each_group(recorded: dict[str, str]) -> None:
    assert sorted(recorded) == sorted(path.name for path in GOLDENS.glob("*.json"))


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDENS.glob("*.json")))
def test_golden_is_what_ort_answers(name: str, recorded: dict[str, str]) -> None:
    assert recorded[name] == (GOLDENS / name).read_text(), "run `python tests/ort/record_contract.py` and read the diff"


def test_answers_do_not_depend_on_the_process(probe_library: Path, recorded: dict[str, str]) -> None:
    """Another process, with other addresses, another locale and heap memory that is not zero, records the same."""
    environment = os.environ | {"MALLOC_PERTURB_": "165", "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1"}
    command = [sys.executable, str(Path(record_contract.__file__)), "--print", str(probe_library)]
    printed = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed == "".join(recorded[name] for name in sorted(recorded))
