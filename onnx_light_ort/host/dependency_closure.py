"""Every library that loading one would bring in, found as the dynamic linker finds them, before it does."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain as joined
from pathlib import Path

from onnx_light_ort.host.elf_inspection import ElfDynamic, ElfFile, ElfFormatError
from onnx_light_ort.host.linker_search import candidates
from onnx_light_ort.host.memory_map import FileIdentity, mapped_files
from onnx_light_ort.host.ort_runtime import API_BASE_EXPORT, PROVIDER_HOST_IMPORT, is_runtime_name


@dataclass(frozen=True)
class Dependency:
    """One library of the closure."""

    name: str
    """As ``DT_NEEDED`` spells it."""
    needed_by: str
    path: Path | None
    """The file that the linker would take, ``None`` where it would find none."""
    found_by: str
    """The rule of the linker's search that leads to it."""
    ort_runtime: str | None
    """Why this is an ORT runtime, ``None`` where it is none."""
    imports_api_base: bool
    """It leaves ``OrtGetApiBase`` to be bound from elsewhere."""


def dependency_closure(library: Path, dynamic: ElfDynamic) -> tuple[Dependency, ...]:
    """The libraries that ``library`` needs, and those that they need, breadth first, each name once."""
    found: list[Dependency] = []
    seen: set[str] = set()
    queue = deque([[(library, dynamic)]])
    while queue:
        chain = queue.popleft()
        for name in chain[0][1].needed:
            if name in seen:
                continue
            seen.add(name)
            dependency, its_dynamic = _resolve(name, chain)
            found.append(dependency)
            # What an ORT runtime needs does not matter any more.
            if dependency.path and its_dynamic and not dependency.ort_runtime:
                queue.append([(dependency.path, its_dynamic), *chain])
    return tuple(found)


def _resolve(name: str, chain: list[tuple[Path, ElfDynamic]]) -> tuple[Dependency, ElfDynamic | None]:
    needed_by, needing = chain[0][0].name, chain[0][1]
    by_name = "by its name" if is_runtime_name(name.rsplit("/", 1)[-1]) else None
    mapped = mapped_files()
    by_file_name = _already_loaded(name, [path for path in mapped if path.name == name])
    # To read the sonames of all takes long, and where the search finds no file they are all that is left.
    for path, rule in joined(by_file_name, candidates(name, chain), _already_loaded(name, mapped)):
        try:
            read = _read(path)
        except (OSError, ElfFormatError):
            continue
        # The linker, too, passes over files of another processor and goes on looking.
        if read.dynamic.target == needing.target:
            runtime = by_name or read.ort_runtime
            return Dependency(name, needed_by, path, rule, runtime, read.imports_api_base), read.dynamic
    return Dependency(name, needed_by, None, "not found", by_name, False), None


@dataclass(frozen=True)
class _Read:
    """What the file of a dependency says."""

    dynamic: ElfDynamic
    ort_runtime: str | None
    imports_api_base: bool


#: Most libraries need the same few of the system, each of which takes milliseconds to read.
_files_read: dict[tuple[Path, FileIdentity], _Read] = {}


def _read(path: Path) -> _Read:
    """Reads a file, or remembers what it said: one that changed, or has another name, is read again."""
    with path.open("rb") as file:
        key = (path.resolve(), FileIdentity.of(file.fileno()))
        read = _files_read.get(key)
        if read is None:
            elf = ElfFile(file)
            read = _files_read[key] = _Read(elf.dynamic, runtime_reason(path, elf), _imports_api_base(elf))
    return read


def _already_loaded(name: str, mapped: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    # The linker takes a library that it has loaded under that name, or with that soname, without looking for a file.
    for path in mapped:
        with suppress(OSError, ElfFormatError):
            if (_read(path).dynamic.soname or path.name) == name:
                yield path, "already loaded"


def runtime_reason(path: Path, elf: ElfFile) -> str | None:
    """By what this file is recognised as an ORT runtime, ``None`` where it is none."""
    for label, name in (("the file's name", path.resolve().name), ("its soname", elf.dynamic.soname or "")):
        if is_runtime_name(name):
            return f"by {label}, {name}"
    if elf.mentions_symbol(API_BASE_EXPORT) and API_BASE_EXPORT in elf.symbols().exports:
        return f"it exports {API_BASE_EXPORT}"
    if elf.mentions_symbol(PROVIDER_HOST_IMPORT) and PROVIDER_HOST_IMPORT in elf.symbols().imports:
        return f"it imports {PROVIDER_HOST_IMPORT}, as the providers that are built with ORT do"
    return None


def _imports_api_base(elf: ElfFile) -> bool:
    return elf.mentions_symbol(API_BASE_EXPORT) and API_BASE_EXPORT in elf.symbols().imports
