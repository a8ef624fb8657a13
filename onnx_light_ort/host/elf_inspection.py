"""What an ELF shared library declares, read from its file without running any of it.

Only what the dynamic linker itself goes by is read: the program headers and the dynamic segment. Section headers,
which a library may lack or which may tell another story, are used for nothing but to notice a truncated file.

Every registration reads its library here, since one that is damaged ends the process when it is loaded: over pyelftools
the same took 257 lines instead of 341, 2.3 MiB more memory and 20 ms more processor time in each process with a plugin.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

_ET_REL, _ET_EXEC, _ET_DYN = 1, 2, 3
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_NEEDED, _DT_PLTRELSZ, _DT_HASH, _DT_STRTAB, _DT_SYMTAB = 0, 1, 2, 4, 5, 6
_DT_RELA, _DT_RELASZ, _DT_STRSZ, _DT_INIT, _DT_SONAME, _DT_RPATH = 7, 8, 10, 12, 14, 15
_DT_REL, _DT_RELSZ, _DT_PLTREL, _DT_JMPREL, _DT_INIT_ARRAYSZ, _DT_RUNPATH = 17, 18, 20, 23, 27, 29
_DT_GNU_HASH, _DT_FLAGS_1 = 0x6FFFFEF5, 0x6FFFFFFB
_DF_1_NODELETE = 0x8
_DF_1_NODEFLIB = 0x800
_DF_1_PIE = 0x08000000
_STB_GNU_UNIQUE = 10
_BIND_LOCAL = 0
_SHN_UNDEF = 0
_TYPES = {0: "NOTYPE", 1: "OBJECT", 2: "FUNC", 3: "SECTION", 4: "FILE", 5: "COMMON", 6: "TLS", 10: "GNU_IFUNC"}
_MACHINES = {
    3: "386", 8: "MIPS", 20: "PPC", 21: "PPC64", 22: "S390", 40: "ARM", 43: "SPARCV9", 50: "IA_64", 62: "X86_64",
    183: "AARCH64", 243: "RISCV", 258: "LOONGARCH",
}  # fmt: skip


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


class _Header(NamedTuple):
    """Of the file: the fields that are read, whatever the word size."""

    type: int
    machine: int
    segments_offset: int
    sections_offset: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int


class _Segment(NamedTuple):
    type: int
    offset: int
    address: int
    size: int


class _Layout:
    """How the structures of a file are laid out: by its word size and byte order."""

    def __init__(self, identification: bytes) -> None:
        if len(identification) < 16 or identification[4] not in (1, 2) or identification[5] not in (1, 2):
            raise ElfFormatError("its ELF header is damaged; get an intact copy of the library")
        self.word_size = 32 * identification[4]
        self.byte_order = "little" if identification[5] == 1 else "big"
        order = "<" if self.byte_order == "little" else ">"
        self._wide = self.word_size == 64
        self.word = struct.Struct(order + ("Q" if self._wide else "I"))
        self.number = struct.Struct(order + "I")
        self.header = struct.Struct(order + ("HHIQQQIHHHHHH" if self._wide else "HHIIIIIHHHHHH"))
        self.segment = struct.Struct(order + ("IIQQQQQQ" if self._wide else "IIIIIIII"))
        self.dynamic = struct.Struct(order + ("QQ" if self._wide else "II"))
        self.symbol = struct.Struct(order + ("IBBHQQ" if self._wide else "IIIBBH"))
        self.relocation = struct.Struct(order + ("QQ" if self._wide else "II"))
        self.relocation_with_addend = struct.Struct(order + ("QQq" if self._wide else "IIi"))

    def read_header(self, data: bytes) -> _Header:
        fields = self.header.unpack_from(data, 16)
        return _Header(fields[0], fields[1], fields[4], fields[5], *fields[8:12])

    def read_segment(self, data: bytes, offset: int) -> _Segment:
        fields = self.segment.unpack_from(data, offset)
        kind, place, address, size = (0, 2, 3, 5) if self._wide else (0, 1, 2, 4)
        return _Segment(fields[kind], fields[place], fields[address], fields[size])

    def read_symbol(self, fields: tuple[int, ...]) -> tuple[int, int, int, int]:
        """Place of the name, info, visibility, section."""
        return (fields[0], *fields[1:4]) if self._wide else (fields[0], *fields[3:6])  # type: ignore[return-value]

    def symbol_of_relocation(self, info: int) -> int:
        return info >> (32 if self._wide else 8)


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
        # A damaged file fails in as many ways as there are fields in it: all of them mean the same to the caller.
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
        self._file.seek(0)
        start = self._file.read(64)
        self._layout = layout = _Layout(start)
        header = layout.read_header(start)
        if header.type != _ET_DYN:
            kinds = {_ET_REL: "an object file: link it with -shared", _ET_EXEC: "a program, not a shared library"}
            raise ElfFormatError(f"this is {kinds.get(header.type, 'not a shared library')}")
        segments = self._read_segments(header)
        self._loaded = [segment for segment in segments if segment.type == _PT_LOAD]
        self._check_extent(segment.offset + segment.size for segment in self._loaded)
        dynamic = next((segment for segment in segments if segment.type == _PT_DYNAMIC), None)
        if dynamic is None:
            raise ElfFormatError("it has no dynamic segment, so it is not a shared library; link it with -shared")
        self._tags = tags = self._read_tags(dynamic)
        self._strings = self._table(_DT_STRTAB, tags.get(_DT_STRSZ, [0])[0])
        flags_1 = tags.get(_DT_FLAGS_1, [0])[0]
        if flags_1 & _DF_1_PIE:
            raise ElfFormatError("this is a program, not a shared library; link it with -shared")
        return ElfDynamic(
            target=_target(layout, header),
            soname=next((self._string(offset) for offset in tags.get(_DT_SONAME, [])), None),
            needed=tuple(self._string(offset) for offset in tags.get(_DT_NEEDED, [])),
            rpath=self._folders(_DT_RPATH),
            runpath=self._folders(_DT_RUNPATH),
            stays_loaded=bool(flags_1 & _DF_1_NODELETE),
            ignores_default_folders=bool(flags_1 & _DF_1_NODEFLIB),
            initialisers=tags.get(_DT_INIT_ARRAYSZ, [0])[0] // layout.word.size + len(tags.get(_DT_INIT, [])),
        )

    def _read_tags(self, dynamic: _Segment) -> dict[int, list[int]]:
        tags: dict[int, list[int]] = {}
        entry = self._layout.dynamic
        data = self._read(dynamic.offset, dynamic.size // entry.size * entry.size)
        for tag, value in entry.iter_unpack(data):
            tags.setdefault(tag, []).append(value)
            if tag == _DT_NULL:
                break
        return tags

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

    def _read_segments(self, header: _Header) -> list[_Segment]:
        size = header.segment_count * header.segment_size
        self._check_extent(
            (header.segments_offset + size, header.sections_offset + header.section_count * header.section_size)
        )
        data = self._read(header.segments_offset, size)
        return [self._layout.read_segment(data, offset) for offset in range(0, size, max(1, header.segment_size))]

    def _check_extent(self, ends: Iterable[int]) -> None:
        # dlopen maps what the program headers promise; touching a page past the end of the file kills the process.
        end = max(ends, default=0)
        if end > self._size:
            raise ElfFormatError(
                f"the file is truncated: its headers promise {end} bytes and there are {self._size}; "
                "copy or download it again"
            )

    def _offset(self, tag: int) -> int | None:
        addresses = self._tags.get(tag)
        if not addresses:
            return None
        for segment in self._loaded:
            if segment.address <= addresses[0] < segment.address + segment.size:
                return segment.offset + addresses[0] - segment.address
        return None

    def _read(self, offset: int, size: int) -> bytes:
        if size > self._size:
            raise ElfFormatError(f"its dynamic segment describes a table of {size} bytes; get an intact copy")
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) != size:
            raise ElfFormatError("a table of its dynamic segment lies outside of the file; get an intact copy")
        return data

    def _table(self, tag: int, size: int) -> bytes:
        offset = self._offset(tag)
        return b"" if offset is None else self._read(offset, size)

    def _string(self, offset: int) -> str:
        return self._strings[offset : self._strings.index(b"\0", offset)].decode(errors="surrogateescape")

    def _folders(self, tag: int) -> tuple[str, ...]:
        return tuple(
            folder for offset in self._tags.get(tag, []) for folder in self._string(offset).split(":") if folder
        )

    def _read_symbols(self) -> ElfSymbols:
        layout = self._layout
        exports: dict[str, str] = {}
        imports: set[str] = set()
        unique: list[str] = []
        for fields in layout.symbol.iter_unpack(self._table(_DT_SYMTAB, layout.symbol.size * self._symbol_count())):
            name_offset, info, other, section = layout.read_symbol(fields)
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

    def _symbol_count(self) -> int:
        # No tag holds the length of the symbol table. The hash tables know the exported symbols, which come last, but
        # not the imported ones of a library that exports nothing: those are the ones that relocations name.
        layout = self._layout
        count = max(self._gnu_hashed_symbol_count(), self._hashed_symbol_count())
        for table, size_tag in ((_DT_RELA, _DT_RELASZ), (_DT_REL, _DT_RELSZ), (_DT_JMPREL, _DT_PLTRELSZ)):
            with_addend = table == _DT_RELA or (table == _DT_JMPREL and _DT_RELA in self._tags)
            if table == _DT_JMPREL and _DT_PLTREL in self._tags:
                with_addend = self._tags[_DT_PLTREL][0] == _DT_RELA
            entry = layout.relocation_with_addend if with_addend else layout.relocation
            for fields in entry.iter_unpack(self._table(table, self._tags.get(size_tag, [0])[0])):
                count = max(count, layout.symbol_of_relocation(fields[1]) + 1)
        return count

    def _hashed_symbol_count(self) -> int:
        """DT_HASH has a chain entry for each symbol."""
        offset = self._offset(_DT_HASH)
        return 0 if offset is None else self._numbers(offset, 2)[1]

    def _gnu_hashed_symbol_count(self) -> int:
        """DT_GNU_HASH has chains of symbols in the order of the table; the last one of a chain has an odd hash."""
        offset = self._offset(_DT_GNU_HASH)
        if offset is None:
            return 0
        bucket_count, first_hashed, bloom_words, _ = self._numbers(offset, 4)
        buckets_offset = offset + 16 + bloom_words * self._layout.word.size
        last = max(self._numbers(buckets_offset, bucket_count), default=0)
        if last < first_hashed:
            return first_hashed
        self._file.seek(buckets_offset + 4 * (bucket_count + last - first_hashed))
        number = self._layout.number
        while block := self._file.read(1 << 16):
            for (hashed,) in number.iter_unpack(block[: len(block) // number.size * number.size]):
                last += 1
                if hashed & 1:
                    return last
        raise ElfFormatError("its table of symbol hashes has no end; get an intact copy")

    def _numbers(self, offset: int, count: int) -> tuple[int, ...]:
        data = self._read(offset, 4 * count)
        return tuple(number for (number,) in self._layout.number.iter_unpack(data))


def _target(layout: _Layout, header: _Header) -> ElfTarget:
    machine = _MACHINES.get(header.machine, str(header.machine))
    return ElfTarget(layout.word_size, layout.byte_order, f"EM_{machine}")


@cache
def process_target() -> ElfTarget:
    """What a library has to be built for to be loaded into this process."""
    with Path("/proc/self/exe").open("rb") as file:
        start = file.read(64)
    layout = _Layout(start)
    return _target(layout, layout.read_header(start))
