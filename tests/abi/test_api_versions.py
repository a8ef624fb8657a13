"""Every version that GetApi answers: the whole prefix of that version is there and works."""

from __future__ import annotations

import ctypes

import pytest

from onnx_light_ort import support_matrix
from onnx_light_ort._native import abi

MATRIX = support_matrix()
ACCEPTED: list[int] = MATRIX["accepted_api_versions"]
SLOTS = [row for row in MATRIX["slots"] if row["table"] == "OrtApi"]
OK, FLOAT = 0, 1

_GetApi = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32)


def get_api(version: int) -> ctypes._Pointer[ctypes.c_void_p]:
    base = ctypes.cast(abi.api_base_address(), ctypes.POINTER(ctypes.c_void_p))
    return _GetApi(base[0])(version)


def slot(version: int, name: str, *types: type) -> ctypes._CFuncPtr:
    """A slot that returns a status, called through the table of a version."""
    index = next(row["index"] for row in SLOTS if row["slot"] == name)
    address = get_api(version)[index]
    assert address is not None
    return ctypes.CFUNCTYPE(ctypes.c_void_p, *types)(address)


@pytest.mark.parametrize("version", [0, 7, 30, 2**32 - 1])
def test_a_version_without_a_test_is_answered_with_null(version: int) -> None:
    assert version not in ACCEPTED
    assert not get_api(version)


@pytest.mark.parametrize("version", ACCEPTED)
def test_no_slot_that_a_version_has_is_null(version: int) -> None:
    table = get_api(version)
    rows = [row for row in SLOTS if row["since"] <= version]
    assert len(rows) >= 170  # what version 8 had
    assert [row["slot"] for row in rows if table[row["index"]] is None] == []


@pytest.mark.parametrize("version", ACCEPTED)
def test_a_tensor_lives_its_life_through_the_table_of_a_version(version: int) -> None:
    pointer = ctypes.c_void_p
    allocator, value, info, data, count = (ctypes.c_void_p() for _ in range(5))
    dims = (ctypes.c_int64 * 2)(2, 3)
    assert slot(version, "GetAllocatorWithDefaultOptions", pointer)(ctypes.byref(allocator)) is None
    create = slot(version, "CreateTensorAsOrtValue", pointer, pointer, ctypes.c_size_t, ctypes.c_int, pointer)
    assert create(allocator, dims, 2, FLOAT, ctypes.byref(value)) is None
    assert slot(version, "GetTensorMutableData", pointer, pointer)(value, ctypes.byref(data)) is None
    assert data.value is not None
    assert data.value % 64 == 0
    assert slot(version, "GetTensorTypeAndShape", pointer, pointer)(value, ctypes.byref(info)) is None
    assert slot(version, "GetTensorShapeElementCount", pointer, pointer)(info, ctypes.byref(count)) is None
    assert count.value == 6
    slot(version, "ReleaseTensorTypeAndShapeInfo", pointer)(info)
    slot(version, "ReleaseValue", pointer)(value)
