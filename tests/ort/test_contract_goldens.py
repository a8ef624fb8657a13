"""The goldens of the contract probe are what the real ORT answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from contract_probe.probe_library import GOLDENS

RECORDER = Path(__file__).parent / "record_contract.py"


def recorded_with(fixtures_dir: Path, folder: Path, environment: dict[str, str]) -> dict[str, str]:
    library = fixtures_dir / "contract_probe" / "libcontract_probe.so"
    command = [sys.executable, RECORDER, "--library", library, "--output", folder]
    subprocess.run(list(map(str, command)), env=os.environ | environment, check=True)
    return golden_files(folder)


def golden_files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.json"))}


@pytest.fixture(scope="session")
def recorded(fixtures_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return recorded_with(fixtures_dir, tmp_path_factory.mktemp("recorded"), {})


def test_there_is_a_golden_file_for_each_group(recorded: dict[str, str]) -> None:
    assert sorted(recorded) == sorted(golden_files(GOLDENS))


@pytest.mark.parametrize("name", sorted(golden_files(GOLDENS)))
def test_golden_is_what_ort_answers(name: str, recorded: dict[str, str]) -> None:
    assert recorded[name] == (GOLDENS / name).read_text(), "run tests/ort/record_contract.py and read the difference"


def test_answers_do_not_depend_on_the_process(fixtures_dir: Path, tmp_path: Path, recorded: dict[str, str]) -> None:
    """Other addresses, another locale and time zone, and fresh memory that is not zero change nothing."""
    environment = {"MALLOC_PERTURB_": "165", "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1"}
    assert recorded_with(fixtures_dir, tmp_path, environment) == recorded
