"""What the comparison of the contract probe counts as a difference."""

from __future__ import annotations

from contract_probe.comparison import first_difference

OK = {"slot": "GetDimensionsCount", "code": "OK", "rank": 2}
REFUSED = {"slot": "GetDimensionsCount", "code": "INVALID_ARGUMENT", "message": "..."}
CRASHED = {"slot": "GetDimensionsCount", "crashed": "SIGSEGV"}
VALUE_CRASHED = {"slot": "GetErrorCode", "crashed": "SIGSEGV"}


def test_equal_records_are_no_difference_whatever_the_wording_of_errors() -> None:
    assert first_difference([OK, REFUSED], [OK, REFUSED | {"message": "other words"}]) is None


def test_other_value_code_or_slot_is_a_difference() -> None:
    assert first_difference([OK], [OK | {"rank": 3}]) is not None
    assert first_difference([REFUSED], [REFUSED | {"code": "FAIL"}]) is not None
    assert first_difference([OK], [OK | {"slot": "GetDimensions"}]) is not None


def test_crash_of_the_host_is_a_difference_where_ort_answered() -> None:
    assert first_difference([OK], [CRASHED]) is not None


def test_host_must_return_an_error_where_a_status_slot_crashed_ort() -> None:
    assert first_difference([CRASHED], [REFUSED]) is None
    assert first_difference([CRASHED], [OK]) is not None
    assert first_difference([CRASHED], [CRASHED | {"crashed": "SIGABRT"}]) is not None


def test_host_may_return_or_abort_where_another_slot_crashed_ort() -> None:
    assert first_difference([VALUE_CRASHED], [{"slot": "GetErrorCode", "returned": 0}]) is None
    assert first_difference([VALUE_CRASHED], [VALUE_CRASHED | {"crashed": "SIGABRT"}]) is None
    assert first_difference([VALUE_CRASHED], [VALUE_CRASHED]) is not None


def test_missing_or_surplus_records_are_a_difference() -> None:
    found = first_difference([OK, REFUSED, {"note": True}], [OK])
    assert found is not None
    assert (found.index, found.calls) == (1, 1)
    assert first_difference([OK], [OK, REFUSED]) is not None
