"""Which paths a library is loaded from, and the caller's allow-list.

A library is loaded from an absolute path that the caller wrote, never from a search path and never because a model
names it. Links are resolved before the allow-list is asked, so that a link inside an allowed folder cannot lead out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from onnx_light_ort.host.library_errors import LibraryNotAllowedError, LibraryNotFoundError, LibraryPathError

_allow_list: tuple[Path, ...] | None = None


def set_library_allow_list(entries: Iterable[str | os.PathLike[str]] | None) -> None:
    """Limits the libraries that this process loads from now on to those files and folders.

    Each entry is an absolute path of an existing folder (everything below it is allowed) or file. Links in the
    entries are resolved now, not when a library is loaded. ``None`` lifts the limit; an empty list refuses every
    library. Libraries that are loaded already stay.

    Raises ``ValueError`` for a relative entry and ``FileNotFoundError`` for one that does not exist; the list in force
    stays as it was.
    """
    global _allow_list
    if entries is None:
        _allow_list = None
        return
    if isinstance(entries, (str, os.PathLike)):
        raise ValueError(f"the allow-list is a list of paths: pass [{os.fspath(entries)!r}]")
    resolved = []
    for entry in entries:
        path = Path(entry)
        if not path.is_absolute():
            raise ValueError(f"{path}: an entry of the allow-list is an absolute path; pass {path.absolute()}")
        resolved.append(path.resolve(strict=True))
    _allow_list = tuple(resolved)


def library_allow_list() -> tuple[Path, ...] | None:
    """The resolved entries in force, ``None`` where nothing limits the caller."""
    return _allow_list


def resolve_library_path(path: str | os.PathLike[str]) -> Path:
    """The regular file behind ``path``, links resolved, where the path rules and the allow-list accept it."""
    given = Path(path)
    if not given.is_absolute():
        raise LibraryPathError(
            given, f"a library is loaded from an absolute path only; pass {given.absolute()} if that is the one"
        )
    try:
        resolved = given.resolve(strict=True)
        mode = resolved.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        dangling = " (it is a link to a file that does not exist)" if given.is_symlink() else ""
        raise LibraryNotFoundError(given, f"there is no such file{dangling}; check the path") from None
    # RuntimeError: a loop of links, before Python 3.13. ValueError: a zero byte.
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LibraryPathError(
            given, f"the path cannot be resolved ({reason}); pass the path of a file that this process can reach"
        ) from error
    if stat.S_ISDIR(mode):
        raise LibraryPathError(given, "this is a folder; pass the path of the library file in it")
    if not stat.S_ISREG(mode):
        raise LibraryPathError(given, "this is not a regular file; pass the path of a library file")
    refusal = _allow_list_refusal(given, resolved)
    if refusal:
        raise LibraryNotAllowedError(given, refusal)
    return resolved


def open_library(given: Path, resolved: Path) -> BinaryIO:
    """Opens the file that :func:`resolve_library_path` found; ``LibraryPathError`` where the system refuses."""
    try:
        return resolved.open("rb")
    except OSError as error:
        raise unreadable(given, error) from error


def unreadable(given: Path, error: OSError) -> LibraryPathError:
    """What to raise for a library that the system does not let this process read."""
    return LibraryPathError(
        given,
        f"the file cannot be read ({error.strerror or error}); pass an ordinary file that this process has the "
        "permission to read",
    )


def _allow_list_refusal(given: Path, resolved: Path) -> str | None:
    if _allow_list is None or _is_allowed(resolved, _allow_list):
        return None
    # normpath, not resolve: what matters is where the path seemed to lie before its links were followed.
    if _is_allowed(Path(os.path.normpath(given)), _allow_list):
        return (
            f"it is allowed by its name but a link leads out of the allowed folders, to {resolved}; "
            "copy the file into an allowed folder or allow the place that the link leads to with "
            "onnx_light_ort.set_library_allow_list"
        )
    allowed = ", ".join(str(entry) for entry in _allow_list) or "nothing"
    return f"the allow-list ({allowed}) does not cover it; add its folder with onnx_light_ort.set_library_allow_list"


def _is_allowed(path: Path, entries: tuple[Path, ...]) -> bool:
    return any(path == entry or entry in path.parents for entry in entries)
