"""What the tests of custom ops share: libraries admitted as they are, and no ORT in the process, ever."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from custom_ops.custom_op_cases import library_path

from onnx_light_ort import InferenceSession, SessionOptions
from onnx_light_ort.host.admission import set_admission
from onnx_light_ort.host.memory_map import mapped_ort_runtimes

MakeSession = Callable[..., InferenceSession]


@pytest.fixture(autouse=True)
def _admitted() -> Iterator[None]:
    set_admission("any")
    yield
    set_admission("warn")


@pytest.fixture(autouse=True)
def _no_ort_is_mapped() -> Iterator[None]:
    yield
    assert mapped_ort_runtimes() == frozenset()


@pytest.fixture(scope="session")
def library(fixtures_dir: Path) -> Callable[[str], str]:
    """Gives the path of a library of ``fixtures/custom_ops``."""
    return lambda name: library_path(fixtures_dir, name)


@pytest.fixture
def session(library: Callable[[str], str]) -> MakeSession:
    """Makes a session: ``session(model, "library", memory_limit=…, threads=…)``."""

    def make(model: bytes, *libraries: str, memory_limit: int = 0, threads: int = 2) -> InferenceSession:
        options = SessionOptions()
        options.memory_limit = memory_limit
        options.intra_op_num_threads = threads
        for name in libraries:
            options.register_custom_ops_library(library(name))
        return InferenceSession(model, options)

    return make


@pytest.fixture
def counter(library: Callable[[str], str]) -> Callable[[str, str], int]:
    """Reads what a library counts: ``counter("failures", "kernels_created")``."""

    def read(name: str, function: str) -> int:
        handle = ctypes.CDLL(library(name))
        count = getattr(handle, function)
        count.restype = ctypes.c_int64
        return int(count())

    return read
