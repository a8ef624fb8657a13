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
