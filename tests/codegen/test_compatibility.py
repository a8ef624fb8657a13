"""A version may only append to the one before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.compatibility import compare
from codegen.errors import CodegenError
from codegen.header_parser import parse_headers
from codegen.pin import load_pin, pin

Edit = Callable[[str, str, str], Path]

THROW = "  ORT_API2_STATUS(Throw, int what);\n"
LATER = "  ORT_API2_STATUS(Later, _In_ const OrtValue* value, _Outptr_ OrtValue** out);\n"


@pytest.fixture
def next_version(edit: Edit, small_headers: Path, tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Pins version 29, then edits the headers into a version 30; returns their folder."""

    def run(file: str, old: str, new: str) -> Path:
        pin(small_headers, 29, tmp_path / "headers", "none")
        edit("onnxruntime_c_api.h", "ORT_API_VERSION 29", "ORT_API_VERSION 30")
        return edit(file, old, new)

    return run


@pytest.mark.parametrize(
    ("file", "old", "new", "slot", "reason"),
    [
        ("onnxruntime_c_api.h", THROW, "", "OrtApi::Throw", "vanished; version 29 has it at index 5, where Count"),
        ("onnxruntime_c_api.h", THROW, LATER.replace("Later", "Other") + THROW, "OrtApi::Throw", "moved from index 5"),
        (
            "onnxruntime_c_api.h",
            "Throw, int what",
            "Throw, int64_t what",
            "OrtApi::Throw",
            r"changed from 'OrtStatusPtr \(\*\)\(int\)' of version 29 to 'OrtStatusPtr \(\*\)\(int64_t\)'",
        ),
        ("onnxruntime_c_api.h", "Throw, int what", "Throw", "OrtApi::Throw", "changed from"),
        (
            "onnxruntime_ep_c_api.h",
            "  uint32_t ort_version_supported;",
            "  uint64_t ort_version_supported;",
            "OrtEp::ort_version_supported",
            "changed from 'uint32_t' of version 29 to 'uint64_t'",
        ),
        (
            "onnxruntime_error_code.h",
            "  ORT_FAIL,\n",
            "",
            "OrtErrorCode::ORT_FAIL",
            "was 1 in version 29 and is now g",
        ),
        ("onnxruntime_error_code.h", "ORT_NO_MODEL", "ORT_NO_MODEL = 99", "OrtErrorCode::ORT_NO_MODEL", "was 4"),
    ],
)
def test_break_is_refused_naming_file_line_and_slot(
    next_version: Edit, tmp_path: Path, file: str, old: str, new: str, slot: str, reason: str
) -> None:
    folder = next_version(file, old, new)
    with pytest.raises(CodegenError, match=rf"{file}:\d+: {slot}: {reason}"):
        pin(folder, 30, tmp_path / "headers", "none")
    assert not (tmp_path / "headers" / "v30").exists()


def test_generate_refuses_a_pinned_header_that_breaks_the_one_before(
    small_headers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = tmp_path / "headers"
    pin(small_headers, 29, headers, "none")
    broken = headers / "v30"
    broken.mkdir()
    for path in (headers / "v29").iterdir():
        text = path.read_text().replace("ORT_API_VERSION 29", "ORT_API_VERSION 30")
        (broken / path.name).write_text(text.replace("(*Throw)(int what)", "(*Throw)(bool what)"))
    line = (broken / "onnxruntime_c_api.h").read_text().split("(*Throw)")[0].count("\n") + 1
    assert main(["--headers", str(headers), "generate", "--output", str(tmp_path / "out")]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"codegen: {broken / 'onnxruntime_c_api.h'}:{line}: OrtApi::Throw: changed from")
    assert not (tmp_path / "out").exists()


def test_diff_names_every_slot_that_moved_vanished_or_changed(
    small_headers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = tmp_path / "headers"
    pin(small_headers, 29, headers, "none")
    path = small_headers / "onnxruntime_c_api.h"
    text = path.read_text().replace("Throw, int what", "Throw, bool what").replace("ORT_CLASS_RELEASE(Session);", "")
    path.write_text(text)
    pin(small_headers, 29, tmp_path / "other", "none")
    other = tmp_path / "other" / "v29"
    assert main(["--headers", str(headers), "diff", "29", str(other)]) == 1
    lines = capsys.readouterr().out.splitlines()
    slots = [line.split(": ")[1] for line in lines]
    assert slots == [
        "OrtApi::Throw",
        "OrtApi::ReleaseSession",
        "OrtApi::Number",
        "OrtApi::Missing",
        "OrtApi::GetTrainingApi",
        "OrtApi::GetEpApi",
    ]
    assert all(line.startswith("BREAKS ") for line in lines)


def test_diff_of_a_version_with_itself_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "v29", "29"]) == 0
    assert capsys.readouterr().out == ""


def test_appending_is_no_break_and_is_reported(next_version: Edit, tmp_path: Path) -> None:
    folder = next_version(
        "onnxruntime_ep_c_api.h",
        "  ORT_API2_STATUS(Newer, _In_ OrtEp* this_ptr);",
        "  ORT_API2_STATUS(Newer, _In_ OrtEp* this_ptr);\n  ORT_API_T(int, Newest, _In_ OrtEp* this_ptr);",
    )
    pin(folder, 30, tmp_path / "headers", "none")
    old, new = (load_pin(tmp_path / "headers" / f"v{version}") for version in (29, 30))
    (change,) = compare(old, new)
    assert (change.slot, change.text, change.breaks) == ("OrtEp::Newest", "added at index 3, since 30", False)


def test_break_of_a_type_stands_where_it_is_declared_and_what_vanished_where_it_was(
    small_headers: Path, tmp_path: Path
) -> None:
    path = small_headers / "onnxruntime_ep_c_api.h"
    text = path.read_text()
    before = (
        "typedef int (*OrtCall)(int a);\ntypedef int (*OrtGone)(int a);\n"
        "typedef enum OrtMode { OrtMode_A = 1 } OrtMode;\ntypedef enum OrtLost { OrtLost_A = 1 } OrtLost;\n"
        "typedef struct OrtPast { int a; } OrtPast;\n"
    )
    path.write_text(text + before)
    old = parse_headers(small_headers)
    path.write_text(text + "typedef enum OrtMode {\n  OrtMode_A = 2 } OrtMode;\ntypedef int (*OrtCall)(bool a);\n")
    new = parse_headers(small_headers)
    line = text.count("\n") + 1
    places = {change.slot: (change.file, change.line) for change in compare(old, new) if change.breaks}
    assert places == {
        "OrtMode::OrtMode_A": (str(path), line + 1),
        "OrtCall": (str(path), line + 2),
        "OrtGone": (str(path), line + 1),
        "OrtLost": (str(path), line + 3),
        "OrtPast": (str(path), line + 4),
    }
