"""Thunks, stubs and fail-fast, compiled from the small ABI and called from C++."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SMALL_ABI = Path(__file__).parent / "small_abi"

SANITIZERS = ["-fsanitize=address,undefined"]

Compile = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def objects(
    small_root: Path, host_core: list[Path], compile_native: Compile, tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """The host of the small ABI, compiled."""
    folder = tmp_path_factory.mktemp("objects")
    tables = sorted((small_root / "generated" / "native").glob("*.cpp"))
    compiled = []
    for source in (*host_core, *tables, SMALL_ABI / "bodies.cpp"):
        compiled.append(folder / f"{source.stem}.o")
        compile_native([source], compiled[-1], small_root, [*SANITIZERS, "-fPIC", "-c"])
    return compiled


@pytest.fixture(scope="module")
def caller(
    small_root: Path, objects: list[Path], compile_native: Compile, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    program = tmp_path_factory.mktemp("caller") / "caller"
    compile_native([*objects, SMALL_ABI / "caller.cpp"], program, small_root, SANITIZERS)
    return program


@pytest.fixture(scope="module")
def facts(caller: Path) -> dict[str, list[str]]:
    """What the caller printed, by what it did."""
    result = subprocess.run([str(caller)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found: dict[str, list[str]] = {}
    for line in result.stdout.splitlines():
        name, _, fact = line.partition(": ")
        found.setdefault(name, []).append(fact)
    return found


def test_get_api_answers_accepted_versions_only(facts: dict[str, list[str]]) -> None:
    for flavour in ("plain", "trace", "strict"):
        assert facts[flavour] == ["29 answered 30 null 0 null"]
    assert facts["flavours share tables"] == ["no"]


def test_requested_versions_are_remembered(caller: Path) -> None:
    output = subprocess.run([str(caller)], capture_output=True, text=True, check=True).stdout
    assert "asked for: 29 30 0 29 30 0 29 30 0\n" in output


def test_version_string_is_major_minor_patch(facts: dict[str, list[str]]) -> None:
    assert facts["version string"] == ["1.29.0"]


def test_build_info_says_what_the_host_is_not(facts: dict[str, list[str]]) -> None:
    (build,) = facts["build"]
    assert build.startswith("onnx-light-ort 0.0.0")
    assert "not ONNX Runtime" in build


@pytest.mark.parametrize(
    ("thrown", "status"),
    [
        ("throw nothing", "ok"),
        ("throw abi::Error", "5 an error of the boundary"),
        ("throw kernels::Error", "2 an error of a kernel"),
        ("throw bad_alloc", "6 out of memory"),
        ("throw runtime_error", "6 a standard exception"),
        ("throw int", "1 an exception that is no std::exception was thrown inside the host"),
        ("throw not implemented", "9 not in this kernel"),
    ],
)
def test_exception_becomes_status(facts: dict[str, list[str]], thrown: str, status: str) -> None:
    assert facts[thrown] == [status]


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        ("null for a required parameter", "value"),
        ("null for a required output", "out"),
        ("null for a counted parameter", "sizes"),
    ],
)
def test_null_is_refused_naming_the_parameter(facts: dict[str, list[str]], call: str, parameter: str) -> None:
    assert facts[call] == [f"2 OrtApi::Count: parameter '{parameter}' must not be null"]


def test_null_with_count_zero_and_null_for_optional_reach_the_body(facts: dict[str, list[str]]) -> None:
    assert facts["null and count 0"] == ["ok"]
    assert facts["null for an optional parameter"] == ["ok"]
    assert facts["result"] == ["7", "1107"]


def test_nullability_table_overrules_the_annotation(facts: dict[str, list[str]]) -> None:
    assert facts["null message"] == ["1 "]


def test_stub_names_slot_and_profile(facts: dict[str, list[str]]) -> None:
    assert facts["deferred"] == ["9 OrtApi::Later is not implemented: it comes with the profile 'What comes later'"]
    assert facts["no line"] == ["9 OrtEpApi::UseEp is not implemented: no profile of this host uses it"]


def test_getter_returns_its_value_and_null_stub_null(facts: dict[str, list[str]]) -> None:
    assert facts["number"] == ["8"]
    assert facts["null stub"] == ["null"]


@pytest.mark.parametrize(
    ("call", "slot", "reason"),
    [
        ("null in a getter", "Number", "parameter 'value' must not be null"),
        ("exception in a getter", "Number", "negative numbers do not work here"),
        ("stub of a getter", "Missing", "it is not what this is for"),
        ("release of a stub", "ReleaseSession", "this host never made an object of this type"),
    ],
)
def test_slot_without_status_fails_fast(caller: Path, call: str, slot: str, reason: str) -> None:
    result = subprocess.run([str(caller), call], capture_output=True, text=True)
    assert result.returncode == -signal.SIGABRT
    expected = f"onnx-light-ort: OrtApi::{slot}: {reason}; the slot cannot report an error, so the process ends\n"
    assert result.stderr == expected


def test_listed_slot_without_body_does_not_link(
    small_root: Path, objects: list[Path], compile_native: Compile, tmp_path: Path
) -> None:
    bodies = tmp_path / "bodies.cpp"
    text = (SMALL_ABI / "bodies.cpp").read_text()
    bodies.write_text(re.sub(r"void OrtApiSlots::ReleaseValue.*", "", text))
    kept = [compiled for compiled in objects if compiled.stem != "bodies"]
    main = tmp_path / "main.cpp"
    main.write_text("int main() {}\n")
    compile_native([*kept, SMALL_ABI / "bodies.cpp", main], tmp_path / "complete", small_root, SANITIZERS)
    result = compile_native([*kept, bodies, main], tmp_path / "incomplete", small_root, SANITIZERS, check=False)
    assert result.returncode != 0
    assert "OrtApiSlots::ReleaseValue" in result.stderr


def test_body_of_unlisted_slot_does_not_compile(small_root: Path, compile_native: Compile, tmp_path: Path) -> None:
    body = tmp_path / "unlisted.cpp"
    body.write_text(
        '#include "slots.h"\nnamespace onnx_light_ort::abi {\n'
        "void OrtApiSlots::Later(const OrtValue*, OrtValue**) {}\n}\n"
    )
    result = compile_native([body], tmp_path / "unlisted.o", small_root, ["-c"], check=False)
    assert result.returncode != 0
    assert "Later" in result.stderr


def test_body_with_another_signature_does_not_compile(
    small_root: Path, compile_native: Compile, tmp_path: Path
) -> None:
    body = tmp_path / "other.cpp"
    body.write_text('#include "slots.h"\nnamespace onnx_light_ort::abi {\nvoid OrtApiSlots::Throw(unsigned) {}\n}\n')
    result = compile_native([body], tmp_path / "other.o", small_root, ["-c"], check=False)
    assert result.returncode != 0
    assert "Throw" in result.stderr
