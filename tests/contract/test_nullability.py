"""The table of parameters that may be null says what the goldens say: nothing is refused that ORT takes, and nothing
reaches a body that crashed ORT."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from contract_probe.comparison import status_slots
from contract_probe.probe_library import ROOT, read_goldens

from codegen.model import Abi, Member
from codegen.nullability import Nullability
from codegen.pin import load_pin, pinned_versions

NULL_CASE = re.compile(r"((?P<table>OrtEpApi)\.)?(?P<slot>\w+)\.null_(?P<pointer>\d+)(_with_0_of_(?P<count>\d+))?")

# Parameters that ORT refuses null for in the probed call, and that the table leaves to the body, and why.
NO_INDICES = "a list of nothing is refused by the body, null or not"
TOO_SHORT = "room for nothing is refused by the body when there is something, null or not"
BODY_DECIDES = {
    "OrtApi.KernelInfoGetAttributeArray_string.allocator": "needed only when `out` is given",
    "OrtEpApi.KernelDefBuilder_AddInputOutputAliases.input_indices": NO_INDICES,
    "OrtEpApi.KernelDefBuilder_AddInputOutputAliases.output_indices": NO_INDICES,
    "OrtEpApi.KernelDefBuilder_AddInputOutputMutableAliases.input_indices": NO_INDICES,
    "OrtEpApi.KernelDefBuilder_AddInputOutputMutableAliases.output_indices": NO_INDICES,
    "OrtEpApi.KernelDefBuilder_AddTypeConstraint.types": NO_INDICES,
    "OrtEpApi.EpGraphSupportInfo_AddNodesToFuse.nodes": NO_INDICES,
    "OrtApi.Graph_GetOutputs.outputs": TOO_SHORT,
    "OrtApi.Graph_GetNodes.nodes": TOO_SHORT,
    "OrtApi.Node_GetInputs.inputs": TOO_SHORT,
    "OrtApi.Node_GetOutputs.outputs": TOO_SHORT,
}
# Parameters that ORT takes null for, and that the table refuses all the same, and why.
CRASHES_LATER = "ORT keeps the null and crashes when a session reads it"
POINTS_NOWHERE = "ORT returns a pointer near null, which crashes whoever reads it"
REFUSED = {
    "OrtApi.AddCustomOpDomain.custom_op_domain": CRASHES_LATER,
    "OrtApi.CustomOpDomain_Add.op": CRASHES_LATER,
    "OrtEpApi.CreateEpDevice.hardware_device": CRASHES_LATER,
    "OrtApi.EpDevice_EpMetadata.ep_device": POINTS_NOWHERE,
    "OrtApi.EpDevice_EpOptions.ep_device": POINTS_NOWHERE,
    "OrtApi.HardwareDevice_Metadata.device": POINTS_NOWHERE,
    "OrtEpApi.MemoryInfo_GetMemoryDevice.memory_info": POINTS_NOWHERE,
}


@dataclass(frozen=True)
class NullCase:
    """One null argument of the goldens, and what became of the call. `count`: the parameter that was 0, if one was."""

    table: str
    slot: Member
    parameter: str
    count: str | None
    refused: bool

    @property
    def name(self) -> str:
        return f"{self.table}.{self.slot.name}.{self.parameter}"


@pytest.fixture(scope="module")
def abi() -> Abi:
    return load_pin(list(pinned_versions(ROOT / "headers").values())[-1])


@pytest.fixture(scope="module")
def null_cases(abi: Abi) -> list[NullCase]:
    slots = {table: {slot.name: slot for slot in abi.structs[table].slots} for table in ("OrtApi", "OrtEpApi")}
    found = []
    for cases in read_goldens().values():
        for name, records in cases.items():
            if match := NULL_CASE.fullmatch(name):
                table, record = match["table"] or "OrtApi", records[-1]
                slot = slots[table][match["slot"]]
                names = [param.name for param in slot.slot.params]
                refused = "crashed" in record or (record["slot"] in status_slots() and record["code"] != "OK")
                count = match["count"] and names[int(match["count"])]
                found.append(NullCase(table, slot, names[int(match["pointer"])], count, refused))
    return found


def states_of_the_table(null_cases: list[NullCase], abi: Abi) -> dict[str, str]:
    """`required`, `nullable` or `count:<parameter>` for each parameter in the goldens."""
    table = Nullability(abi)
    states = {}
    for case in null_cases:
        checks = {check.parameter: check.count for check in table.checks(case.table, case.slot)}
        count = checks.get(case.parameter)
        states[case.name] = "nullable" if count is None else f"count:{count}" if count else "required"
    return states


def states_of_the_goldens(null_cases: list[NullCase]) -> dict[str, str]:
    """The same as ORT has it: null is refused where it crashed ORT or gave an error."""
    states: dict[str, str] = {}
    for case in sorted(null_cases, key=lambda case: case.count is not None):
        if case.count is None:
            states[case.name] = "required" if case.refused else "nullable"
        elif not case.refused and states.get(case.name) == "required":
            states[case.name] = f"count:{case.count}"
    return states


def test_table_says_what_the_goldens_say(null_cases: list[NullCase], abi: Abi) -> None:
    table, goldens = states_of_the_table(null_cases, abi), states_of_the_goldens(null_cases)
    assert len(goldens) > 200
    assert {name for name in BODY_DECIDES if table[name] == "required"} == set()
    assert {name for name in BODY_DECIDES if goldens[name] != "required"} == set()
    assert {name for name in REFUSED if goldens[name] == "required"} == set()
    expected = goldens | {name: table[name] for name in BODY_DECIDES} | dict.fromkeys(REFUSED, "required")
    wrong = [f"{name}: {table[name]}, ORT: {expected[name]}" for name in expected if table[name] != expected[name]]
    assert wrong == []
