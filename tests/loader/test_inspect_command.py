from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from onnx_light_ort.cli import main
from onnx_light_ort.host.memory_map import mapped_files


def run(*arguments: str | Path) -> int:
    return main(["inspect", *map(str, arguments)])


def report(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, object]]:
    code = run(*arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_admitted_library_is_described_and_not_loaded(plugins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = report(capsys, plugins / "libcustom_ops.so", "--admission", "warn")
    assert code == 0
    assert found["admitted"] is True
    assert found["refused_because"] == []
    assert found["profiles"] == ["custom ops"]
    assert found["exports"] == {"RegisterCustomOps": "FUNC"}
    assert "not in the compatibility matrix" in str(found["warning"])
    assert plugins / "libcustom_ops.so" not in mapped_files()


def test_all_reasons_of_a_refusal_are_given(plugins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = report(capsys, plugins / "libneeds_runtime.so", "--admission", "audited")
    assert code == 1
    assert found["admitted"] is False
    reasons = found["refused_because"]
    assert isinstance(reasons, list)
    assert len(reasons) == 3
    for reason, says in zip(reasons, ["libonnxruntime", "pass bootstrap=True", "only audited"], strict=True):
        assert says in reason
        assert not reason.startswith(str(plugins))


def test_bootstrap_is_taken_into_account(plugins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, plugins / "libstatic_importer.so")[0] == 1
    code, found = report(capsys, plugins / "libstatic_importer.so", "--bootstrap")
    assert code == 0
    assert found["imports_api_base"] == ["libstatic_importer.so"]


def test_needed_libraries_are_listed_with_the_place_where_each_is_found(
    plugins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = report(capsys, plugins / "libcompanion_by_runpath.so")
    assert found["needs"] == [
        {
            "name": "libcompanion.so",
            "needed_by": "libcompanion_by_runpath.so",
            "file": str(plugins / "companions" / "libcompanion.so"),
            "found_by": "RUNPATH of libcompanion_by_runpath.so",
            "ort_runtime": None,
        }
    ]
    assert run(plugins / "libcompanion_missing.so") == 1
    assert re.search(r"needs +libcompanion\.so -> NOT FOUND", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nodelete", "never: linked with -z nodelete"),
        ("gnu_unique", "unlikely: 1 GNU unique symbol"),
        ("thread_local_object", "once the threads that used its thread-local objects have ended"),
        ("custom_ops", "nothing in the file forbids it"),
    ],
)
def test_terminal_report_says_whether_the_library_can_be_unloaded(
    plugins: Path, capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    run(plugins / f"lib{name}.so")
    assert says in capsys.readouterr().out


def test_terminal_report_names_the_runtime_and_the_refusal(plugins: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(plugins / "libneeds_runtime_through_another.so") == 1
    out = capsys.readouterr().out
    assert "ORT RUNTIME, by its name" in out
    assert re.search(r"admitted +no\n +- libmiddle\.so needs libonnxruntime\.so\.1", out)


def test_relative_path_is_taken_from_the_current_folder(
    plugins: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(plugins)
    code, found = report(capsys, "libcustom_ops.so")
    assert (code, found["path"]) == (0, str(plugins / "libcustom_ops.so"))


def test_library_of_another_machine_is_described_and_refused(
    plugins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = Path(shutil.copy(plugins / "libcustom_ops.so", tmp_path))
    data = bytearray(library.read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    library.write_bytes(data)
    code, found = report(capsys, library)
    assert (code, found["machine"], found["admitted"]) == (1, "aarch64", False)


def test_what_is_no_library_ends_with_a_sentence_and_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "notes.so"
    text.write_text("hello")
    assert run(text) == 2
    assert "a text file" in capsys.readouterr().err
    code, found = report(capsys, tmp_path / "nothing.so")
    assert code == 2
    assert found["admitted"] is False
    assert "there is no such file" in str(found["refused_because"])


def test_terminal_report_escapes_what_a_terminal_would_obey(
    plugins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "lib\x1b[2Jx\n  admitted   yes\u202e.so"
    library = Path(shutil.copy(plugins / "libno_entry_point.so", tmp_path / name))
    assert run(library) == 1
    out = capsys.readouterr().out
    assert "lib\\x1b[2Jx\\n  admitted   yes\\u202e.so" in out
    assert "\x1b" not in out
    assert "\n  admitted   yes" not in out
    assert run(tmp_path / "missing\x1b.so") == 2
    assert "missing\\x1b.so: there is no such file" in capsys.readouterr().err
