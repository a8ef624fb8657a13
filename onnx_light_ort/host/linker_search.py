"""Where the dynamic linker of Linux (glibc) looks for a library that another one needs: ld.so(8), in its order."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from onnx_light_ort.host.elf_inspection import ElfDynamic

_CACHE_FILE = Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_HEADER = struct.Struct("=20sII20x")
_CACHE_ENTRY = struct.Struct("=iIIIQ")
_PROCESSOR_FILE = Path("/proc/cpuinfo")
_PROCESSOR_LEVELS = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}
"""By the names that Linux gives the features."""


def candidates(name: str, chain: list[tuple[Path, ElfDynamic]]) -> Iterator[tuple[Path, str]]:
    """Each place where the linker would look for ``name``, with the rule that leads there, first choice first.

    ``chain`` holds the library that needs it, then the one that needed that, up to the one given to dlopen.
    """
    needing = chain[0][1]
    if "/" in name:
        for path in _expand(name, *chain[0]):
            yield Path(path), "path in DT_NEEDED"
        return
    for folder, rule in _folders(chain):
        for variant in _variants(folder):
            yield variant / name, rule
    if not needing.ignores_default_folders:
        for entry in _by_processor_level(cached_libraries().get(name, ())):
            yield entry, "ld.so.cache"
        for folder in _default_folders(needing):
            for variant in _variants(folder):
                yield variant / name, "default folder"


def _folders(chain: list[tuple[Path, ElfDynamic]]) -> Iterator[tuple[str, str]]:
    if not chain[0][1].runpath:
        for path, dynamic in chain:
            if not dynamic.runpath:
                for entry in dynamic.rpath:
                    yield from ((folder, f"RPATH of {path.name}") for folder in _expand(entry, path, dynamic))
    # There $ORIGIN is the folder of the program.
    program = Path("/proc/self/exe").resolve()
    for entry in _library_path():
        yield from ((folder, "LD_LIBRARY_PATH") for folder in _expand(entry, program, chain[0][1]))
    path, dynamic = chain[0]
    for entry in dynamic.runpath:
        yield from ((folder, f"RUNPATH of {path.name}") for folder in _expand(entry, path, dynamic))


def _expand(text: str, library: Path, dynamic: ElfDynamic) -> tuple[str, ...]:
    """The paths that ``text`` may mean: more than one where it has ``$LIB``, which each build of the linker fixes."""
    for token, value in (("ORIGIN", str(library.parent)), ("PLATFORM", os.uname().machine)):
        text = _replace(text, token, value)
    names = (f"lib/{_triplet(dynamic)}", "lib64" if dynamic.target.word_size == 64 else "lib32", "lib")
    return tuple(dict.fromkeys(_replace(text, "LIB", name) for name in names))


def _replace(text: str, token: str, value: str) -> str:
    return text.replace("${" + token + "}", value).replace("$" + token, value)


def _variants(folder: str) -> Iterator[Path]:
    """The folder, after those below it that hold builds for the better of the processors that this one is."""
    yield from (Path(folder) / "glibc-hwcaps" / level for level in processor_levels())
    yield Path(folder)


def _by_processor_level(files: Iterable[Path]) -> list[Path]:
    """Files of the cache, builds for better processors first and without those that this one cannot run."""
    ranks = {level: rank for rank, level in enumerate(processor_levels())}
    ranked = []
    for file in files:
        level = file.parent.name if file.parent.parent.name == "glibc-hwcaps" else None
        if level is None or level in ranks:
            ranked.append((len(ranks) if level is None else ranks[level], file))
    return [file for _, file in sorted(ranked, key=lambda entry: entry[0])]


@cache
def processor_levels() -> tuple[str, ...]:
    """The levels of the x86-64 psABI above the first that this processor reaches, highest first; none elsewhere."""
    try:
        lines = _PROCESSOR_FILE.read_text(errors="replace").splitlines()
    except OSError:
        return ()
    features = next((set(line.split(":", 1)[1].split()) for line in lines if line.startswith("flags")), set())
    reached: list[str] = []
    for level, needs in _PROCESSOR_LEVELS.items():
        if not features.issuperset(needs.split()):
            break
        reached.insert(0, level)
    return tuple(reached)


@cache
def _library_path() -> tuple[str, ...]:
    # The linker reads the variable once, when the process starts: what os.environ says by now does not count.
    for entry in Path("/proc/self/environ").read_bytes().split(b"\0"):
        if entry.startswith(b"LD_LIBRARY_PATH="):
            value = entry[16:].replace(b";", b":")
            # An empty entry means the current folder, but an empty variable means nothing at all.
            return tuple(os.fsdecode(folder) or "." for folder in value.split(b":")) if value else ()
    return ()


def _triplet(dynamic: ElfDynamic) -> str:
    return f"{dynamic.target.machine.removeprefix('EM_').lower()}-linux-gnu"


def _default_folders(dynamic: ElfDynamic) -> tuple[str, ...]:
    wide = "64" if dynamic.target.word_size == 64 else "32"
    triplet = _triplet(dynamic)
    return (f"/lib/{triplet}", f"/usr/lib/{triplet}", f"/lib{wide}", f"/usr/lib{wide}", "/lib", "/usr/lib")


@cache
def cached_libraries() -> dict[str, tuple[Path, ...]]:
    """Name to files of ``/etc/ld.so.cache``; empty where the system has none, or a damaged one."""
    try:
        return _parse_cache(_CACHE_FILE.read_bytes())
    except (OSError, struct.error, ValueError):
        return {}


def _parse_cache(data: bytes) -> dict[str, tuple[Path, ...]]:
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
