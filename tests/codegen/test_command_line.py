"""The command line: what is committed is what would be generated, quickly, and staleness is told."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


def test_committed_files_are_those_that_would_be_generated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 0, capsys.readouterr().out


def test_everything_is_generated_within_ten_seconds(tmp_path: Path) -> None:
    begin = time.monotonic()
    subprocess.run([sys.executable, "-m", "codegen", "generate", "--output", str(tmp_path)], cwd=ROOT, check=True)
    assert time.monotonic() - begin < 10
    assert (tmp_path / "generated" / "abi.json").is_file()


def test_check_lists_stale_missing_and_stray_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--output", str(tmp_path)]) == 0
    assert main(["check", "--output", str(tmp_path)]) == 0
    capsys.readouterr()
    (tmp_path / "generated" / "abi.json").write_text("{}\n")
    (tmp_path / "generated" / "native" / "slots.h").unlink()
    (tmp_path / "generated" / "native" / "by_hand.cpp").write_text("\n")
    assert main(["check", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "stale: generated/abi.json",
        "stale: generated/native/slots.h",
        "stale: generated/native/by_hand.cpp",
    ]
    assert main(["generate", "--output", str(tmp_path)]) == 0
    assert not (tmp_path / "generated" / "native" / "by_hand.cpp").exists()
    assert main(["check", "--output", str(tmp_path)]) == 0


def test_generate_writes_only_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--output", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["generate", "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_pin_and_generate_work_from_a_copied_include_folder(tmp_path: Path, newest_pin: Path) -> None:
    include = tmp_path / "include"
    shutil.copytree(newest_pin, include)
    api = newest_pin.name[1:]
    headers = ["--headers", str(tmp_path / "headers")]
    assert main([*headers, "pin", "--include", str(include), "--api", api, "--commit", "copy"]) == 0
    assert main([*headers, "generate", "--output", str(tmp_path)]) == 0
    for path in (ROOT / "generated").rglob("*.h"):
        assert (tmp_path / path.relative_to(ROOT)).read_text() == path.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--headers", "{tmp}", "generate"], "no version is pinned; run `python -m codegen pin` first"),
        (["generate", "--api", "7"], "version 7 is not pinned; pinned are"),
        (["generate", "--api", "0"], "version 0 is not pinned; pinned are"),
        (["pin", "--include", "{tmp}", "--api", "0"], "0 is no API version"),
        (["diff", "29", "77"], "'77' is neither a pinned version nor a folder"),
        (["pin", "--include", "{tmp}", "--api", "29"], "give the include folder of an ORT release"),
    ],
)
def test_what_cannot_be_done_is_an_exit_code_and_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([argument.format(tmp=tmp_path) for argument in arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("codegen: ")
    assert message in error


@pytest.mark.parametrize("command", [[], ["pin"], ["generate"], ["check"], ["diff"]])
def test_help_explains_each_command(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    assert "usage: python -m codegen" in capsys.readouterr().out


def test_python_enums_have_the_headers_values() -> None:
    namespace: dict[str, object] = {}
    exec((ROOT / "generated" / "python" / "abi_enums.py").read_text(), namespace)
    error_code = namespace["OrtErrorCode"]
    assert error_code(9).name == "ORT_NOT_IMPLEMENTED"  # type: ignore[operator]
    reason = namespace["OrtDeviceEpIncompatibilityReason"]
    assert reason.OrtDeviceEpIncompatibility_UNKNOWN == -(2**31)  # type: ignore[attr-defined]
