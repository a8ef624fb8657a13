from __future__ import annotations

import os
from pathlib import Path

import pytest

from onnx_light_ort.host.library_errors import LibraryNotAllowedError, LibraryNotFoundError, LibraryPathError
from onnx_light_ort.host.library_path import library_allow_list, resolve_library_path, set_library_allow_list


@pytest.fixture
def library(tmp_path: Path) -> Path:
    file = tmp_path / "allowed" / "libplugin.so"
    file.parent.mkdir()
    file.write_bytes(b"\x7fELF")
    return file


def test_relative_path_is_refused_and_the_absolute_one_named(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(library.parent)
    with pytest.raises(LibraryPathError, match=f"pass {library}"):
        resolve_library_path("libplugin.so")


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFoundError, match="check the path"):
        resolve_library_path(tmp_path / "nothing.so")


def test_a_file_taken_for_a_folder_is_a_missing_file(library: Path) -> None:
    with pytest.raises(LibraryNotFoundError):
        resolve_library_path(library / "libinner.so")


def test_link_to_nowhere_is_refused_as_such(tmp_path: Path) -> None:
    link = tmp_path / "libdangling.so"
    link.symlink_to(tmp_path / "nothing.so")
    with pytest.raises(LibraryNotFoundError, match="a link to a file that does not exist"):
        resolve_library_path(link)


def test_loop_of_links_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "libloop.so"
    link.symlink_to(link)
    with pytest.raises(LibraryPathError, match="pass the path of a file"):
        resolve_library_path(link)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LibraryPathError, match="pass the path of the library file in it"):
        resolve_library_path(tmp_path)


def test_pipe_is_refused_without_being_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.so"
    os.mkfifo(pipe)
    with pytest.raises(LibraryPathError, match="not a regular file"):
        resolve_library_path(pipe)


def test_without_allow_list_links_are_followed(library: Path, tmp_path: Path) -> None:
    link = tmp_path / "liblink.so"
    link.symlink_to(library)
    assert resolve_library_path(link) == library.resolve()


def test_allowed_folder_covers_what_is_below_it(library: Path) -> None:
    set_library_allow_list([library.parent.parent])
    assert resolve_library_path(library) == library.resolve()


def test_allowed_file_covers_that_file_alone(library: Path) -> None:
    neighbour = library.with_name("libother.so")
    neighbour.write_bytes(b"\x7fELF")
    set_library_allow_list([library])
    assert resolve_library_path(library) == library.resolve()
    with pytest.raises(LibraryNotAllowedError, match="set_library_allow_list"):
        resolve_library_path(neighbour)


def test_folder_whose_name_starts_like_an_allowed_one_is_not_allowed(library: Path) -> None:
    other = library.parent.with_name("allowed_not") / library.name
    other.parent.mkdir()
    other.write_bytes(b"\x7fELF")
    set_library_allow_list([library.parent])
    with pytest.raises(LibraryNotAllowedError):
        resolve_library_path(other)


def test_link_that_leaves_the_allowed_folder_is_refused_and_named(library: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.so"
    outside.write_bytes(b"\x7fELF")
    link = library.with_name("libinnocent.so")
    link.symlink_to(outside)
    set_library_allow_list([library.parent])
    with pytest.raises(LibraryNotAllowedError, match=f"a link leads out of the allowed folders, to {outside}"):
        resolve_library_path(link)


def test_linked_folder_that_leaves_the_allowed_folder_is_refused(library: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lib.so").write_bytes(b"\x7fELF")
    (library.parent / "sub").symlink_to(outside)
    set_library_allow_list([library.parent])
    with pytest.raises(LibraryNotAllowedError, match="a link leads out"):
        resolve_library_path(library.parent / "sub" / "lib.so")


def test_dots_do_not_lead_out_of_the_allowed_folder(library: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.so").write_bytes(b"\x7fELF")
    set_library_allow_list([library.parent])
    with pytest.raises(LibraryNotAllowedError, match="does not cover it"):
        resolve_library_path(library.parent / ".." / "outside.so")


def test_link_inside_the_allowed_folder_is_followed(library: Path) -> None:
    link = library.with_name("liblatest.so")
    link.symlink_to(library.name)
    set_library_allow_list([library.parent])
    assert resolve_library_path(link) == library.resolve()


def test_an_allowed_folder_that_is_a_link_means_the_folder_it_leads_to(library: Path, tmp_path: Path) -> None:
    link = tmp_path / "plugins"
    link.symlink_to(library.parent)
    set_library_allow_list([link])
    assert resolve_library_path(link / library.name) == library.resolve()


def test_empty_allow_list_refuses_everything(library: Path) -> None:
    set_library_allow_list([])
    with pytest.raises(LibraryNotAllowedError, match="nothing"):
        resolve_library_path(library)


@pytest.mark.parametrize(
    ("entries", "error"), [(["plugins"], ValueError), (["/does/not/exist"], FileNotFoundError), ("/usr", ValueError)]
)
def test_bad_allow_list_leaves_the_one_in_force(library: Path, entries: list[str], error: type[Exception]) -> None:
    set_library_allow_list([library])
    with pytest.raises(error):
        set_library_allow_list(entries)
    assert library_allow_list() == (library.resolve(),)


@pytest.mark.parametrize(("name", "says"), [("nul\0byte.so", "null"), ("x" * 5000 + ".so", "too long")])
def test_path_that_the_system_cannot_take_is_refused(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(LibraryPathError, match=f"cannot be resolved .*{says}.*pass the path of a file"):
        resolve_library_path(tmp_path / name)
