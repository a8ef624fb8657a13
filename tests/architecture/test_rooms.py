"""Who may import, include and link what: the table of docs/architecture.md, enforced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

import onnx_light_ort

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "onnx_light_ort"


def imported_modules(path: Path) -> Iterator[str]:
    """The absolute names of what a file imports, whether at its top or inside a function."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (base, node.module or "") if part)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def violations(files: list[Path], forbidden: str) -> list[str]:
    pattern = re.compile(forbidden)
    return [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported_modules(path)
        if pattern.match(name)
    ]


def test_the_engine_imports_nothing_of_the_host() -> None:
    files = python_files(PACKAGE / "engine")
    assert len(files) > 5
    assert violations(files, r"onnx_light_ort\.(host|session|cli|_native\.abi)(\.|$)") == []


def test_nothing_but_the_real_ort_tests_and_benchmarks_imports_onnxruntime() -> None:
    files = [
        path
        for path in python_files(PACKAGE, ROOT / "codegen", ROOT / "tests", ROOT / "fixtures")
        if ROOT / "tests" / "ort" not in path.parents
    ]
    assert violations(files, r"onnxruntime(\.|$)") == []


def test_the_generator_imports_nothing_of_the_package() -> None:
    assert violations(python_files(ROOT / "codegen"), r"onnx_light_ort(\.|$)") == []


def test_the_engine_speaks_of_no_ort() -> None:
    # The names of ORT's types, not the word: the engine may say in prose that ORT does the same.
    ort_name = re.compile(r"\bOrt[A-Z]\w+|\bOrtApi|ort_abi")
    files = list((PACKAGE / "engine").rglob("*.py"))
    files += [*(PACKAGE / "_native" / "engine").iterdir(), *(ROOT / "kernels").rglob("*.[hc]*")]
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in files
        if path.is_file()
        for match in [ort_name.search(path.read_text())]
        if match
    ]
    assert found == []


# Folder -> the folders whose headers it may include, by the file names that only they hold.
MAY_INCLUDE = {
    "kernels": ["kernels"],
    "onnx_light_ort/_native/engine": ["onnx_light_ort/_native/engine", "kernels"],
    "onnx_light_ort/_native/platform": ["onnx_light_ort/_native/platform"],
    "reverse_plugin": ["reverse_plugin", "kernels", "generated"],
    "onnx_light_ort/_native/abi": [
        "onnx_light_ort/_native/abi",
        "onnx_light_ort/_native/engine",
        "kernels",
        "generated",
    ],
}


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_a_room_includes_only_what_it_may(folder: str) -> None:
    headers = {path.name for room in MAY_INCLUDE[folder] for path in (ROOT / room).rglob("*.*")}
    own = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
    system = re.compile(r"^\s*#\s*include\s*<(nanobind|Python|numpy)[/.]", re.MULTILINE)
    found = []
    for path in (ROOT / folder).rglob("*.[hc]*"):
        text = path.read_text()
        found += [f"{path.name} includes {name}" for name in own.findall(text) if Path(name).name not in headers]
        found += [f"{path.name} includes <{name}>" for name in system.findall(text)]
    assert found == []


def needed_libraries(path: Path) -> list[str]:
    with path.open("rb") as file:
        dynamic = ELFFile(file).get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        return [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]


def test_installed_libraries_need_only_the_c_and_cpp_runtime() -> None:
    installed = Path(onnx_light_ort.__file__).parent
    libraries = sorted(installed.rglob("*.so"))
    assert any(path.name.startswith("_native") for path in libraries)
    allowed = re.compile(r"(libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so|lib[au]?[bt]?san\.so")
    for library in libraries:
        assert [name for name in needed_libraries(library) if not allowed.match(name)] == [], library
