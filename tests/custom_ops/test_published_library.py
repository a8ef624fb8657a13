"""onnxruntime-extensions as it is published: its operators give the values that they are documented to give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from custom_ops.custom_op_cases import Case
from custom_ops.expectation import check
from custom_ops.published_operators import REQUIREMENT, library_file, published_cases

from onnx_light_ort import InferenceSession, SessionOptions, set_admission

CASES = published_cases()


@pytest.fixture(scope="module")
def extensions(wheel: Callable[[str], Path]) -> Path:
    return library_file(wheel(REQUIREMENT))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_published_operator_gives_the_documented_values(extensions: Path, case: Case) -> None:
    options = SessionOptions()
    options.register_custom_ops_library(extensions)
    session = InferenceSession(case.model, options)
    for _ in range(2):
        check(case, session.run(list(case.expected), dict(case.feed)))


def test_all_operators_of_the_library_are_registered_and_all_but_one_are_run(extensions: Path) -> None:
    options = SessionOptions()
    options.register_custom_ops_library(extensions)
    registered = {op.name for op in options._custom_ops.ops} if options._custom_ops else set()
    run = {case.name.split(":")[0] for case in CASES}
    # It needs a compiled model of sentence ends, which no package carries.
    assert registered - run == {"BlingFireSentenceBreaker"}
    assert len(run) == 47


def test_the_library_is_audited_and_needs_no_warning(extensions: Path) -> None:
    set_admission("audited")
    SessionOptions().register_custom_ops_library(extensions)
