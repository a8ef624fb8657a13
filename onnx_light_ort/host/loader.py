"""Loading a plugin library: check, load, prove that what was loaded is what was checked, enter, unload."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from onnx_light_ort.host.api_base_bootstrap import bootstrap_file, refuse_other_provider
from onnx_light_ort.host.library_errors import (
    EntryPointError,
    LibraryChangedError,
    LibraryDependencyError,
    LibraryLoadError,
    LibraryProfileError,
    UnauditedLibraryWarning,
)
from onnx_light_ort.host.library_inspection import LibraryInspection, inspect_library, refusals
from onnx_light_ort.host.library_path import open_library, resolve_library_path
from onnx_light_ort.host.memory_map import FileIdentity, is_mapped, mapped_inode, mapped_ort_runtimes
from onnx_light_ort.host.profiles import CUSTOM_OPS, PLUGIN_EP
from onnx_light_ort.host.unload_report import UnloadReport, reasons_to_stay
from onnx_light_ort.support_matrix import version_ranges

if TYPE_CHECKING:
    from onnx_light_ort._native import abi


class LoadedLibrary:
    """A plugin library that passed all checks and is loaded. Made by :func:`load_library`.

    The library stays loaded until :meth:`close` was called (or the object is gone) and everything that came from it
    - custom ops, factories, kernels, compiled states - has been released: each of them holds a claim of its own.
    """

    def __init__(self, handle: abi.LibraryHandle, inspection: LibraryInspection, inode: tuple[str, int]) -> None:
        self._handle = handle
        self._inode = inode
        self.inspection = inspection

    @property
    def path(self) -> Path:
        """The file, links resolved."""
        return self.inspection.file

    @property
    def handle(self) -> abi.LibraryHandle:
        """The claim, for what is made from the library and has to keep it."""
        return self._handle

    def close(self) -> UnloadReport:
        """Drops this object's claim, and reports whether the library left the process. Calling it again is fine."""
        holders = self._handle.close()
        if not is_mapped(self._inode):
            return UnloadReport(True, ())
        others = self._handle.open_count(self.path)
        return UnloadReport(False, reasons_to_stay(self.inspection, holders=holders, other_claims=others))

    def __enter__(self) -> LoadedLibrary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def load_library(path: str | os.PathLike[str], *, bootstrap: bool = False) -> LoadedLibrary:
    """Loads the plugin library at an absolute path, after everything that can be known without running it was checked.

    The path rules and the allow-list (:func:`set_library_allow_list`), the format, the processor, the closure of needed
    libraries, the exports and the admission rule (:func:`set_admission`) are checked on the open file, in this order;
    then it is loaded with all symbols bound at once and visible to this host alone. ``bootstrap=True`` permits this
    host to provide ``OrtGetApiBase`` to the whole process where the library imports it. Loading runs the library's
    static initialisers: it is trusted code from there on.

    Raises a :class:`LibraryError` with nothing left loaded.
    """
    given = Path(path)
    resolved = resolve_library_path(given)
    with open_library(given, resolved) as file:
        checked = FileIdentity.of(file.fileno())
        inspection = inspect_library(given, resolved, file)
        for refusal in refusals(inspection, bootstrap=bootstrap):
            raise refusal
        admission = inspection.admission()
        if admission.warn:
            warnings.warn(
                f"{given}: loading a library that nobody audited on this host: {admission.reason}. Silence this with "
                'onnx_light_ort.set_admission("any"), or refuse such libraries with "audited"',
                UnauditedLibraryWarning,
                stacklevel=2,
            )
        inode = mapped_inode(file.fileno())
        runtimes = mapped_ort_runtimes()
        handle = _open(inspection)
        try:
            # The checks were made on the open file; dlopen opened the path again, since it takes nothing else without
            # losing the folder that $ORIGIN stands for.
            if not is_mapped(inode) or not checked == FileIdentity.of(file.fileno()) == FileIdentity.of(resolved):
                raise LibraryChangedError(
                    given,
                    "the file changed while it was loaded, or an earlier file of this name is still mapped; leave the "
                    "file alone, and load it in a new process",
                )
            if arrived := mapped_ort_runtimes() - runtimes:
                names = ", ".join(sorted(map(str, arrived)))
                raise LibraryDependencyError(
                    given,
                    f"loading it brought in an ORT runtime ({names}), which none of its declared dependencies names; "
                    "it is unloaded again. Do not use this library, or ask its author for a build without ORT",
                )
        except BaseException:
            handle.close()
            raise
    return LoadedLibrary(handle, inspection, inode)


