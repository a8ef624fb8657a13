from __future__ import annotations

import io
import random
import struct
import subprocess
from pathlib import Path

import pytest

from onnx_light_ort.host.elf_inspection import ElfFile, ElfFormatError, ElfTarget, process_target

E_MACHINE = 18


def read(data: bytes) -> ElfFile:
    return ElfFile(io.BytesIO(data))


def nm(library: Path, *options: str) -> set[str]:
    out = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


@pytest.mark.parametrize("name", ["custom_ops", "throws", "no_entry_point", "gnu_unique", "static_importer"])
def test_exports_and_imports_are_those_that_nm_lists(plugins: Path, name: str) -> None:
    library = plugins / f"lib{name}.so"
    with library.open("rb") as file:
        symbols = ElfFile(file).symbols()
    assert set(symbols.exports) == nm(library, "--defined-only")
    assert set(symbols.imports) == nm(library, "-u")


def test_imports_are_found_in_a_library_that_exports_nothing(tmp_path: Path) -> None:
    source = tmp_path / "nothing.c"
    source.write_text("void elsewhere(void);\nstatic void __attribute__((constructor)) start(void) { elsewhere(); }\n")
    library = tmp_path / "libnothing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, source], check=True)
    with library.open("rb") as file:
        symbols = ElfFile(file).symbols()
    assert symbols.exports == {}
    assert "elsewhere" in symbols.imports


def test_target_of_a_library_built_here_is_that_of_the_process(plugins: Path) -> None:
    assert read((plugins / "libcustom_ops.so").read_bytes()).dynamic.target == process_target()


def test_flags_that_forbid_unloading_are_seen(plugins: Path) -> None:
    assert read((plugins / "libnodelete.so").read_bytes()).dynamic.stays_loaded
    assert not read((plugins / "libcustom_ops.so").read_bytes()).dynamic.stays_loaded
    assert read((plugins / "libgnu_unique.so").read_bytes()).symbols().unique
    assert not read((plugins / "libthrows.so").read_bytes()).symbols().unique


def test_initialisers_are_counted(plugins: Path) -> None:
    plain = read((plugins / "libcustom_ops.so").read_bytes()).dynamic.initialisers
    assert read((plugins / "libstatic_importer.so").read_bytes()).dynamic.initialisers == plain + 1


def test_other_machine_is_named(plugins: Path) -> None:
    data = bytearray((plugins / "libcustom_ops.so").read_bytes())
    struct.pack_into("<H", data, E_MACHINE, 183)
    assert read(bytes(data)).dynamic.target == ElfTarget(64, "little", "EM_AARCH64")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"#!/bin/sh\necho hello\n", "a text file"),
        (b"MZ\x90\x00" + bytes(100), "a Windows library"),
        (b"\xcf\xfa\xed\xfe" + bytes(100), "a macOS library"),
        (b"\x00\x01\x02\xff" * 40, "not an ELF file"),
        (b"\x7fELF", "damaged"),
    ],
)
def test_what_is_no_elf_file_is_named(data: bytes, says: str) -> None:
    with pytest.raises(ElfFormatError, match=says):
        read(data)


def test_program_and_object_file_are_no_libraries(plugins: Path, tmp_path: Path) -> None:
    with pytest.raises(ElfFormatError, match="a program"):
        read((plugins / "program").read_bytes())
    source = tmp_path / "object.c"
    source.write_text("int f(void) { return 1; }\n")
    subprocess.run(["cc", "-c", "-o", tmp_path / "object.o", source], check=True)
    with pytest.raises(ElfFormatError, match="an object file"):
        read((tmp_path / "object.o").read_bytes())


def test_every_truncation_is_noticed(plugins: Path) -> None:
    data = (plugins / "libcustom_ops.so").read_bytes()
    for length in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(ElfFormatError):
            read(data[:length])


def test_damaged_files_are_read_or_refused_but_never_anything_else(plugins: Path) -> None:
    intact = (plugins / "libthread_local_object.so").read_bytes()
    chance = random.Random(29)
    refused = 0
    for _ in range(400):
        data = bytearray(intact)
        for _ in range(chance.randint(1, 8)):
            # The headers and the dynamic tables are in the first half; damage elsewhere is not looked for.
            data[chance.randrange(len(data) // 2)] = chance.randrange(256)
        try:
            read(bytes(data)).symbols()
        except ElfFormatError:
            refused += 1
    assert refused > 20
