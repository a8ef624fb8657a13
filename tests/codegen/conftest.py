"""What the generator's tests share: the pinned ABI, a small ABI in ORT's dialect, and a C++ compiler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL_ABI = Path(__file__).parent / "small_abi"
# At the end, so that an installed onnx_light_ort is found before the sources.
sys.path.append(str(ROOT))

from codegen.generators import Tables, generate  # noqa: E402
from codegen.model import Abi  # noqa: E402
from codegen.pin import load_pin, pin, pinned_versions  # noqa: E402

Compile = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def newest_pin() -> Path:
    return list(pinned_versions(ROOT / "headers").values())[-1]


@pytest.fixture(scope="session")
def abi(newest_pin: Path) -> Abi:
    """The pinned ABI; not to be changed by a test."""
    return load_pin(newest_pin)


@pytest.fixture
def small_headers(tmp_path: Path) -> Path:
    """A copy of the small ABI's headers, for a test to change."""
    return Path(shutil.copytree(SMALL_ABI, tmp_path / "include"))


@pytest.fixture
def edit(small_headers: Path) -> Callable[[str, str, str], Path]:
    """Replaces text in one of the small headers; returns their folder."""

    def replace(file: str, old: str, new: str) -> Path:
        path = small_headers / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))
        return small_headers

    return replace


@pytest.fixture(scope="session")
def compile_native() -> Compile:
    """Compiles and links with g++, warnings being errors, against what was generated below `root`."""

    def run(
        sources: Sequence[Path], output: Path, root: Path, flags: Sequence[str] = (), check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        includes = (
            root / "generated" / "include",
            root / "generated" / "native",
            ROOT / "onnx_light_ort" / "_native" / "abi",
            ROOT / "kernels" / "include",
        )
        command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags]
        command += ['-DONNX_LIGHT_ORT_VERSION="0.0.0"', *(f"-I{folder}" for folder in includes)]
        command += ["-o", str(output), *map(str, sources)]
        result = subprocess.run(command, capture_output=True, text=True)
        assert not check or result.returncode == 0, result.stderr
        return result

    return run


@pytest.fixture(scope="session")
def host_core() -> list[Path]:
    """The hand-written sources that every table needs."""
    folder = ROOT / "onnx_light_ort" / "_native" / "abi"
    return [folder / name for name in ("bootstrap.cpp", "error.cpp", "fail_fast.cpp")]


def write_generated(abi: Abi, root: Path, tables: Tables) -> None:
    """Renders everything below `root`."""
    for name, text in generate(abi, tables).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="session")
def small_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with everything generated from the small ABI; not to be changed by a test."""
    root = tmp_path_factory.mktemp("small")
    pin(SMALL_ABI, 29, root / "headers", "none")
    tables = Tables(SMALL_ABI / "support.toml", SMALL_ABI / "nullability.toml", SMALL_ABI / "ownership.toml")
    write_generated(load_pin(root / "headers" / "v29"), root, tables)
    return root


@pytest.fixture(scope="session")
def render_to() -> Callable[[Abi, Path, Tables], None]:
    return write_generated
