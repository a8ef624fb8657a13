"""The operator cases of package onnx in ORT, alone and with the EP: what the EP adds, and that it takes nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.runner import Runner
from reverse_session import as_value, run, session

#: Cases that ORT passes alone and claim=all does not, with the reason.
DIFFERENCES = {
    "test_attention_4d_causal_fp16_expanded": "nodes round to float16; alone, ORT casts the chain to float32",
}


def failure(case: Any, claim: str | None) -> str | None:
    """Why a case fails, beginning with "load: " where there is no session; None where it passes."""
    try:
        made = session(case.model, claim)
    except Exception as error:
        return f"load: {error}"
    try:
        for inputs, outputs in case.data_sets:
            feed = zip([value.name for value in made.get_inputs()], map(as_value, inputs), strict=True)
            actual = run(made, dict(feed))
            Runner.assert_similar_outputs(list(map(as_value, outputs)), actual, rtol=case.rtol, atol=case.atol)
    except (Exception, AssertionError) as error:
        return f"run: {type(error).__name__}: {error}"
    return None


Outcomes = dict[str | None, dict[str, str | None]]


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """Failures by the EP's claim (None: without it) and case."""
    with np.errstate(all="ignore"):
        cases = collect_testcases(None)
    return {claim: {case.name: failure(case, claim) for case in cases} for claim in (None, "missing", "all")}


def without_kernel(outcomes: Outcomes) -> list[str]:
    return [name for name, why in outcomes[None].items() if why and "Could not find an implementation" in why]


def test_no_case_that_ort_passes_alone_fails_with_the_provider(outcomes: Outcomes) -> None:
    alone = {name for name, why in outcomes[None].items() if why is None}
    assert len(alone) > 1690
    for claim in ("missing", "all"):
        broken = {name: outcomes[claim][name] for name in alone if outcomes[claim][name] is not None}
        allowed = DIFFERENCES if claim == "all" else {}
        assert set(broken) == set(allowed), f"claim={claim}: {broken}"


def test_at_least_60_of_the_88_cases_without_a_kernel_pass_with_the_provider(outcomes: Outcomes) -> None:
    missing = without_kernel(outcomes)
    if onnx.__version__ == "1.23.2":
        assert len(missing) == 88
    still = {name: outcomes["missing"][name] for name in missing if outcomes["missing"][name] is not None}
    by_operator = Counter(why.split(" for ")[1].split(" ")[0] for why in still.values() if why and " for " in why)
    assert len(missing) - len(still) >= 60, f"{len(still)} cases fail still: {by_operator}, {sorted(still)}"
