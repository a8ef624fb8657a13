"""What can go wrong between the path of a plugin library and its running entry point.

Every exception here is raised with nothing of the library left loaded or registered, and its message ends with what
to do about it.
"""

from __future__ import annotations

from pathlib import Path

from onnx_light_ort.errors import Fail


class LibraryError(Fail):
    """Base of all errors of finding, checking, loading and entering a plugin library; what ORT reports as ``Fail``.

    ``path`` is the library as the caller named it.
    """

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class LibraryPathError(LibraryError, ValueError):
    """The path is not one that a library is loaded from: relative, a folder, a device, unreadable."""


class LibraryNotFoundError(LibraryError, FileNotFoundError):
    """Nothing is at the path, or a link on the way leads nowhere."""


class LibraryNotAllowedError(LibraryError, PermissionError):
    """The file is outside the caller's allow-list, or a link leaves it."""


class LibraryFormatError(LibraryError):
    """The file is not a shared library of this machine: another format, another processor, damaged."""


class LibraryDependencyError(LibraryError):
    """A library that it needs is an ORT runtime, or is not found."""


class BootstrapRequiredError(LibraryError):
    """It imports ``OrtGetApiBase`` and the caller did not ask for the bootstrap that would provide it."""


class BootstrapConflictError(LibraryError):
    """Another library of this process already provides ``OrtGetApiBase`` to everyone."""


class LibraryProfileError(LibraryError):
    """Its exports fit no profile that this host serves."""


class LibraryNotAdmittedError(LibraryError, PermissionError):
    """The admission rule refuses it."""


class LibraryLoadError(LibraryError):
    """The platform's loader refused it."""


class LibraryChangedError(LibraryError):
    """The file that was loaded is not the one that was checked."""


class EntryPointError(LibraryError):
    """The entry point returned an error status, threw, or never obtained an API.

    ``code`` is the ``OrtErrorCode`` of the status, ``ORT_FAIL`` (1) where there was none; ``status_message`` is the
    plugin's own text; ``refused_versions`` are the API versions that it asked for and that this host does not have.
    """

    def __init__(
        self, path: Path, message: str, *, code: int, status_message: str, refused_versions: tuple[int, ...]
    ) -> None:
        super().__init__(path, message)
        self.code = code
        self.status_message = status_message
        self.refused_versions = refused_versions


class UnauditedLibraryWarning(UserWarning):
    """A library was loaded that the compatibility matrix does not list as audited."""
