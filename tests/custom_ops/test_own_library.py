"""The template for a library of one's own builds against the installed package alone, and passes its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnx_light_ort as ort
from onnx_light_ort.host.elf_inspection import ElfFile

TEMPLATE = Path(__file__).resolve().parents[2] / "examples" / "custom_op_template"


def run(*command: str | Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "CMAKE_GENERATOR": "Ninja", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_template_builds_with_find_package_and_passes_its_tests(tmp_path: Path) -> None:
    # Out of the source tree, so that nothing but the installed package can be found.
    source, build = tmp_path / "template", tmp_path / "build"
    shutil.copytree(TEMPLATE, source)
    run(
        "cmake", "-S", source, "-B", build, f"-Donnx_light_ort_ROOT={ort.cmake_dir()}",
        f"-DPython_EXECUTABLE={sys.executable}",
    )  # fmt: skip
    run("cmake", "--build", build)
    assert "100% tests passed" in run("ctest", "--test-dir", build, "--output-on-failure")
    with (build / "libscaled_sum.so").open("rb") as file:
        elf = ElfFile(file)
        assert [name for name in elf.symbols().exports if not name.startswith("_")] == ["RegisterCustomOps"]
        assert elf.symbols().unique == ()
        assert not any("onnx" in name for name in elf.dynamic.needed)


def test_the_installed_header_is_the_generated_one() -> None:
    generated = TEMPLATE.parents[1] / "generated" / "include"
    for header in ("onnx_light_ort/ort_abi.h", "onnxruntime_c_api.h", "onnxruntime_ep_c_api.h"):
        assert (Path(ort.include_dir()) / header).read_bytes() == (generated / header).read_bytes()
