"""What every test may ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from published_wheel import unpacked_wheel

ROOT = Path(__file__).resolve().parent.parent
# `python -m pytest` puts the repository on the path, whose sources would hide the installed package.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "no_address_sanitizer(reason): left out in a process with AddressSanitizer")


def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("no_address_sanitizer")
    if marker is not None and "/libasan.so" in Path("/proc/self/maps").read_text():
        pytest.skip(marker.kwargs["reason"])


@pytest.fixture(scope="session", autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """For the same reason, programs that tests start do not start in the repository, unless told to."""
    os.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="session")
def wheel() -> Callable[[str], Path]:
    """Gives the unpacked files of a published package: ``wheel("magika==1.0.3")``."""
    return unpacked_wheel


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """The folder of the built plugins of ``fixtures/``, one subfolder for each of its folders."""
    build = ROOT / "build" / "fixtures"
    # cmake and ninja of the test extra lie beside the interpreter, wherever PATH points.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "CMAKE_GENERATOR": "Ninja"}
    environment.pop("LD_PRELOAD", None)  # A sanitizer is for the tests' process; some tools do not run with one.
    build.mkdir(parents=True, exist_ok=True)
    # Test processes that run side by side share the folder; the first one builds.
    with FileLock(build / "lock"):
        for arguments in (["-S", ROOT / "fixtures", "-B", build], ["--build", build, "--parallel", "2"]):
            command = ["cmake", *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode != 0:
                pytest.fail(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}", pytrace=False)
    return build
