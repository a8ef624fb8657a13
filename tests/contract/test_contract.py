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

GOLDENS = read_goldens()
CASES = {case: records for cases in GOLDENS.values() for case, records in cases.items()}
MEANT: dict[str, dict[str, Any]] = {
    case: entry
    for entry in read_toml(ROOT / "tests" / "contract" / "differences.toml")["difference"]
    for case in entry["cases"]
}
GETTER = re.compile(r"(^|_)(Is|Has|Get)[A-Z]|^MemoryInfoGet|^TensorAt$")


@pytest.fixture(scope="session")
def answers(
    probe: ContractProbe, probe_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, list[Record]]]:
    """What the host answers, for each group and case."""
    groups: dict[str, dict[str, list[Record]]] = {
        group: {case: probe.run(case) for case in cases} for group, cases in probe.groups().items()
    }
    # These run in a session, in callbacks of the probe's custom op or execution provider.
    groups |= run_custom_op(onnx_light_ort, probe_library, tmp_path_factory.mktemp("contract_probe"))
    groups |= run_execution_provider(onnx_light_ort, probe_library, tmp_path_factory.mktemp("contract_probe"))
    onnx_light_ort.unregister_execution_provider_library("contract_probe")
    return groups


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
    cases = [case for group in GOLDENS.values() for case in group]
    assert len(cases) == len(set(cases))
    assert MEANT.keys() <= set(cases)


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
