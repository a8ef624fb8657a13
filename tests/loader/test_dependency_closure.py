from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_light_ort.host.dependency_closure import Dependency, dependency_closure
from onnx_light_ort.host.elf_inspection import ElfFile
from onnx_light_ort.host.ort_runtime import is_runtime_name


def closure(library: Path) -> dict[str, Dependency]:
    with library.open("rb") as file:
        return {d.name: d for d in dependency_closure(library, ElfFile(file).dynamic)}


@pytest.mark.parametrize(
    "name",
    [
        "libonnxruntime.so",
        "libonnxruntime.so.1",
        "libonnxruntime.so.1.29.0",
        "libonnxruntime-1a2b3c4d.so.1.29.0",
        "onnxruntime.dll",
        "ONNXRUNTIME.DLL",
        "libonnxruntime.1.29.0.dylib",
        "libonnxruntime_providers_shared.so",
        "libonnxruntime_providers_cuda.so",
        "onnxruntime_providers_shared.dll",
        "libonnxruntime4j_jni.so",
        "onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so",
    ],
)
def test_names_of_ort_are_recognised(name: str) -> None:
    assert is_runtime_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "libonnxruntime_ggml.so",
        "libortextensions.so",
        "libonnx_runtime_ep_cpu_plugin.so",
        "libonnxruntimes.so",
        "libonnx_light_ort_bootstrap.so",
        "libm.so.6",
    ],
)
def test_names_of_plugins_are_not(name: str) -> None:
    assert not is_runtime_name(name)


def test_closure_is_what_ldd_finds(plugins: Path) -> None:
    library = plugins / "libthread_local_object.so"
    out = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    expected = {line.split()[0]: os.path.realpath(line.split()[2]) for line in out.splitlines() if " => " in line}
    found = {name: os.path.realpath(d.path) for name, d in closure(library).items() if d.path and name in expected}
    assert expected
    assert found == expected


@pytest.mark.parametrize("rule", ["rpath", "runpath"])
def test_companion_is_found_by_rpath_and_runpath(plugins: Path, rule: str) -> None:
    found = closure(plugins / f"libcompanion_by_{rule}.so")["libcompanion.so"]
    assert found.path == plugins / "companions" / "libcompanion.so"
    assert found.found_by == f"{rule.upper()} of libcompanion_by_{rule}.so"


def test_companion_is_found_by_the_library_path_of_the_process(plugins: Path) -> None:
    program = (
        "import json, sys; from pathlib import Path\n"
        "from onnx_light_ort.host.dependency_closure import dependency_closure\n"
        "from onnx_light_ort.host.elf_inspection import ElfFile\n"
        "library = Path(sys.argv[1])\n"
        "found = dependency_closure(library, ElfFile(library.open('rb')).dynamic)\n"
        "print(json.dumps([[d.name, str(d.path), d.found_by] for d in found]))\n"
    )
    library = plugins / "libcompanion_missing.so"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(plugins / "companions")}
    out = subprocess.run(
        [sys.executable, "-c", program, library], capture_output=True, text=True, check=True, env=environment
    ).stdout
    assert ["libcompanion.so", str(plugins / "companions" / "libcompanion.so"), "LD_LIBRARY_PATH"] in json.loads(out)


def test_library_path_set_after_the_start_does_not_count(plugins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(plugins / "companions"))
    assert closure(plugins / "libcompanion_missing.so")["libcompanion.so"].path is None


def test_file_of_another_processor_is_passed_over(plugins: Path, tmp_path: Path) -> None:
    library = Path(shutil.copy(plugins / "libcompanion_by_runpath.so", tmp_path))
    companion = tmp_path / "companions" / "libcompanion.so"
    companion.parent.mkdir()
    data = bytearray((plugins / "companions" / "libcompanion.so").read_bytes())
    companion.write_bytes(data)
    assert closure(library)["libcompanion.so"].path == companion
    data[18:20] = (183).to_bytes(2, "little")
    companion.write_bytes(data)
    assert closure(library)["libcompanion.so"].path is None


def test_runtime_is_found_behind_another_library(plugins: Path) -> None:
    found = closure(plugins / "libneeds_runtime_through_another.so")
    assert found["libmiddle.so"].ort_runtime is None
    assert found["libonnxruntime.so.1"].needed_by == "libmiddle.so"
    assert found["libonnxruntime.so.1"].ort_runtime


def test_runtime_under_another_name_is_found_by_its_export(plugins: Path) -> None:
    found = closure(plugins / "libneeds_disguised_runtime.so")
    assert found["libmath_kernels.so"].ort_runtime == "it exports OrtGetApiBase"


def test_runtime_behind_a_link_of_another_name_is_found(plugins: Path, tmp_path: Path) -> None:
    library = Path(shutil.copy(plugins / "libcompanion_by_runpath.so", tmp_path))
    (tmp_path / "companions").mkdir()
    runtime = Path(shutil.copy(plugins / "companions" / "libcompanion.so", tmp_path / "libonnxruntime.so.1.29.0"))
    (tmp_path / "companions" / "libcompanion.so").symlink_to(runtime)
    assert closure(library)["libcompanion.so"].ort_runtime == "by the file's name, libonnxruntime.so.1.29.0"


def test_runtime_that_is_not_installed_is_still_a_runtime(plugins: Path, tmp_path: Path) -> None:
    library = Path(shutil.copy(plugins / "libneeds_runtime.so", tmp_path))
    missing = closure(library)["libonnxruntime.so.1"]
    assert missing.path is None
    assert missing.ort_runtime
