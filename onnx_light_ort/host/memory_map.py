"""What this process has mapped: the proof that a library came, or went."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from onnx_light_ort.host.ort_runtime import is_runtime_name

_MAPS = Path("/proc/self/maps")


@dataclass(frozen=True)
class FileIdentity:
    """Which file it is, whatever its name, and which content, as far as the file system tells without reading it."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, file: int | Path) -> FileIdentity:
        status = os.stat(file)
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@dataclass(frozen=True)
class Mapping:
    """One line of the memory map that has a file behind it. ``inode`` is the pair of device and number."""

    start: int
    inode: tuple[str, int]
    path: str


def file_mappings() -> Iterator[Mapping]:
    for line in _MAPS.read_text(errors="surrogateescape").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and fields[5].startswith("/"):
            path = fields[5].removesuffix(" (deleted)")
            yield Mapping(int(fields[0].split("-")[0], 16), (fields[3], int(fields[4])), path)


def mapped_inode(descriptor: int) -> tuple[str, int]:
    """The device and inode under which the memory map would list this file.

    They are asked of the kernel with a mapping of the file: on layered file systems they are not those of ``stat``.
    """
    with mmap.mmap(descriptor, 1, access=mmap.ACCESS_COPY) as mapping:
        byte = ctypes.c_char.from_buffer(mapping)
        address = ctypes.addressof(byte)
        del byte  # a mapping with a buffer over it cannot be closed
        return next(m.inode for m in file_mappings() if m.start == address)


def is_mapped(inode: tuple[str, int]) -> bool:
    """Whether a part of that file is mapped, whatever it is called by now."""
    return any(mapping.inode == inode for mapping in file_mappings())


def mapped_files() -> tuple[Path, ...]:
    """The files of which this process has a part mapped, each once."""
    return tuple(Path(path) for path in dict.fromkeys(mapping.path for mapping in file_mappings()))


def mapped_ort_runtimes() -> frozenset[Path]:
    """The ORT runtimes that this process has mapped, known by their names."""
    return frozenset(path for path in mapped_files() if is_runtime_name(path.name))
