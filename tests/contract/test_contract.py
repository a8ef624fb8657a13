"""The host answers each case of the contract probe as ORT did, but for the differences that are meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract_probe.comparison import Difference, first_difference, without_message
from contract_probe.probe_library import ROOT, ContractProbe, Record, read_goldens
from contract_probe.probe_model import run_custom_op, run_execution_provider

import onnx_light_ort
from codegen.toml_file import read_toml

FindDifference = Callable[[str], Difference | None]

# Groups whose cases run in a session, in callbacks of the probe's custom op or execution provider.
IN_CUSTOM_OP = {"kernel_info", "kernel_context", "shape_inference"}
IN_EXECUTION_PROVIDER = {"graph_view", "subgraph_view"}
# Groups whose slots belong to a profile that the host does not serve yet.
LATER_GROUPS = {"ep_device", "kernel_def", *IN_EXECUTION_PROVIDER}

ALL_GOLDENS = read_goldens()
GOLDENS = {group: cases for group, cases in ALL_GOLDENS.items() if group not in LATER_GROUPS}
CASES = {case: records for cases in GOLDENS.values() for case, records in cases.items()}
LISTED: dict[str, dict[str, Any]] = {
    case: entry
    for entry in read_toml(ROOT / "tests" / "contract" / "differences.toml")["difference"]
    for case in entry["cases"]
}
MEANT = {case: entry for case, entry in LISTED.items() if case in CASES}
GETTER = re.compile(r"(^|_)(Is|Has|Get)[A-Z]|^MemoryInfoGet|^TensorAt$")


@pytest.fixture(scope="session")
def answers(
    probe: ContractProbe, probe_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, list[Record]]]:
    """What the host answers, for each group and case."""
    groups: dict[str, dict[str, list[Record]]] = {
        group: {case: probe.run(case) for case in cases} for group, cases in probe.groups().items() if group in GOLDENS
    }
    for in_session, run in ((IN_CUSTOM_OP, run_custom_op), (IN_EXECUTION_PROVIDER, run_execution_provider)):
        if in_session & GOLDENS.keys():
            groups |= run(onnx_light_ort, probe_library, tmp_path_factory.mktemp("contract_probe"))
    return {group: cases for group, cases in groups.items() if group in GOLDENS}


@pytest.fixture(scope="session")
def difference(answers: dict[str, dict[str, list[Record]]]) -> FindDifference:
    """Gives the first difference of a case."""
    by_case = {case: records for cases in answers.values() for case, records in cases.items()}
    return lambda case: first_difference(CASES[case], by_case[case])


def test_probe_has_the_cases_of_the_goldens(answers: dict[str, dict[str, list[Record]]]) -> None:
    assert {group: sorted(cases) for group, cases in answers.items()} == {
        group: sorted(cases) for group, cases in GOLDENS.items()
    }


def test_each_case_is_in_one_group() -> None:
    cases = [case for group in ALL_GOLDENS.values() for case in group]
    assert len(cases) == len(set(cases))
    assert LISTED.keys() <= set(cases)


@pytest.mark.parametrize("case", sorted(CASES.keys() - MEANT.keys()))
def test_host_answers_as_ort_did(difference: FindDifference, case: str) -> None:
    found = difference(case)
    assert found is None, f"\nORT:  {found.golden}\nhost: {found.answer}"


@pytest.mark.parametrize("case", sorted(MEANT))
def test_difference_is_the_listed_one(difference: FindDifference, case: str) -> None:
    found = difference(case)
    assert found is not None, "the host answers as ORT did: strike the case from differences.toml"
    assert found.golden is not None
    assert found.answer is not None
    assert without_message(found.answer) == {"slot": found.golden["slot"], **MEANT[case]["host"]}


def test_differences_are_at_most_three_in_a_hundred_calls(difference: FindDifference) -> None:
    calls = sum("slot" in record for records in CASES.values() for record in records)
    differing = sum(found.calls for case in MEANT if (found := difference(case)))
    assert calls > 1500
    assert differing <= 0.03 * calls, f"{differing} of {calls} calls"


@pytest.mark.parametrize("case", sorted(MEANT))
def test_no_difference_is_in_what_a_getter_returns_for_good_arguments(difference: FindDifference, case: str) -> None:
    found = difference(case)
    assert found is not None
    golden = found.golden
    assert golden is not None
    assert not (GETTER.search(golden.get("slot", "")) and succeeded(golden) and ".null_" not in case)


def succeeded(record: Record) -> bool:
    return "crashed" not in record and record.get("code", "OK") == "OK"
