"""The library for a real ONNX Runtime, looked at from outside: what it exports, needs and imports, and that it is built
without anything of ONNX Runtime or of the host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from onnx_light_ort import reverse

ROOT = Path(__file__).resolve().parents[2]
EXPORTS = {"CreateEpFactories", "ReleaseEpFactory", "RegisterCustomOps"}


def symbols(path: Path) -> tuple[set[str], set[str]]:
    """The names that a library defines for others, and those that it wants of them."""
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)
        named = [symbol for symbol in table.iter_symbols() if symbol.name]
        defined = {symbol.name for symbol in named if symbol["st_shndx"] != "SHN_UNDEF"}
        return defined, {symbol.name for symbol in named} - defined


def test_it_exports_its_entry_points_and_nothing_else() -> None:
    assert symbols(Path(reverse.library_path()))[0] == EXPORTS


def test_it_imports_nothing_but_the_c_and_cpp_runtime() -> None:
    _, imported = symbols(Path(reverse.library_path()))
    assert [name for name in imported if re.search("Ort[A-Z]|onnx|^_?Py", name)] == []
    mangled = {name for name in imported if name.startswith("_Z")}
    # std:: and __cxxabiv1:: alone: no namespace of anybody else.
    assert [
        name for name in mangled if not re.match(r"_Z(N?K?S|T[ISV]|n[wa]|d[la]|St|NKSt|N10__cxxabiv1|SN?)", name)
    ] == []


def test_every_table_comes_from_the_base_that_an_entry_point_receives() -> None:
    for path in (ROOT / "reverse_plugin" / "src").iterdir():
        text = path.read_text()
        assert "OrtGetApiBase" not in text, path
        assert "dlsym" not in text, path


def test_every_callback_that_a_runtime_gets_lets_no_exception_out() -> None:
    callbacks = 0
    for path in (ROOT / "reverse_plugin" / "src").glob("*.cpp"):
        # Members of the C structs are assigned lambdas: "OrtEp::GetName = [](const OrtEp*) noexcept {".
        for signature in re.findall(r"\bOrt\w+::\w+ = \[\](\(.*?\)[^{]*)\{", path.read_text(), re.DOTALL):
            callbacks += 1
            assert signature.rstrip().endswith("noexcept"), f"{path.name}: {signature}"
    assert callbacks > 30


def test_the_domain_of_custom_operators_is_all_that_is_static() -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in (ROOT / "reverse_plugin" / "src").iterdir()
        for line in path.read_text().splitlines()
        if re.match(r"\s*static (?!.*\()", line) or "thread_local" in line
    ]
    assert len(found) == 2, found
    assert all(line.startswith("custom_ops.cpp: static std::") for line in found), found


# What each source may read of the runtime's tables: the EP exists since version 24, custom operators since 17. A slot
# that is newer is read behind a comparison with the version that was agreed on.
NEWEST_SLOT = {"ep.cpp": 24, "ep_factory.cpp": 24, "node_description.cpp": 24}
COMPARED = {
    "GetTensorElementTypeAndShapeDataReference": ("run_context.cpp", "api.version >= 24"),
    "KernelInfoGetAttributeArray_string": ("node_description.cpp", "api.version < 25"),
    "GetEpApi": ("api.cpp", "version >= 22"),
}


def test_no_slot_is_read_that_is_newer_than_the_oldest_version_served() -> None:
    abi = json.loads((ROOT / "generated" / "abi.json").read_text())
    since = {slot["name"]: slot["since"] for table in ("OrtApi", "OrtEpApi") for slot in abi["tables"][table]}
    read = 0
    for path in (ROOT / "reverse_plugin" / "src").iterdir():
        text = path.read_text()
        for name in re.findall(r"\b(?:api\.)?(?:ort|ep)->(\w+)", text):
            read += 1
            if name in COMPARED:
                file, comparison = COMPARED[name]
                assert path.name == file
                assert comparison in text
            else:
                assert since[name] <= NEWEST_SLOT.get(path.name, 17), f"{path.name} reads {name}"
    assert read > 50


def test_it_builds_alone(tmp_path: Path) -> None:
    """Without the host: its configuration finds no Python, and there is no file of ONNX Runtime to find."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    configured = subprocess.run(
        [
            "cmake",
            "-S",
            ROOT,
            "-B",
            tmp_path,
            "-G",
            "Ninja",
            "-DONNX_LIGHT_ORT_HOST=OFF",
            "-DONNX_LIGHT_ORT_REVERSE=ON",
        ],
        env={**os.environ, "PATH": tools},
        capture_output=True,
        text=True,
    )
    assert configured.returncode == 0, configured.stderr
    graph = (tmp_path / "build.ninja").read_text()
    assert "libonnx_light_reverse.so" in graph
    assert "_native" not in graph
    assert "nanobind" not in (tmp_path / "CMakeCache.txt").read_text()
    commands = re.findall(r"\s-I(\S+)", graph)
    assert {Path(folder) for folder in commands} == {ROOT / "generated" / "include", ROOT / "kernels" / "include"}


def test_a_missing_library_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reverse, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="ONNX_LIGHT_ORT_REVERSE=ON"):
        reverse.library_path()
