"""The trace tables count; the plain ones do not."""

from __future__ import annotations

import ctypes

import pytest

from onnx_light_ort._native import abi


def version_string(flavour: str) -> bytes:
    """What slot 1 of a flavour's OrtApiBase answers."""
    table = (ctypes.c_void_p * 2).from_address(abi.api_base_address(flavour))
    function = ctypes.CFUNCTYPE(ctypes.c_char_p)(table[1])
    return bytes(function())


@pytest.mark.parametrize(("flavour", "counted"), [("plain", 0), ("trace", 3), ("strict", 0)])
def test_only_trace_tables_count_calls(flavour: str, counted: int) -> None:
    slot = "OrtApiBase::GetVersionString"
    before = abi.slot_calls().get(slot, 0)
    for _ in range(3):
        assert version_string(flavour) == b"1.29.0"
    assert abi.slot_calls().get(slot, 0) - before == counted


def test_there_is_no_other_flavour() -> None:
    with pytest.raises(ValueError, match="flavour must be"):
        abi.serve("sweet")
