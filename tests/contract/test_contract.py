"""The host answers each case of the contract probe as ORT did, but for the differences that are meant."""

from __future__ import annotations

import re
from typing import Any

import pytest
from contract_probe.comparison import Difference, first_difference, without_message
from contract_probe.probe_library import ROOT, ContractProbe, Record, read_goldens

from codegen.toml_file import read_toml

# Groups whose slots belong to a profile that the host does not serve yet.
LATER_GROUPS = {"kernel_info", "kernel_context", "shape_inference"}

GOLDENS = {group: cases for group, cases in read_goldens().items() if group not in LATER_GROUPS}
CASES = {case: records for cases in GOLDENS.values() for case, records in cases.items()}
MEANT: dict[str, dict[str, Any]] = {
    case: entry
    for entry in read_toml(ROOT / "tests" / "contract" / "differences.toml")["difference"]
    for case in entry["cases"]
}
GETTER = re.compile(r"(^|_)(Is|Has|Get)[A-Z]|^MemoryInfoGet|^TensorAt$")


def difference(probe: ContractProbe, case: str) -> Difference | None:
    return first_difference(CASES[case], probe.run(case))


def test_probe_has_the_cases_of_the_goldens(probe: ContractProbe) -> None:
    assert {group: sorted(cases) for group, cases in probe.groups().items()} == {
        group: sorted(cases) for group, cases in GOLDENS.items()
    }


@pytest.mark.parametrize("case", sorted(CASES.keys() - MEANT.keys()))
def test_host_answers_as_ort_did(probe: ContractProbe, case: str) -> None:
    found = difference(probe, case)
    assert found is None, f"\nORT:  {found.golden}\nhost: {found.answer}"


@pytest.mark.parametrize("case", sorted(MEANT))
def test_difference_is_the_listed_one(probe: ContractProbe, case: str) -> None:
    found = difference(probe, case)
    assert found is not None, "the host answers as ORT did: strike the case from differences.toml"
    assert found.answer is not None
    assert without_message(found.answer) == MEANT[case]["host"]


def test_differences_are_at_most_three_in_a_hundred_calls(probe: ContractProbe) -> None:
    calls = sum("slot" in record for records in CASES.values() for record in records)
    differing = sum(found.calls for case in MEANT if (found := difference(probe, case)))
    assert calls > 1500
    assert differing <= 0.03 * calls, f"{differing} of {calls} calls"


@pytest.mark.parametrize("case", sorted(MEANT))
def test_no_difference_is_in_what_a_getter_returns_for_good_arguments(probe: ContractProbe, case: str) -> None:
    found = difference(probe, case)
    assert found is not None
    golden = found.golden
    assert golden is not None
    assert not (GETTER.search(golden.get("slot", "")) and succeeded(golden) and ".null_" not in case)


def succeeded(record: Record) -> bool:
    return "crashed" not in record and record.get("code", "OK") == "OK"
