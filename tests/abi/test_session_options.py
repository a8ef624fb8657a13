"""What plugins ask of a session's options."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from onnx_light_ort import ExecutionMode
from onnx_light_ort._native import abi

VERSION = 29
#: Positions in OrtApi.
GET_MEM_PATTERN_ENABLED, GET_SESSION_EXECUTION_MODE = 419, 420


@pytest.fixture
def ask() -> Callable[[int, abi.SessionOptions], int]:
    """Calls a slot that writes a number."""
    base = ctypes.cast(abi.api_base_address("plain"), ctypes.POINTER(ctypes.c_void_p))
    get_api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(base[0] or 0)
    table = ctypes.cast(get_api(VERSION), ctypes.POINTER(ctypes.c_void_p))

    def call(slot: int, options: abi.SessionOptions) -> int:
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))(table[slot] or 0)
        out = ctypes.c_int(-1)
        assert function(options.address, out) is None
        return out.value

    return call


def test_memory_patterns_are_what_the_caller_set(ask: Callable[[int, abi.SessionOptions], int]) -> None:
    options = abi.SessionOptions()
    assert ask(GET_MEM_PATTERN_ENABLED, options) == 1
    options.mem_pattern = False
    assert ask(GET_MEM_PATTERN_ENABLED, options) == 0


def test_the_execution_mode_is_what_the_caller_set(ask: Callable[[int, abi.SessionOptions], int]) -> None:
    options = abi.SessionOptions()
    assert ask(GET_SESSION_EXECUTION_MODE, options) == ExecutionMode.ORT_SEQUENTIAL
    options.execution_mode = int(ExecutionMode.ORT_PARALLEL)
    assert ask(GET_SESSION_EXECUTION_MODE, options) == ExecutionMode.ORT_PARALLEL
