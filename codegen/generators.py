"""One generator per file that is rendered from the model; each names the path that it writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.model import Abi, Member, Struct
from codegen.nullability import NULLABILITY_TABLE, Nullability
from codegen.ownership import OWNERSHIP_TABLE, complete_ownership
from codegen.preprocessor import PLAIN_ANNOTATIONS, SIZED_ANNOTATIONS
from codegen.rendering import render
from codegen.support import SUPPORT_TABLE, SupportTable


@dataclass(frozen=True)
class Tables:
    """The hand-kept tables beside the model."""

    support: Path = SUPPORT_TABLE
    nullability: Path = NULLABILITY_TABLE
    ownership: Path = OWNERSHIP_TABLE


def generate(abi: Abi, tables: Tables | None = None) -> dict[str, str]:
    """Everything that follows from the model: path relative to the root of the project, and text."""
    tables = tables or Tables()
    complete_ownership(abi, tables.ownership)
    support = SupportTable(abi, tables.support)
    nullability = Nullability(abi, tables.nullability)
    files = dict(
        [
            abi_json(abi),
            c_header(abi),
            *forwarding_headers(abi),
            slots_header(abi, support),
            slot_list(abi, support),
            tables_header(abi),
            *(table_source(abi, struct, support, nullability) for struct in abi.host_tables),
            version_gates(abi),
            python_enums(abi),
            support_matrix_json(support),
            support_matrix_page(abi, support),
        ]
    )
    return {path: text.rstrip("\n") + "\n" for path, text in files.items()}


def _one_entry_a_line(value: Any, indent: str = "") -> str:
    """JSON in which what fits a line is on one, so that a diff shows whole slots."""
    line = json.dumps(value)
    inner = indent + " "
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        items = (inner + json.dumps(item) for item in value)
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    if isinstance(value, dict) and len(line) > 120:
        items = (f"{inner}{json.dumps(key)}: {_one_entry_a_line(item, inner)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return line


def abi_json(abi: Abi) -> tuple[str, str]:
    """The model itself."""
    return "generated/abi.json", _one_entry_a_line(abi.to_json())


def c_header(abi: Abi) -> tuple[str, str]:
    """The header that plugins and the host compile against."""
    annotations = sorted(PLAIN_ANNOTATIONS), sorted(SIZED_ANNOTATIONS)
    return "generated/include/onnx_light_ort/ort_abi.h", render("ort_abi.h.j2", abi=abi, annotations=annotations)


def forwarding_headers(abi: Abi) -> Iterator[tuple[str, str]]:
    """Headers under upstream's names, so that plugin sources compile unchanged."""
    for file in abi.files:
        yield f"generated/include/{file}", render("forwarding_header.h.j2", file=file)


def slots_header(abi: Abi, support: SupportTable) -> tuple[str, str]:
    """Declarations of the bodies that are written by hand."""
    bodies = [
        (struct, [m for m, s in zip(struct.slots, support.slots[struct.name], strict=True) if s.state == "implemented"])
        for struct in abi.host_tables
    ]
    return "generated/native/slots.h", render("slots.h.j2", bodies=bodies, body=_body)


def _body(member: Member) -> str:
    """Return type of a body: failure is thrown, so a status is no result."""
    return "void" if member.status else member.slot.returns


def slot_list(abi: Abi, support: SupportTable) -> tuple[str, str]:
    """What is known of each slot at compile time, and what the host says of itself."""
    return "generated/native/slot_list.h", render("slot_list.h.j2", abi=abi, support=support, zip=zip)


def tables_header(abi: Abi) -> tuple[str, str]:
    """Access to the tables in their flavours."""
    return "generated/native/tables.h", render("tables.h.j2", abi=abi)


def table_source(abi: Abi, struct: Struct, support: SupportTable, nullability: Nullability) -> tuple[str, str]:
    """Thunks and stubs of one table."""
    rows = [
        (member, state, nullability.checks(struct.name, member) if state.state == "implemented" else [])
        for member, state in zip(struct.slots, support.slots[struct.name], strict=True)
    ]
    text = render("table.cpp.j2", abi=abi, struct=struct, rows=rows, support=support, stub=_stub)
    return f"generated/native/{_snake(struct.name)}_table.cpp", text


def _stub(member: Member, state: str) -> str:
    """The stub template that stands in for a slot without a body."""
    if state == "null":
        return "null_stub"
    if member.status:
        return "status_stub"
    function = member.slot
    released = member.name.startswith("Release") and len(function.params) == 1 and function.returns == "void"
    return "release_stub" if released else "fail_fast_stub"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def version_gates(abi: Abi) -> tuple[str, str]:
    """The only way by which the host reads a struct that someone else filled in."""
    structs = [struct for struct in abi.structs.values() if struct.version_field]
    return "generated/native/version_gates.h", render("version_gates.h.j2", structs=structs)


def python_enums(abi: Abi) -> tuple[str, str]:
    """The enumerations for Python."""
    return "generated/python/abi_enums.py", render("abi_enums.py.j2", abi=abi)


def support_matrix_json(support: SupportTable) -> tuple[str, str]:
    """The support matrix for programs."""
    return "generated/support_matrix.json", _one_entry_a_line(support.matrix())


def support_matrix_page(abi: Abi, support: SupportTable) -> tuple[str, str]:
    """The support matrix for people."""
    return "docs/support_matrix.md", render("support_matrix.md.j2", abi=abi, support=support)
