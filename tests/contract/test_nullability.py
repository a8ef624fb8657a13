"""The table of parameters that may be null says what the goldens say: nothing is refused that ORT takes, and nothing
reaches a body that crashed ORT."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from contract_probe.comparison import status_slots
from contract_probe.probe_library import ROOT, Record, read_goldens

from codegen.model import Abi
from codegen.nullability import Nullability
from codegen.pin import load_pin, pinned_versions

NULL_CASE = re.compile(r"(?P<slot>\w+)\.null_(?P<pointer>\d+)(_with_0_of_(?P<count>\d+))?")

# Parameters that ORT refuses null for in the probed call, and that the table leaves to the body, and why.
BODY_DECIDES = {
    "KernelInfoGetAttributeArray_string.allocator": "needed only when `out` is given",
}


def null_cases() -> Iterator[tuple[str, int, str | None, Record]]:
    """Each null argument of the goldens: the slot, the parameter's index, that of a count that was 0, the record."""
    for cases in read_goldens().values():
        for name, records in cases.items():
            if match := NULL_CASE.fullmatch(name):
                yield match["slot"], int(match["pointer"]), match["count"], records[-1]


@pytest.fixture(scope="module")
def abi() -> Abi:
    return load_pin(list(pinned_versions(ROOT / "headers").values())[-1])


def states_of_the_table(abi: Abi) -> dict[str, str]:
    """`required`, `nullable` or `count:<parameter>` for each parameter in the goldens."""
    table = Nullability(abi)
    slots = {member.name: member for member in abi.structs["OrtApi"].slots}
    states = {}
    for slot, index, _, _ in null_cases():
        checks = {check.parameter: check for check in table.checks("OrtApi", slots[slot])}
        parameter = slots[slot].slot.params[index].name
        check = checks.get(parameter)
        states[f"{slot}.{parameter}"] = (
            "nullable" if check is None else f"count:{check.count}" if check.count else "required"
        )
    return states


def states_of_the_goldens(abi: Abi) -> dict[str, str]:
    """The same as ORT has it: null is refused where it crashed ORT or gave an error."""
    slots = {member.name: member for member in abi.structs["OrtApi"].slots}
    states: dict[str, str] = {}
    for slot, index, count, record in sorted(null_cases(), key=lambda case: case[2] is not None):
        params = slots[slot].slot.params
        name = f"{slot}.{params[index].name}"
        refused = "crashed" in record or (slot in status_slots() and record["code"] != "OK")
        if count is None:
            states[name] = "required" if refused else "nullable"
        elif not refused and states[name] == "required":
            states[name] = f"count:{params[int(count)].name}"
    return states


def test_table_says_what_the_goldens_say(abi: Abi) -> None:
    table, goldens = states_of_the_table(abi), states_of_the_goldens(abi)
    assert len(goldens) > 200
    assert BODY_DECIDES.keys() <= goldens.keys()
    expected = goldens | dict.fromkeys(BODY_DECIDES, "nullable")
    assert {name: (table[name], expected[name]) for name in expected if table[name] != expected[name]} == {}
