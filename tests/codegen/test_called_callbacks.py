"""The support matrix calls those callbacks "called" that the host's sources call, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from codegen.model import Abi

ROOT = Path(__file__).resolve().parents[2]

# Every struct has these, whatever its version, so that the host calls them as members: `a->Free(a, block)`.
DIRECT = {
    "OrtAllocator": re.compile(r"\b(\w+)->(Alloc|Free|Info)\(\1\b"),
    "OrtKernelImpl": re.compile(r"\b(impl|kernel)->(Compute|Release)\(\1\b"),
    "OrtNodeComputeInfo": re.compile(r"\b(info_)->(CreateState|Compute|ReleaseState)\(\1\b"),
}


def calls(source: str) -> set[str]:
    """Callbacks that C++ source reads through the version gates, or calls as members."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)
    found = set(re.findall(r"\bfield::(\w+::\w+)", code))
    for alias, struct in re.findall(r"\busing (\w+) = (?:\w+::)*field::(\w+);", code):
        found |= {f"{struct}::{name}" for name in re.findall(rf"\b{alias}::(\w+)", code)}
    return found | {f"{struct}::{match[2]}" for struct, call in DIRECT.items() for match in call.finditer(code)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("auto f = field::OrtEp::Compile(ep);", {"OrtEp::Compile"}),
        ("using Gate = abi::field::OrtEp;\nGate::Sync(ep); Other::Sync(ep);", {"OrtEp::Sync"}),
        ("allocator_->Free(allocator_, block); other->Free(block);", {"OrtAllocator::Free"}),
        ("info_->Compute(info_, state_, &context);", {"OrtNodeComputeInfo::Compute"}),
        ("// field::OrtEp::Compile\n/* field::OrtEp::Sync */", set()),
    ],
)
def test_calls_are_found_through_gates_their_aliases_and_allocators(source: str, expected: set[str]) -> None:
    assert calls(source) == expected


def test_callbacks_that_are_called_are_those_that_the_matrix_calls_so(abi: Abi) -> None:
    callbacks = {f"{struct.name}::{member.name}" for struct in abi.callback_structs for member in struct.slots}
    sources = [path for path in (ROOT / "onnx_light_ort" / "_native").rglob("*") if path.suffix in (".cpp", ".h")]
    called = set().union(*(calls(path.read_text(encoding="utf-8")) for path in sources)) & callbacks
    matrix = json.loads((ROOT / "generated" / "support_matrix.json").read_text(encoding="utf-8"))
    stated = {f"{row['table']}::{row['slot']}" for row in matrix["callbacks"] if row["state"] == "called"}
    assert called - stated == set(), "the host calls these: say `called` in codegen/support.toml"
    assert stated - called == set(), "nothing calls these through a version gate: codegen/support.toml says `called`"
    assert {"OrtAllocator::Alloc", "OrtAllocator::GetStats", "OrtCustomOp::KernelComputeV2"} <= called
