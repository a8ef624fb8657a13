"""The real ORT hosts the same libraries: what the cases expect is what it gives, but where this host goes further."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import onnxruntime
import pytest
from custom_ops.custom_op_cases import CASES, Case, library_path
from custom_ops.custom_op_failures import experiments
from custom_ops.expectation import check
from custom_ops.published_operators import REQUIREMENT, library_file, published_cases

#: ORT takes the schema of a name from its first descriptor alone, and lets no custom op see complex numbers.
HOST_GOES_FURTHER = {"opset 3 selects Number 3", "polymorphic over complex64"}


def session(model: bytes, library: Path | str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(str(library))
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ort_gives_what_the_case_expects(fixtures_dir: Path, case: Case) -> None:
    def run() -> None:
        made = session(case.model, library_path(fixtures_dir, case.library))
        check(case, made.run(list(case.expected), dict(case.feed)))

    if case.name in HOST_GOES_FURTHER:
        with pytest.raises(Exception):  # noqa: B017, PT011 - a mismatch or ORT's refusal
            run()
    else:
        run()


@pytest.mark.parametrize("case", published_cases(), ids=lambda case: case.name)
def test_ort_gives_what_a_published_operator_is_documented_to_give(wheel: Callable[[str], Path], case: Case) -> None:
    made = session(case.model, library_file(wheel(REQUIREMENT)))
    check(case, made.run(list(case.expected), dict(case.feed)))


#: In ORT the thread that throws decides: the caller's fails the run, a worker's ends the process.
VARYING = {"failures: parallel_throws"}


@pytest.mark.parametrize("name", [name for name in experiments() if name not in VARYING])
def test_ort_still_does_with_a_failing_library_what_was_recorded(fixtures_dir: Path, name: str) -> None:
    recorder = Path(__file__).with_name("record_custom_ops.py")
    done = subprocess.run([sys.executable, recorder, fixtures_dir, name], capture_output=True, text=True, timeout=120)
    observed = json.loads(done.stdout.splitlines()[-1]) if done.stdout.startswith("{") else {}
    goldens = Path(__file__).resolve().parents[1] / "goldens" / "custom_ops" / "failures.json"
    expected = json.loads(goldens.read_text())[name]
    assert (observed if done.returncode == 0 else {**observed, "crash": True}) == expected
