"""The operator cases of package onnx (``onnx.backend.test``), run through InferenceSession with their tolerances."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import python_registry

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

KNOWN_FAILURES = Path(__file__).with_name("known_failures.toml")

# The greatest relative difference that onnx.backend.test lets pass for bfloat16: two units in the last place.
BFLOAT16_TOLERANCE = 2**-6


@dataclass(frozen=True)
class KnownFailure:
    reason: str
    varies: bool


def known_failures() -> dict[str, KnownFailure]:
    groups = tomllib.loads(KNOWN_FAILURES.read_text())["failure"]
    return {
        name: KnownFailure(group["reason"], group.get("varies", False)) for group in groups for name in group["cases"]
    }


def operator_cases() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with np.errstate(all="ignore"):
        cases: list[Any] = collect_testcases(None)
    return cases


def as_value(value: Any) -> Any:
    """What a case calls a value, as one: some are protobuf tensors, some numpy scalars."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, np.generic):
        return np.asarray(value)
    return [as_value(item) for item in value] if isinstance(value, list | tuple) else value


def assert_similar(actual: Any, expected: Any, rtol: float, atol: float) -> None:
    """As onnx.backend.test compares, but for an element of rank 0 in a sequence, which it cannot take the length of."""
    if isinstance(expected, list):
        assert isinstance(actual, list)
        assert len(actual) == len(expected)
        for mine, theirs in zip(actual, expected, strict=True):
            assert_similar(mine, theirs, rtol, atol)
        return
    assert isinstance(actual, np.ndarray)
    assert actual.shape == expected.shape
    if expected.dtype == object:
        assert actual.tolist() == expected.tolist()
        return
    assert actual.dtype == expected.dtype
    if actual.dtype.name == "bfloat16":
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
        rtol = max(rtol, BFLOAT16_TOLERANCE)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


def run_case(case: Any, options: ort.SessionOptions) -> None:
    session = ort.InferenceSession(case.model.SerializeToString(), options)
    names = [value.name for value in session.get_inputs()]
    for inputs, outputs in case.data_sets:
        actual = session.run(None, dict(zip(names, map(as_value, inputs), strict=True)))
        assert len(actual) == len(outputs)
        for mine, theirs in zip(actual, map(as_value, outputs), strict=True):
            assert_similar(mine, theirs, case.rtol, case.atol)


@pytest.fixture(scope="module", params=["every kernel", "Python kernels"])
def outcomes(request: pytest.FixtureRequest) -> dict[str, str | None]:
    """Each case's failure, or None where it passed: with the kernels of a session, and with Python kernels alone."""
    options = ort.SessionOptions()
    if request.param == "Python kernels":
        options.add_kernel_registry(python_registry())
    results: dict[str, str | None] = {}
    for case in operator_cases():
        try:
            run_case(case, options)
            results[case.name] = None
        except Exception:
            results[case.name] = traceback.format_exc(limit=-2)
    return results


def test_every_operator_case_passes_or_is_listed_with_its_reason(outcomes: dict[str, str | None]) -> None:
    known = known_failures()
    unexpected = {name: failure for name, failure in outcomes.items() if failure is not None and name not in known}
    report = "\n".join(f"{name}:\n{failure}" for name, failure in list(unexpected.items())[:20])
    assert not unexpected, f"{len(unexpected)} cases fail: {sorted(unexpected)}\n{report}"


def test_no_listed_case_passes(outcomes: dict[str, str | None]) -> None:
    known = known_failures()
    assert set(known) <= set(outcomes), "a listed case does not exist"
    assert not [name for name, failure in known.items() if not failure.varies and outcomes[name] is None]


def test_at_least_1870_of_1884_operator_cases_pass(outcomes: dict[str, str | None]) -> None:
    if onnx.__version__ != "1.23.2":
        pytest.skip("the count is that of onnx 1.23.2")
    assert len(outcomes) == 1884
    assert sum(failure is None for failure in outcomes.values()) >= 1870
