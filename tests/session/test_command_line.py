"""``onnx-light-ort``: what holds for every subcommand, and the ``matrix`` subcommand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_light_ort.cli import main

COMMAND = [sys.executable, "-m", "onnx_light_ort.cli"]


@pytest.mark.parametrize("arguments", [["matrix", "--json"], ["matrix", "--help"], ["matrix"]])
def test_a_reader_that_goes_away_ends_the_command_without_a_traceback(arguments: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, env=environment
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    model = tmp_path / "m\u00fc.onnx"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    library = tmp_path / "libm\u00fc.so"
    source = "void f(void) {}"
    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
    done = subprocess.run([*COMMAND, "inspect", library], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (1, "")
    assert "libm\\xfc.so" in done.stdout
    done = subprocess.run([*COMMAND, "run", model], capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "m\\xfc.onnx" in done.stderr


def test_descriptions_keep_the_case_of_names(capsys: pytest.CaptureFixture[str]) -> None:
    for command, says in [
        ("matrix", "Tell what this host does with each profile and slot of the ABI, and which libraries ran on it."),
        ("demo", "ONNX"),
    ]:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert says in " ".join(capsys.readouterr().out.split())


def test_states_and_tables_are_matched_whatever_their_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--json", "--state", "REJECTED", "--table", "ortapi"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert {(row["state"], row["table"]) for row in rows} == {("rejected", "OrtApi")}


@pytest.mark.parametrize(("option", "lists"), [("--state", ("implemented", "deferred")), ("--table", ("OrtEpApi",))])
def test_unknown_state_or_table_is_wrong_usage_and_the_known_ones_are_listed(
    capsys: pytest.CaptureFixture[str], option: str, lists: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["matrix", option, "nonsense"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "'nonsense'" in error
    assert all(name in error for name in lists)
