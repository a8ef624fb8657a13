"""Nullability and ownership: the rule, the exceptions, and lines that name nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.model import Abi
from codegen.nullability import Nullability, NullCheck
from codegen.ownership import complete_ownership
from codegen.pin import load_pin


def _checks(abi: Abi, table: str, slot: str, lines: Path | None = None) -> list[NullCheck]:
    nullability = Nullability(abi, lines) if lines else Nullability(abi)
    (member,) = [member for member in abi.structs[table].slots if member.name == slot]
    return nullability.checks(table, member)


@pytest.mark.parametrize(
    ("slot", "checks"),
    [
        ("CreateSession", [NullCheck("env"), NullCheck("model_path"), NullCheck("options"), NullCheck("out")]),
        ("CreateEnvWithCustomLogger", [NullCheck("logging_function"), NullCheck("logid"), NullCheck("out")]),
        ("AllocatorFree", [NullCheck("ort_allocator")]),
        ("ReleaseValue", []),
        ("SetEpDynamicOptions", [NullCheck("sess"), NullCheck("keys", "kv_len"), NullCheck("values", "kv_len")]),
        (
            "ModelMetadataGetCustomMetadataMapKeys",
            [NullCheck(n) for n in ("model_metadata", "allocator", "keys", "num_keys")],
        ),
    ],
)
def test_rule_follows_the_annotation(abi: Abi, tmp_path: Path, slot: str, checks: list[NullCheck]) -> None:
    empty = tmp_path / "nullability.toml"
    empty.write_text("")
    assert _checks(abi, "OrtApi", slot, empty) == checks


def test_count_that_an_annotation_misspells_is_no_check(abi: Abi, tmp_path: Path) -> None:
    empty = tmp_path / "nullability.toml"
    empty.write_text("")
    checked = [check.parameter for check in _checks(abi, "OrtApi", "SessionOptionsAppendExecutionProvider_V2", empty)]
    assert checked == ["session_options", "env", "ep_devices"]


@pytest.mark.parametrize(
    ("table", "slot", "parameter"),
    [
        ("OrtApi", "GetDimensions", "dim_values"),
        ("OrtApi", "KernelContext_GetOutput", "dim_values"),
        ("OrtApi", "KernelInfoGetAttribute_string", "out"),
        ("OrtEpApi", "KernelRegistry_AddKernel", "kernel_create_func_state"),
    ],
)
def test_null_that_the_runtime_accepts_is_not_refused_outright(abi: Abi, table: str, slot: str, parameter: str) -> None:
    assert NullCheck(parameter) not in _checks(abi, table, slot)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[OrtApi.NoSuch]\np = "nullable"', "OrtApi::NoSuch: there is no such slot"),
        ('[OrtApi.Run]\nno_such = "nullable"', "OrtApi::Run: it has no pointer parameter 'no_such'"),
        ('[OrtApi.Run]\ninput_len = "nullable"', "OrtApi::Run: it has no pointer parameter 'input_len'"),
        ('[OrtApi.Run]\ninputs = "count:no_such"', "'count:no_such' of 'inputs' is not required, nullable or count:"),
        ('[OrtApi.Run]\ninputs = "maybe"', "'maybe' of 'inputs' is not required"),
    ],
)
def test_nullability_line_that_names_nothing_is_refused(abi: Abi, tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "nullability.toml"
    table.write_text(text + "\n")
    with pytest.raises(CodegenError, match=re.escape(message)):
        Nullability(abi, table)


@pytest.mark.parametrize(
    ("table", "slot", "ownership"),
    [
        ("OrtApi", "CreateMemoryInfo", {"out": "caller, OrtApi::ReleaseMemoryInfo"}),
        ("OrtApi", "GetValueInfoTypeInfo", {"type_info": "borrowed"}),
        ("OrtApi", "ModelMetadataGetDomain", {"value": "caller, allocator allocator"}),
        ("OrtApi", "GetAllocatorWithDefaultOptions", {"out": "borrowed"}),
        ("OrtApi", "KernelContext_GetOutput", {"out": "borrowed"}),
        ("OrtApi", "HardwareDevice_Metadata", {"return": "borrowed"}),
        ("OrtApi", "GetDimensions", {}),
        ("OrtEpApi", "KernelDefBuilder_Build", {"kernel_def_out": "caller, OrtEpApi::ReleaseKernelDef"}),
        ("OrtNodeComputeInfo", "CreateState", {"compute_state": "caller, OrtNodeComputeInfo::ReleaseState"}),
        ("OrtEp", "GetKernelRegistry", {"kernel_registry": "borrowed"}),
    ],
)
def test_owner_of_what_a_slot_gives_out(newest_pin: Path, table: str, slot: str, ownership: dict[str, str]) -> None:
    abi = load_pin(newest_pin)
    complete_ownership(abi)
    (member,) = [member for member in abi.structs[table].slots if member.name == slot]
    assert member.ownership == ownership


def test_release_slot_named_by_an_owner_exists(newest_pin: Path) -> None:
    abi = load_pin(newest_pin)
    complete_ownership(abi)
    known = {f"{struct.name}::{member.name}" for struct, member in abi.slots()}
    named = {
        slot
        for _, member in abi.slots()
        for owner in member.ownership.values()
        for slot in re.findall(r"\w+::\w+", owner)
    }
    assert len(named) > 40
    assert named <= known


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[OrtApi.NoSuch]\np = "borrowed"', "OrtApi::NoSuch: there is no such slot"),
        ('[OrtApi.Run]\nno_such = "borrowed"', "OrtApi::Run: it has no parameter 'no_such'"),
    ],
)
def test_ownership_line_that_names_nothing_is_refused(
    newest_pin: Path, tmp_path: Path, text: str, message: str
) -> None:
    table = tmp_path / "ownership.toml"
    table.write_text(text + "\n")
    with pytest.raises(CodegenError, match=re.escape(message)):
        complete_ownership(load_pin(newest_pin), table)
