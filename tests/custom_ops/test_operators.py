"""Every kind of custom op computes what its library says, in a session made as with ORT."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from custom_ops.custom_op_cases import CASES, Case
from custom_ops.expectation import check

from onnx_light_ort import InferenceSession

MakeSession = Callable[..., InferenceSession]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_custom_op_computes_what_its_library_says(session: MakeSession, case: Case) -> None:
    made = session(case.model, case.library)
    feed = {name: array.copy() for name, array in case.feed.items()}
    first = made.run(list(case.expected), feed)
    check(case, first)
    if case.name != "state from creation":
        check(case, made.run(list(case.expected), feed))
    # What was published stays as it was, and what was fed, too.
    check(case, first)
    for name, array in case.feed.items():
        np.testing.assert_array_equal(feed[name], array)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_custom_op_sees_dense_tensors_however_they_are_fed(session: MakeSession, case: Case) -> None:
    gaps = {
        name: array if array.ndim == 0 else np.repeat(array, 2, axis=-1)[..., ::2] for name, array in case.feed.items()
    }
    check(case, session(case.model, case.library).run(list(case.expected), gaps))
