"""Pinning from the folders that releases come in, and what it refuses."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.header_parser import parse_headers
from codegen.model import Abi
from codegen.pin import load_pin, pin, provenance

Edit = Callable[[str, str, str], Path]


@pytest.mark.parametrize("folder", [".", "onnxruntime", "onnxruntime/core/session"])
def test_headers_are_found_below_the_include_folder(small_headers: Path, tmp_path: Path, folder: str) -> None:
    include = tmp_path / "release" / "include"
    (include / folder).parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(small_headers, include / folder, dirs_exist_ok=True)
    (include / folder / "onnxruntime_cxx_api.h").write_text("namespace Ort { class Unreadable; }\n")
    pin(include, 29, tmp_path / "headers", "v1.29.0")
    written = tmp_path / "headers" / "v29"
    assert sorted(path.name for path in written.iterdir()) == [
        "PIN.toml",
        "onnxruntime_c_api.h",
        "onnxruntime_ep_c_api.h",
        "onnxruntime_error_code.h",
    ]
    digest = hashlib.sha256((small_headers / "onnxruntime_c_api.h").read_bytes()).hexdigest()
    record = provenance(written)
    assert (record["api"], record["commit"]) == (29, "v1.29.0")
    assert record["sha256"]["onnxruntime_c_api.h"] == digest


def test_pinned_declarations_are_the_same_model(small_headers: Path, tmp_path: Path) -> None:
    pin(small_headers, 29, tmp_path / "headers", "none")
    pinned = load_pin(tmp_path / "headers" / "v29")
    upstream = parse_headers(small_headers)
    for name, struct in upstream.structs.items():
        for before, after in zip(struct.members, pinned.structs[name].members, strict=True):
            assert (before.name, before.type, before.function) == (after.name, after.type, after.function)
    assert pinned.enums == upstream.enums
    assert pinned.typedefs == upstream.typedefs
    assert (pinned.order, pinned.opaque) == (upstream.order, upstream.opaque)


def test_pinning_a_pin_changes_nothing(abi: Abi, newest_pin: Path, tmp_path: Path) -> None:
    pin(newest_pin, abi.api_version, tmp_path, "again")
    for header in newest_pin.glob("*.h"):
        assert (tmp_path / newest_pin.name / header.name).read_text() == header.read_text()


def test_documentation_stays_behind(small_headers: Path, tmp_path: Path) -> None:
    pin(small_headers, 29, tmp_path / "headers", "none")
    text = (tmp_path / "headers" / "v29" / "onnxruntime_ep_c_api.h").read_text()
    assert "What a plugin fills in" not in text
    assert "/* since 24 */\n  OrtStatusPtr (*Newer)(_In_ OrtEp* this_ptr);" in text


def test_newer_slots_are_left_out_and_named(edit: Edit, tmp_path: Path) -> None:
    folder = edit(
        "onnxruntime_ep_c_api.h",
        "  ORT_API2_STATUS(Newer, _In_ OrtEp* this_ptr);",
        "  ORT_API2_STATUS(Newer, _In_ OrtEp* this_ptr);\n"
        "  /** \\since Version 1.30. */\n  ORT_API2_STATUS(Newest, _In_ OrtEp* this_ptr);",
    )
    assert pin(folder, 29, tmp_path / "headers", "none") == [
        "left out, newer than version 29: OrtEp::Newest (since 30)"
    ]
    names = [member.name for member in load_pin(tmp_path / "headers" / "v29").structs["OrtEp"].members]
    assert names == ["ort_version_supported", "GetName", "Newer"]


def test_pin_records_repository_commit_and_version_of_the_headers(small_headers: Path, tmp_path: Path) -> None:
    root = small_headers / "onnxruntime_c_api.h"
    root.write_text(root.read_text().replace("ORT_API_VERSION 29", "ORT_API_VERSION 30"))
    pin(small_headers, 29, tmp_path, 'a "tag"', repository="https://example.org/fork")
    record = provenance(tmp_path / "v29")
    assert (record["repository"], record["commit"]) == ("https://example.org/fork", 'a "tag"')
    assert (record["api"], record["header_api_version"]) == (29, 30)


def test_older_slot_behind_a_newer_one_is_refused(edit: Edit, tmp_path: Path) -> None:
    folder = edit("onnxruntime_ep_c_api.h", "1.22. */\n  ORT_API_T", "1.30. */\n  ORT_API_T")
    with pytest.raises(CodegenError, match=r"onnxruntime_ep_c_api\.h:\d+: OrtEp::Newer: stands behind a member"):
        pin(folder, 29, tmp_path / "headers", "none")


def test_headers_older_than_the_version_are_refused(small_headers: Path, tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="these headers are of version 29; version 30 cannot be pinned"):
        pin(small_headers, 30, tmp_path / "headers", "none")
    assert not (tmp_path / "headers").exists()


def test_folder_without_headers_is_refused_saying_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="give the include folder of an ORT release"):
        pin(tmp_path, 29, tmp_path / "headers", "none")


def test_since_table_holds_against_a_comment_and_pinning_says_so(edit: Edit, tmp_path: Path) -> None:
    folder = edit(
        "onnxruntime_c_api.h",
        "  ORT_API2_STATUS(Later,",
        "  /** \\since Version 1.5. */\n  ORT_API2_STATUS(Later,",
    )
    (remark,) = pin(folder, 29, tmp_path / "headers", "none")
    assert remark.endswith("OrtApi::Later: its comment says version 5, codegen/since.toml says 1 and holds")
    assert load_pin(tmp_path / "headers" / "v29").structs["OrtApi"].members[7].since == 1


def test_byte_order_mark_is_no_part_of_a_header(small_headers: Path, tmp_path: Path) -> None:
    path = small_headers / "onnxruntime_c_api.h"
    path.write_text("\ufeff" + path.read_text(), encoding="utf-8")
    assert pin(small_headers, 29, tmp_path / "headers", "none") == []


def test_slot_without_a_comment_that_the_previous_pin_lacks_is_of_the_version_being_pinned(
    small_headers: Path, tmp_path: Path
) -> None:
    pin(small_headers, 29, tmp_path / "headers", "none")
    root = small_headers / "onnxruntime_c_api.h"
    root.write_text(root.read_text().replace("ORT_API_VERSION 29", "ORT_API_VERSION 31"))
    ep = small_headers / "onnxruntime_ep_c_api.h"
    ep.write_text(ep.read_text().replace("Newer, _In_ OrtEp* this_ptr);", "Newer, _In_ OrtEp* this_ptr);\nint last;"))
    pin(small_headers, 31, tmp_path / "headers", "none")
    members = load_pin(tmp_path / "headers" / "v31").structs["OrtEp"].members
    assert [(member.name, member.since) for member in members[-2:]] == [("Newer", 24), ("last", 31)]


THROW = "  ORT_API2_STATUS(Throw, int what);\n"


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_pinned_version_that_would_lose_a_slot_is_kept_unless_told_to_replace_it(edit: Edit, tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    folder = edit("onnxruntime_c_api.h", "ORT_API_VERSION 29", "ORT_API_VERSION  29")
    pin(folder, 29, headers, "first")
    before = _content(headers / "v29")
    edit("onnxruntime_c_api.h", THROW, "")
    with pytest.raises(CodegenError, match=r"c_api\.h:\d+: OrtApi::Throw: vanished; version 29 [\s\S]*give --replace"):
        pin(folder, 29, headers, "second")
    assert _content(headers / "v29") == before
    (headers / "v29" / "onnxruntime_left_over.h").write_text("\n")
    pin(folder, 29, headers, "second", replace=True)
    assert "Throw" not in [member.name for member in load_pin(headers / "v29").structs["OrtApi"].members]
    assert sorted(_content(headers / "v29")) == sorted(before)


def test_version_that_does_not_fit_before_the_next_pin_is_refused_unless_told_to_replace(
    edit: Edit, small_headers: Path, tmp_path: Path
) -> None:
    headers = tmp_path / "headers"
    edit("onnxruntime_c_api.h", "ORT_API_VERSION 29", "ORT_API_VERSION 30")
    pin(small_headers, 30, headers, "none")
    folder = edit("onnxruntime_c_api.h", "Throw, int what", "Throw, int64_t what")
    with pytest.raises(
        CodegenError, match=r"v30/onnxruntime_c_api\.h:\d+: OrtApi::Throw: changed[\s\S]*give --replace"
    ):
        pin(folder, 29, headers, "none")
    assert not (headers / "v29").exists()
    pin(folder, 29, headers, "none", replace=True)
    assert (headers / "v29").is_dir()


def test_break_of_an_older_pin_is_refused_even_when_replacing(edit: Edit, small_headers: Path, tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    pin(small_headers, 29, headers, "none")
    folder = edit("onnxruntime_c_api.h", "ORT_API_VERSION 29", "ORT_API_VERSION 30")
    pin(folder, 30, headers, "none")
    before = _content(headers / "v30")
    edit("onnxruntime_c_api.h", THROW, "")
    with pytest.raises(CodegenError, match=r"OrtApi::Throw: vanished; version 29"):
        pin(folder, 30, headers, "none", replace=True)
    assert _content(headers / "v30") == before


@pytest.mark.parametrize("name", ["../victim.h", "{tmp}/victim.h", "sub/victim.h", "PIN.toml", "..", "a.h.txt"])
def test_include_of_anything_but_a_bare_header_name_is_refused(small_headers: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "victim.h").write_text("struct OrtVictim;\n")
    name = name.format(tmp=tmp_path)
    root = small_headers / "onnxruntime_c_api.h"
    text = root.read_text()
    root.write_text(text + f'#include "{name}"\n')
    with pytest.raises(CodegenError, match=rf"c_api\.h:{text.count(chr(10)) + 1}: #include .*by their bare name"):
        pin(small_headers, 29, tmp_path / "headers", "none")
    assert (tmp_path / "victim.h").read_text() == "struct OrtVictim;\n"
    assert not (tmp_path / "headers").exists()


@pytest.mark.parametrize("api", [0, -1])
def test_version_below_one_is_refused(small_headers: Path, tmp_path: Path, api: int) -> None:
    with pytest.raises(CodegenError, match=f"{api} is no API version"):
        pin(small_headers, api, tmp_path / "headers", "none")
    assert not (tmp_path / "headers").exists()
