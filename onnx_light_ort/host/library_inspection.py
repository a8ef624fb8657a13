"""What is known of a plugin library before any of it runs, and everything that speaks against loading it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from onnx_light_ort.host.admission import Admission, decide_admission
from onnx_light_ort.host.dependency_closure import Dependency, dependency_closure, runtime_reason
from onnx_light_ort.host.elf_inspection import ElfDynamic, ElfFile, ElfFormatError, ElfSymbols, process_target
from onnx_light_ort.host.library_errors import (
    BootstrapRequiredError,
    LibraryDependencyError,
    LibraryError,
    LibraryFormatError,
    LibraryNotAdmittedError,
    LibraryProfileError,
)
from onnx_light_ort.host.library_path import unreadable
from onnx_light_ort.host.ort_runtime import API_BASE_EXPORT
from onnx_light_ort.host.profiles import ProfileFit, fit_profiles


@dataclass(frozen=True)
class LibraryInspection:
    """All that the file of a library and the files that it needs tell."""

    path: Path
    """As the caller named it."""
    file: Path
    """The file behind it, links resolved."""
    size: int
    sha256: str
    dynamic: ElfDynamic
    symbols: ElfSymbols
    dependencies: tuple[Dependency, ...]
    fit: ProfileFit
    runtime_reason: str | None
    """By what the library itself is an ORT runtime, ``None`` where it is none."""

    @property
    def imports_api_base(self) -> tuple[str, ...]:
        """The files that leave ``OrtGetApiBase`` to be bound: the library, or libraries that it needs."""
        own = (self.file.name,) if API_BASE_EXPORT in self.symbols.imports else ()
        return own + tuple(d.name for d in self.dependencies if d.imports_api_base)

    def admission(self) -> Admission:
        """What the admission rule in force says about it."""
        return decide_admission(self.sha256)


def inspect_library(path: Path, resolved: Path, file: BinaryIO) -> LibraryInspection:
    """Reads the open file of a library.

    ``LibraryFormatError`` where it is not an intact ELF shared library, ``LibraryPathError`` where it cannot be read.
    """
    try:
        return _inspect(path, resolved, file)
    except OSError as error:
        raise unreadable(path, error) from error


def _inspect(path: Path, resolved: Path, file: BinaryIO) -> LibraryInspection:
    file.seek(0)
    sha256 = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _sha256(file)
    try:
        elf = ElfFile(file)
        symbols = elf.symbols()
        runtime = runtime_reason(resolved, elf)
    except ElfFormatError as error:
        raise LibraryFormatError(path, str(error)) from error
    return LibraryInspection(
        path=path,
        file=resolved,
        size=file.seek(0, 2),
        sha256=sha256,
        dynamic=elf.dynamic,
        symbols=symbols,
        dependencies=dependency_closure(resolved, elf.dynamic),
        fit=fit_profiles(symbols.exports),
        runtime_reason=runtime,
    )


def _sha256(file: BinaryIO) -> str:
    digest = hashlib.sha256()  # Python 3.10 has no hashlib.file_digest
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def refusals(library: LibraryInspection, *, bootstrap: bool) -> Iterator[LibraryError]:
    """Every reason why the library is not loaded, the first to be mended first; nothing where it is loaded."""
    path, target = library.path, process_target()
    if library.dynamic.target != target:
        yield LibraryFormatError(
            path, f"it is built for {library.dynamic.target} and this process is {target}; use a build for {target}"
        )
    if library.runtime_reason:
        yield LibraryDependencyError(
            path, f"this is an ORT runtime ({library.runtime_reason}), not a plugin for one; pass the plugin's library"
        )
    for dependency in library.dependencies:
        if dependency.ort_runtime:
            yield LibraryDependencyError(
                path,
                f"{dependency.needed_by} needs {dependency.name}, an ORT runtime ({dependency.ort_runtime}), and this "
                "host never loads one; rebuild it against the headers alone, with the OrtApiBase that its entry point "
                "receives",
            )
        elif dependency.path is None:
            yield LibraryDependencyError(
                path,
                f"{dependency.needed_by} needs {dependency.name}, which is not found; install it, or put it where an "
                "RPATH or RUNPATH of the library or LD_LIBRARY_PATH leads",
            )
    if library.imports_api_base and not bootstrap:
        yield BootstrapRequiredError(
            path,
            f"{API_BASE_EXPORT} is imported by {' and '.join(library.imports_api_base)}; pass bootstrap=True to have "
            "this host provide it to the process, or rebuild the library to use the OrtApiBase that its entry point "
            "receives",
        )
    if library.fit.problem:
        yield LibraryProfileError(path, library.fit.problem)
    admission = library.admission()
    if not admission.admitted:
        yield LibraryNotAdmittedError(path, admission.reason)
