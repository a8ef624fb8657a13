"""What an ELF shared library declares, read from its file without running any of it.

Only what the dynamic linker itself goes by is read: the program headers and the dynamic segment. Section headers,
which a library may lack or which may tell another story, are used for nothing but to notice a truncated file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

_DF_1_NODELETE = 0x8
_DF_1_NODEFLIB = 0x800
_DF_1_PIE = 0x08000000
_STB_GNU_UNIQUE = 10
_BIND_LOCAL = 0
_SHN_UNDEF = 0
_TYPES = {0: "NOTYPE", 1: "OBJECT", 2: "FUNC", 3: "SECTION", 4: "FILE", 5: "COMMON", 6: "TLS", 10: "GNU_IFUNC"}


_T = TypeVar("_T")


class ElfFormatError(Exception):
    """The file is no intact ELF shared library; the message says what it is and what to do."""


@dataclass(frozen=True)
class ElfTarget:
    """The kind of process that can load the file: word size in bits, byte order and processor."""

    word_size: int
    byte_order: str
    machine: str

    def __str__(self) -> str:
        return f"{self.machine.removeprefix('EM_').lower()} ({self.word_size}-bit, {self.byte_order}-endian)"


@dataclass(frozen=True)
class ElfDynamic:
    """What the dynamic segment asks of the linker."""

    target: ElfTarget
    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    stays_loaded: bool
    """The library is marked so that dlclose never unmaps it (``-z nodelete``)."""
    ignores_default_folders: bool
    initialisers: int
    """Functions that run when the library is loaded, before any entry point is called."""


@dataclass(frozen=True)
class ElfSymbols:
    """The dynamic symbol table."""

    exports: dict[str, str]
    """Name of each exported symbol to its type: ``FUNC``, ``OBJECT``, ..."""
    imports: frozenset[str]
    unique: tuple[str, ...]
    """Exported symbols of which there is one in the whole process (``STB_GNU_UNIQUE``): they keep a library mapped."""


class ElfFile:
    """An open ELF shared library. Borrows ``file``, which has to stay open and seekable for as long as it is used."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        self.dynamic: ElfDynamic = self._guarded(self._read_dynamic)

    def symbols(self) -> ElfSymbols:
        return self._guarded(self._read_symbols)

    def mentions_symbol(self, name: str) -> bool:
        """Whether the name is in the dynamic string table at all: cheap to ask, and never a false no.

        Yes where a longer name ends in it, too: the linker lets both share the bytes, and no zero byte precedes it.
        """
        return name.encode() + b"\0" in self._strings

    def _guarded(self, read: Callable[[], _T]) -> _T:
        # A damaged file fails in as many ways as there are fields in it, and pyelftools passes most of them on as
        # the error of whatever stumbled: all of them mean the same to the caller.
        try:
            return read()
        except ElfFormatError:
            raise
        except Exception as error:
            raise ElfFormatError(
                f"its ELF structure is damaged ({type(error).__name__}: {error}); get an intact copy of the library"
            ) from error

    def _read_dynamic(self) -> ElfDynamic:
        self._check_magic()
        # Imported here: most processes never inspect a library, and the import takes longer than all of this module.
        from elftools.elf.elffile import ELFFile

        elf = ELFFile(self._file)
        self._elf = elf
        header = elf.header
        if header["e_type"] != "ET_DYN":
            kinds = {"ET_REL": "an object file: link it with -shared", "ET_EXEC": "a program, not a shared library"}
            raise ElfFormatError(f"this is {kinds.get(header['e_type'], 'not a shared library')}")
        segments = self._read_segments(cast(Mapping[str, int], header))
        self._loaded = [segment for segment in segments if segment["p_type"] == "PT_LOAD"]
        self._check_extent(segment["p_offset"] + segment["p_filesz"] for segment in self._loaded)
        dynamic = next((segment for segment in segments if segment["p_type"] == "PT_DYNAMIC"), None)
        if dynamic is None:
            raise ElfFormatError("it has no dynamic segment, so it is not a shared library; link it with -shared")
        tags: dict[str, list[int]] = {}
        entry_size = 2 * elf.elfclass // 8
        for offset in range(dynamic["p_offset"], dynamic["p_offset"] + dynamic["p_filesz"], entry_size):
            entry = self._parsed("Elf_Dyn", offset)
            tags.setdefault(str(entry["d_tag"]), []).append(entry["d_val"])
            if entry["d_tag"] == "DT_NULL":
                break
        self._tags = tags
        self._strings = self._table("DT_STRTAB", tags.get("DT_STRSZ", [0])[0])
        flags_1 = tags.get("DT_FLAGS_1", [0])[0]
        if flags_1 & _DF_1_PIE:
            raise ElfFormatError("this is a program, not a shared library; link it with -shared")
        word = elf.elfclass // 8
        return ElfDynamic(
            target=ElfTarget(elf.elfclass, "little" if elf.little_endian else "big", str(header["e_machine"])),
            soname=next((self._string(offset) for offset in tags.get("DT_SONAME", [])), None),
            needed=tuple(self._string(offset) for offset in tags.get("DT_NEEDED", [])),
            rpath=self._folders("DT_RPATH"),
            runpath=self._folders("DT_RUNPATH"),
            stays_loaded=bool(flags_1 & _DF_1_NODELETE),
            ignores_default_folders=bool(flags_1 & _DF_1_NODEFLIB),
            initialisers=tags.get("DT_INIT_ARRAYSZ", [0])[0] // word + len(tags.get("DT_INIT", [])),
        )

    def _check_magic(self) -> None:
        self._file.seek(0)
        magic = self._file.read(64)
        if magic[:4] == b"\x7fELF":
            return
        if magic[:2] == b"MZ":
            raise ElfFormatError("this is a Windows library; on this platform use the Linux build (.so)")
        if magic[:4] in (b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe"):
            raise ElfFormatError("this is a macOS library; on this platform use the Linux build (.so)")
        if not magic:
            raise ElfFormatError("the file is empty; get an intact copy of the library")
        kind = "a text file" if magic.isascii() else "not an ELF file"
        raise ElfFormatError(f"this is {kind}, not a shared library; pass the path of a Linux shared library (.so)")

    def _read_segments(self, header: Mapping[str, int]) -> list[Mapping[str, Any]]:
        """The program headers. By themselves: pyelftools would look through the sections for each dynamic segment."""
        offset, size, count = header["e_phoff"], header["e_phentsize"], header["e_phnum"]
        self._check_extent((offset + count * size, header["e_shoff"] + header["e_shnum"] * header["e_shentsize"]))
        return [self._parsed("Elf_Phdr", offset + size * index) for index in range(count)]

    def _check_extent(self, ends: Iterable[int]) -> None:
        # dlopen maps what the program headers promise; touching a page past the end of the file kills the process.
        end = max(ends, default=0)
        if end > self._size:
            raise ElfFormatError(
                f"the file is truncated: its headers promise {end} bytes and there are {self._size}; "
                "copy or download it again"
            )

    def _parsed(self, struct_name: str, offset: int) -> Mapping[str, Any]:
        from elftools.common.utils import struct_parse

        return cast(Mapping[str, Any], struct_parse(getattr(self._elf.structs, struct_name), self._file, offset))

    def _offset(self, tag: str) -> int | None:
        address = self._tags.get(tag, [None])[0]
        if address is None:
            return None
        for segment in self._loaded:
            if segment["p_vaddr"] <= address < segment["p_vaddr"] + segment["p_filesz"]:
                return int(segment["p_offset"] + address - segment["p_vaddr"])
        return None

    def _read(self, offset: int, size: int) -> bytes:
        if size > self._size:
            raise ElfFormatError(f"its dynamic segment describes a table of {size} bytes; get an intact copy")
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) != size:
            raise ElfFormatError("a table of its dynamic segment lies outside of the file; get an intact copy")
        return data

    def _table(self, tag: str, size: int) -> bytes:
        offset = self._offset(tag)
        return b"" if offset is None else self._read(offset, size)

    def _string(self, offset: int) -> str:
        return self._strings[offset : self._strings.index(b"\0", offset)].decode(errors="surrogateescape")

    def _folders(self, tag: str) -> tuple[str, ...]:
        return tuple(
            folder for offset in self._tags.get(tag, []) for folder in self._string(offset).split(":") if folder
        )

    def _read_symbols(self) -> ElfSymbols:
        order = "<" if self.dynamic.target.byte_order == "little" else ">"
        wide = self.dynamic.target.word_size == 64
        entry = struct.Struct(order + ("IBBHQQ" if wide else "IIIBBH"))
        exports: dict[str, str] = {}
        imports: set[str] = set()
        unique: list[str] = []
        for fields in entry.iter_unpack(self._table("DT_SYMTAB", entry.size * self._symbol_count(order, wide))):
            name_offset = fields[0]
            info, other, section = (fields[1], fields[2], fields[3]) if wide else (fields[3], fields[4], fields[5])
            binding = info >> 4
            if not name_offset or binding == _BIND_LOCAL:
                continue
            name = self._string(name_offset)
            if section == _SHN_UNDEF:
                imports.add(name)
            elif other & 3 in (0, 3):  # default or protected visibility: others can bind to it
                exports[name] = _TYPES.get(info & 15, str(info & 15))
                if binding == _STB_GNU_UNIQUE:
                    unique.append(name)
        return ElfSymbols(exports, frozenset(imports), tuple(unique))

    def _symbol_count(self, order: str, wide: bool) -> int:
        # No tag holds the length of the symbol table. The hash table knows the exported symbols, which come last, but
        # not the imported ones of a library that exports nothing: those are the ones that relocations name.
        count = self._hashed_symbol_count() if self._tags.keys() & {"DT_GNU_HASH", "DT_HASH"} else 0
        for table, size_tag in (("DT_RELA", "DT_RELASZ"), ("DT_REL", "DT_RELSZ"), ("DT_JMPREL", "DT_PLTRELSZ")):
            with_addend = table == "DT_RELA" or (table == "DT_JMPREL" and "DT_RELA" in self._tags)
            if table == "DT_JMPREL" and "DT_PLTREL" in self._tags:
                with_addend = self._tags["DT_PLTREL"][0] == 7
            entry = struct.Struct(order + ("QQ" if wide else "II") + (("q" if wide else "i") if with_addend else ""))
            data = self._table(table, self._tags.get(size_tag, [0])[0])
            shift = 32 if wide else 8
            for fields in entry.iter_unpack(data):
                count = max(count, (fields[1] >> shift) + 1)
        return count

    def _hashed_symbol_count(self) -> int:
        from elftools.elf.dynamic import DynamicSegment

        segment = next(s for s in self._elf.iter_segments() if isinstance(s, DynamicSegment))
        return int(segment.num_symbols())


@cache
def process_target() -> ElfTarget:
    """What a library has to be built for to be loaded into this process."""
    with Path("/proc/self/exe").open("rb") as file:
        from elftools.elf.elffile import ELFFile

        elf = ELFFile(file)
        return ElfTarget(elf.elfclass, "little" if elf.little_endian else "big", str(elf.header["e_machine"]))