def _open(inspection: LibraryInspection) -> abi.LibraryHandle:
    from onnx_light_ort._native import abi
    from onnx_light_ort.host import log_delivery

    log_delivery.start()
    bootstrap = None
    if inspection.imports_api_base:
        refuse_other_provider(inspection.path)
        bootstrap = bootstrap_file()
    try:
        return abi.LibraryHandle.open(inspection.file, bootstrap)
    except abi.LoadError as error:
        raise LibraryLoadError(
            inspection.path, f"the dynamic linker refused it ({error}); rebuild it so that all its symbols are found"
        ) from error


def call_register_custom_ops(library: LoadedLibrary, session_options: abi.SessionOptions) -> None:
    """Calls the library's ``RegisterCustomOps`` for those options.

    Where it returns an error status, throws, or never obtained an API that it asked for, the options are as they were
    before, and ``EntryPointError`` says what happened.
    """
    from onnx_light_ort._abi_enums import OrtErrorCode
    from onnx_light_ort._native import abi

    if CUSTOM_OPS not in library.inspection.fit.profiles:
        raise LibraryProfileError(
            library.inspection.path,
            f"it serves {' and '.join(library.inspection.fit.profiles)}, not custom ops; register it as a plugin EP",
        )
    outcome = abi.call_register_custom_ops(library.handle, session_options)
    if outcome.code != OrtErrorCode.ORT_OK:
        raise _entry_point_error(library, "RegisterCustomOps", outcome)


def call_create_ep_factories(
    library: LoadedLibrary, registration_name: str, hardware: Sequence[abi.HardwareDevice]
) -> abi.EpLibrary:
    """Calls the library's ``CreateEpFactories``, and asks the factories which of the hardware they use.

    Where a callback returns an error status, throws, or returns what the host cannot use, everything that was created
    is released, and ``EntryPointError`` says what happened.
    """
    from onnx_light_ort._abi_enums import OrtErrorCode
    from onnx_light_ort._native import abi

    if PLUGIN_EP not in library.inspection.fit.profiles:
        raise LibraryProfileError(
            library.inspection.path,
            f"it serves {' and '.join(library.inspection.fit.profiles)}, not execution providers; register it with "
            "SessionOptions.register_custom_ops_library",
        )
    path = str(library.inspection.path)
    registration = abi.register_ep_library(library.handle, registration_name, path, hardware)
    if registration.outcome.code != OrtErrorCode.ORT_OK:
        raise _entry_point_error(library, f"registration as {registration_name!r}", registration.outcome)
    return registration.library


def _entry_point_error(library: LoadedLibrary, what: str, outcome: abi.EntryPointOutcome) -> EntryPointError:
    from onnx_light_ort._abi_enums import OrtErrorCode
    from onnx_light_ort._native import abi

    accepted = abi.accepted_api_versions()
    refused = tuple(dict.fromkeys(version for version in outcome.requested_versions if version not in accepted))
    if refused:
        advice = (
            f"it asked GetApi for version {' and '.join(map(str, refused))}, and this host has "
            f"{version_ranges(accepted)}: use a build of the library for one of those"
        )
    else:
        advice = "see the library's documentation for what it needs"
    return EntryPointError(
        library.inspection.path,
        f"{what} failed with {OrtErrorCode(outcome.code).name}: {outcome.message}; nothing of it is "
        f"registered; {advice}",
        code=outcome.code,
        status_message=outcome.message,
        refused_versions=refused,
    )


def register_custom_ops_library(
    path: str | os.PathLike[str], session_options: abi.SessionOptions, *, bootstrap: bool = False
) -> LoadedLibrary:
    """Loads a custom-op library and registers its ops with those options: both happen, or neither.

    The returned library has to live as long as the options and every session made from them.
    """
    library = load_library(path, bootstrap=bootstrap)
    try:
        call_register_custom_ops(library, session_options)
    except BaseException:
        library.close()
        raise
    return library
