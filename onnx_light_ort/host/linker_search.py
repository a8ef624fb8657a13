"""Where the dynamic linker of Linux (glibc) looks for a library that another one needs: ld.so(8), in its order."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from onnx_light_ort.host.elf_inspection import ElfDynamic

_CACHE_FILE = Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_HEADER = struct.Struct("=20sII20x")
_CACHE_ENTRY = struct.Struct("=iIIIQ")


def candidates(name: str, chain: list[tuple[Path, ElfDynamic]]) -> Iterator[tuple[Path, str]]:
    """Each place where the linker would look for ``name``, with the rule that leads there, first choice first.

    ``chain`` holds the library that needs it, then the one that needed that, up to the one given to dlopen.
    """
    needing = chain[0][1]
    if "/" in name:
        yield Path(_expand(name, chain[0][0])), "path in DT_NEEDED"
        return
    for folder, rule in _folders(chain):
        yield Path(folder) / name, rule
    if not needing.ignores_default_folders:
        for entry in cached_libraries().get(name, ()):
            yield entry, "ld.so.cache"
        for folder in _default_folders(needing):
            yield Path(folder) / name, "default folder"


def _folders(chain: list[tuple[Path, ElfDynamic]]) -> Iterator[tuple[str, str]]:
    if not chain[0][1].runpath:
        for path, dynamic in chain:
            if not dynamic.runpath:
                yield from ((_expand(folder, path), f"RPATH of {path.name}") for folder in dynamic.rpath)
    yield from ((folder, "LD_LIBRARY_PATH") for folder in _library_path())
    path, dynamic = chain[0]
    yield from ((_expand(folder, path), f"RUNPATH of {path.name}") for folder in dynamic.runpath)


def _expand(text: str, library: Path) -> str:
    for token, value in (("ORIGIN", str(library.parent)), ("LIB", "lib"), ("PLATFORM", os.uname().machine)):
        text = text.replace("${" + token + "}", value).replace("$" + token, value)
    return text


@cache
def _library_path() -> tuple[str, ...]:
    # The linker reads the variable once, when the process starts: what os.environ says by now does not count.
    for entry in Path("/proc/self/environ").read_bytes().split(b"\0"):
        if entry.startswith(b"LD_LIBRARY_PATH="):
            return tuple(os.fsdecode(folder) or "." for folder in entry[16:].replace(b";", b":").split(b":"))
    return ()


def _default_folders(dynamic: ElfDynamic) -> tuple[str, ...]:
    wide = "64" if dynamic.target.word_size == 64 else "32"
    triplet = f"{dynamic.target.machine.removeprefix('EM_').lower()}-linux-gnu"
    return (f"/lib/{triplet}", f"/usr/lib/{triplet}", f"/lib{wide}", f"/usr/lib{wide}", "/lib", "/usr/lib")


@cache
def cached_libraries() -> dict[str, tuple[Path, ...]]:
    """Name to files of ``/etc/ld.so.cache``; empty where the system has none."""
    try:
        data = _CACHE_FILE.read_bytes()
    except OSError:
        return {}
    start = data.find(_CACHE_MAGIC)
    if start < 0:
        return {}
    data = data[start:]
    _, count, _ = _CACHE_HEADER.unpack_from(data)
    found: dict[str, tuple[Path, ...]] = {}
    for index in range(count):
        _, key, value, _, _ = _CACHE_ENTRY.unpack_from(data, _CACHE_HEADER.size + index * _CACHE_ENTRY.size)
        name, file = (os.fsdecode(data[at : data.index(b"\0", at)]) for at in (key, value))
        found[name] = (*found.get(name, ()), Path(file))
    return found
