"""``onnx-light-ort inspect LIB --load`` lists what a library's execution providers offer, and lets go of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from execution_provider_cases import PLUGINS

import onnx_light_ort as ort
from onnx_light_ort.cli import main
from onnx_light_ort.host.memory_map import mapped_files


@pytest.fixture(autouse=True)
def _admission_as_before() -> Iterator[None]:
    yield
    ort.set_admission("warn")


def report(capsys: pytest.CaptureFixture[str], library: Path, *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["inspect", str(library), "--load", "--json", "--admission", "any", *options])
    return code, json.loads(capsys.readouterr().out)["providers"]


def test_factories_devices_and_kernels_are_listed(fixtures_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = PLUGINS["kernel_ep"].path(fixtures_dir)
    code, found = report(capsys, library)
    (factory,) = found["factories"]
    assert (code, factory["name"], factory["vendor"], factory["error"]) == (0, "KernelEp", "fixture", None)
    assert [device["type"] for device in factory["devices"]] == ["CPU"]
    assert len(factory["kernels"]) == 22
    assert factory["kernels"][8] == {
        "domain": "ai.onnx",
        "op_type": "Relu",
        "first_version": 6,
        "last_version": 13,
        "types": {"T": ["float", "double", "int32", "int64"]},
        "memory": {},
        "aliases": [],
        "mutable_aliases": [[0, 0]],
        "fault": None,
    }
    assert len(ort.get_ep_devices()) == 1


def test_the_table_has_a_line_for_each_kernel(fixtures_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(PLUGINS["kernel_ep"].path(fixtures_dir)), "--load", "--admission", "any"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("  kernels    22")
    heading, first, *_, last = lines[start + 1 : start + 24]
    assert heading.split("  ")[2] == "operator"
    assert first.split() == ["Add", "7", "to", "12", "T:", "float,", "double,", "int32,", "int64"]
    assert last.split() == ["fixture.kernels::Blend", "2", "to", "1000", "any"]


def test_all_kernels_of_a_published_provider_are_read_back(
    fixtures_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = report(capsys, PLUGINS["nxrt"].path(fixtures_dir))
    (factory,) = found["factories"]
    assert (code, factory["name"], len(factory["kernels"])) == (0, "cpu_ep", 215)
    add = next(kernel for kernel in factory["kernels"] if kernel["op_type"] == "Add")
    assert "float16" in add["types"]["T"]
    assert not any(kernel["fault"] for kernel in factory["kernels"])


def test_a_provider_that_compiles_has_no_registry(fixtures_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = report(capsys, PLUGINS["compiling_ep"].path(fixtures_dir))
    assert [factory["kernels"] for factory in found["factories"]] == [None]


def test_a_library_that_is_refused_is_not_loaded(
    fixtures_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A copy: other tests count inside the fixture itself, which keeps it.
    library = shutil.copy(PLUGINS["kernel_ep_c"].path(fixtures_dir), tmp_path / "librefused.so")
    code, found = report(capsys, library, "--admission", "audited")
    assert (code, found) == (1, {"error": "a library that is refused is not loaded"})
    assert library not in mapped_files()


def test_a_library_of_custom_ops_has_no_providers(fixtures_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = report(capsys, fixtures_dir / "custom_ops" / "libattributes.so")
    assert code == 1
    assert "does not export CreateEpFactories" in found["error"]
