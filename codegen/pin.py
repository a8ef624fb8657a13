"""Pins an ABI version: a release's own headers in, normalised declarations and their provenance out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from codegen.compatibility import refuse_breaks
from codegen.errors import CodegenError
from codegen.header_parser import EP_HEADER, ROOT_HEADER, parse_headers
from codegen.layout import lay_out
from codegen.model import Abi
from codegen.rendering import render
from codegen.since import SINCE_TABLE, complete_since
from codegen.toml_file import read_toml

# Where release archives, source trees and packages keep the headers, seen from their include folder.
_FOLDERS = ("", "onnxruntime", "onnxruntime/core/session")


UPSTREAM = "https://github.com/microsoft/onnxruntime"


def load_pin(folder: Path) -> Abi:
    """The model of a pinned version, `headers/vNN`."""
    abi = parse_headers(folder)
    lay_out(abi)
    return abi


def pinned_versions(headers: Path) -> dict[int, Path]:
    """The pinned versions, oldest first."""
    found = {int(path.name[1:]): path for path in headers.glob("v*") if path.name[1:].isdigit()}
    return dict(sorted(found.items()))


def previous_pin(headers: Path, api: int) -> Abi | None:
    """The newest pinned version older than `api`."""
    older = [path for version, path in pinned_versions(headers).items() if version < api]
    return load_pin(older[-1]) if older else None


def find_headers(include: Path) -> Path:
    """The folder below `include` that holds ORT's public C headers."""
    for folder in _FOLDERS:
        if (include / folder / ROOT_HEADER).is_file():
            return include / folder
    tried = ", ".join(str(include / folder) for folder in _FOLDERS)
    raise CodegenError(f"no {ROOT_HEADER} in {tried}; give the include folder of an ORT release", file=str(include))


def pin(
    include: Path,
    api: int,
    headers: Path,
    commit: str,
    since_table: Path = SINCE_TABLE,
    repository: str = UPSTREAM,
    replace: bool = False,
) -> list[str]:
    """Writes `headers/v<api>`; returns sentences on what was left out because it is newer, and on wrong comments.

    `commit` is the commit or tag of `repository` that the headers are of, for the record. Raises CodegenError for
    headers older than `api`, that do not parse, or that break the layout of a pinned version: of the previous one
    always, of the same or the next one unless `replace` says that those are to be pinned anew.
    """
    if api < 1:
        raise CodegenError(f"{api} is no API version; the first is 1", file=str(include))
    source = find_headers(include)
    abi = parse_headers(source)
    if abi.api_version < api:
        raise CodegenError(
            f"these headers are of version {abi.api_version}; version {api} cannot be pinned from them",
            file=str(source / ROOT_HEADER),
        )
    if EP_HEADER not in abi.files and (source / EP_HEADER).is_file():
        raise CodegenError(f"{ROOT_HEADER} does not include {EP_HEADER}", file=str(source / ROOT_HEADER))
    header_api_version, abi.api_version = abi.api_version, api
    previous = previous_pin(headers, api)
    remarks = complete_since(abi, previous, since_table)
    remarks += _cut(abi, api)
    lay_out(abi)
    if previous:
        refuse_breaks(previous, abi)
    folder = headers / f"v{api}"
    if not replace:
        _refuse_to_replace(abi, headers)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.h"):
        if path.name not in abi.files:
            path.unlink()
    for file in abi.files:
        (folder / file).write_text(render("pinned_header.h.j2", abi=abi, file=file), encoding="utf-8")
    digests = {file: hashlib.sha256((source / file).read_bytes()).hexdigest() for file in sorted(abi.files)}
    record = render(
        "PIN.toml.j2",
        api=api,
        repository=repository,
        commit=commit,
        header_api_version=header_api_version,
        digests=digests,
    )
    (folder / "PIN.toml").write_text(record, encoding="utf-8")
    return remarks


def _refuse_to_replace(abi: Abi, headers: Path) -> None:
    """Refuses a model that does not fit between what is pinned as the same version and as the next one."""
    pins = pinned_versions(headers)
    newer = [version for version in pins if version > abi.api_version]
    try:
        if abi.api_version in pins:
            refuse_breaks(load_pin(pins[abi.api_version]), abi)
        if newer:
            refuse_breaks(abi, load_pin(pins[newer[0]]))
    except CodegenError as error:
        error.message += "\ngive --replace where what is pinned is what is wrong"
        raise


def _cut(abi: Abi, api: int) -> list[str]:
    """Removes members that are newer than `api`; they must be at the end of their struct."""
    left_out: list[str] = []
    for struct in abi.structs.values():
        kept = [member for member in struct.members if (member.since or 0) <= api]
        newer = struct.members[len(kept) :]
        for position, member in enumerate(kept):
            if member.index != position:
                raise CodegenError(
                    f"stands behind a member that is newer than version {api}",
                    member.file,
                    member.line,
                    f"{struct.name}::{member.name}",
                )
        left_out += [
            f"left out, newer than version {api}: {struct.name}::{member.name} (since {member.since})"
            for member in newer
        ]
        struct.members = kept
    return left_out


def provenance(folder: Path) -> dict[str, Any]:
    """The content of a pin's PIN.toml."""
    return read_toml(folder / "PIN.toml")
