from __future__ import annotations

import _ctypes
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_light_ort.host import linker_search
from onnx_light_ort.host.dependency_closure import Dependency, dependency_closure, runtime_reason
from onnx_light_ort.host.elf_inspection import ElfFile
from onnx_light_ort.host.ort_runtime import is_runtime_name


def shared_library(path: Path, source: str, *options: str | Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path, "-x", "none", "-Wl,--no-as-needed", *options]
    subprocess.run(command, input=source, text=True, check=True)
    return path


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
        "libonnxruntime_providers_cuda_plugin.so",
        "libonnxruntime_providers_mine.so",
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


def test_runtime_whose_export_shares_its_name_with_a_longer_one_is_found(tmp_path: Path) -> None:
    # At -O2 the linker lets a string share the end of a longer one: no zero byte precedes the shorter name.
    source = "void OrtGetApiBase(void) {} void XOrtGetApiBase(void) {}"
    runtime = shared_library(tmp_path / "libplain.so", source, "-Wl,-O2", "-Wl,-soname,libplain.so")
    assert b"\0OrtGetApiBase\0" not in runtime.read_bytes()
    library = shared_library(tmp_path / "libplugin.so", "", runtime, "-Wl,-rpath,$ORIGIN")
    assert closure(library)["libplain.so"].ort_runtime == "it exports OrtGetApiBase"


def test_provider_that_is_built_with_ort_is_told_by_its_import_and_a_plugin_of_such_a_name_is_none(
    tmp_path: Path,
) -> None:
    source = "void *Provider_GetHost(void); void *start(void) { return Provider_GetHost(); }"
    provider = shared_library(tmp_path / "libonnxruntime_providers_cuda.so", source)
    plugin = shared_library(tmp_path / "libonnxruntime_providers_cuda_plugin.so", "void CreateEpFactories(void) {}")
    with provider.open("rb") as file:
        assert "it imports Provider_GetHost" in str(runtime_reason(provider, ElfFile(file)))
    with plugin.open("rb") as file:
        assert runtime_reason(plugin, ElfFile(file)) is None


IN_A_PROCESS_THAT_HAS_IT_LOADED = """
import ctypes, sys
from pathlib import Path
from onnx_light_ort.host.dependency_closure import dependency_closure
from onnx_light_ort.host.elf_inspection import ElfFile
ctypes.CDLL(sys.argv[1])
library = Path(sys.argv[2])
for found in dependency_closure(library, ElfFile(library.open("rb")).dynamic):
    print(found.name, found.found_by, found.ort_runtime, found.imports_api_base, sep=": ")
"""


def test_dependency_that_is_already_loaded_is_inspected_as_any_other(tmp_path: Path) -> None:
    runtime = shared_library(
        tmp_path / "hidden" / "libhidden.so", "void OrtGetApiBase(void) {}", "-Wl,-soname,libhidden.so"
    )
    middle = shared_library(
        tmp_path / "hidden" / "libmiddle.so",
        "",
        runtime,
        "-Wl,-soname,libmiddle.so",
        "-Wl,--enable-new-dtags,-rpath,$ORIGIN",
    )
    library = shared_library(tmp_path / "libplugin.so", "", middle)
    out = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS_THAT_HAS_IT_LOADED, middle, library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert "libmiddle.so: already loaded: None: False" in out
    assert "libhidden.so: already loaded: it exports OrtGetApiBase: False" in out


def test_library_path_that_is_empty_does_not_mean_the_current_folder(plugins: Path) -> None:
    program = "from onnx_light_ort.host.linker_search import _library_path; print(_library_path())"
    for value, means in [("", "()"), (":/a", "('.', '/a')")]:
        environment = {**os.environ, "LD_LIBRARY_PATH": value}
        out = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        ).stdout
        assert out.strip() == means


@pytest.mark.parametrize("folder", ["lib", "lib64", f"lib/{os.uname().machine}-linux-gnu"])
def test_companion_is_found_wherever_the_lib_token_leads(tmp_path: Path, folder: str) -> None:
    companion = shared_library(tmp_path / folder / "libcompanion.so", "", "-Wl,-soname,libcompanion.so")
    library = shared_library(tmp_path / "libplugin.so", "", companion, "-Wl,-rpath,$ORIGIN/$LIB")
    assert closure(library)["libcompanion.so"].path == companion


def test_build_for_this_processor_comes_first_and_one_for_a_better_one_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linker_search, "processor_levels", lambda: ("x86-64-v3", "x86-64-v2"))
    folders = [tmp_path / "glibc-hwcaps" / f"x86-64-v{level}" for level in (4, 3, 2)]
    best, better, good, plain = (
        shared_library(folder / "libcompanion.so", "", "-Wl,-soname,libcompanion.so") for folder in (*folders, tmp_path)
    )
    library = shared_library(tmp_path / "libplugin.so", "", plain, "-Wl,-rpath,$ORIGIN")
    for expected in (better, good, plain):
        assert closure(library)["libcompanion.so"].path == expected
        expected.unlink()
    assert closure(library)["libcompanion.so"].path is None
    assert best.exists()
    assert linker_search._by_processor_level([plain, best, good, better]) == [better, good, plain]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="only x86-64 has levels")
def test_levels_of_the_processor_are_those_that_the_linker_reports() -> None:
    out = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], capture_output=True, text=True).stdout
    reported = [line.split()[0] for line in out.splitlines() if "x86-64-v" in line and "supported" in line]
    if "glibc-hwcaps" not in out:
        pytest.skip("this linker is older than glibc-hwcaps")
    assert list(linker_search.processor_levels()) == reported


def test_truncated_cache_of_the_linker_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strings = b"libz.so.1\0/somewhere/libz.so.1\0"
    start = linker_search._CACHE_HEADER.size + linker_search._CACHE_ENTRY.size
    whole = (
        linker_search._CACHE_HEADER.pack(b"glibc-ld.so.cache1.1", 1, len(strings))
        + linker_search._CACHE_ENTRY.pack(3, start, start + 10, 0, 0)
        + strings
    )
    file = tmp_path / "ld.so.cache"
    monkeypatch.setattr(linker_search, "_CACHE_FILE", file)
    read_anew = linker_search.cached_libraries.__wrapped__
    file.write_bytes(whole)
    assert read_anew() == {"libz.so.1": (Path("/somewhere/libz.so.1"),)}
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert read_anew() == {}


def test_a_loaded_library_is_known_by_its_soname(tmp_path: Path) -> None:
    needed = shared_library(tmp_path / "libneeded.so", "int needed;", "-Wl,-soname,libsoname.so.7")
    library = shared_library(tmp_path / "libplugin.so", "", needed)
    assert closure(library)["libsoname.so.7"].path is None
    handle = ctypes.CDLL(str(needed))
    try:
        found = closure(library)["libsoname.so.7"]
    finally:
        _ctypes.dlclose(handle._handle)
    assert (found.path, found.found_by) == (needed, "already loaded")


def test_origin_in_ld_library_path_is_the_folder_of_the_program(tmp_path: Path) -> None:
    needed = shared_library(tmp_path / "lib" / "libneeded.so", "int needed;", "-Wl,-soname,libneeded.so")
    library = shared_library(tmp_path / "libplugin.so", "", needed)
    program = Path(sys.executable).resolve().parent
    search = """
import ctypes, sys
from pathlib import Path
from onnx_light_ort.host.dependency_closure import dependency_closure
from onnx_light_ort.host.elf_inspection import ElfFile
with open(sys.argv[1], "rb") as file:
    found, *_ = [d for d in dependency_closure(Path(sys.argv[1]), ElfFile(file).dynamic) if d.name == "libneeded.so"]
print(found.path and found.path.resolve(), found.found_by)
ctypes.CDLL(sys.argv[1])  # the linker finds it, too
"""
    folder = f"$ORIGIN/{os.path.relpath(needed.parent, program)}"
    environment = {**os.environ, "LD_LIBRARY_PATH": folder}
    command = [sys.executable, "-c", search, library]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{needed.resolve()} LD_LIBRARY_PATH"


def test_a_needed_library_that_changed_is_read_again(tmp_path: Path) -> None:
    named = "-Wl,-soname,libneeded.so"
    needed = shared_library(tmp_path / "libneeded.so", "int needed;", named)
    library = shared_library(tmp_path / "libplugin.so", "", needed, f"-Wl,-rpath,{tmp_path}")
    before = closure(library)["libneeded.so"]
    shared_library(needed, "int needed; int OrtGetApiBase() { return 0; }", named)
    after = closure(library)["libneeded.so"]
    assert before.ort_runtime is None
    assert after.ort_runtime == "it exports OrtGetApiBase"
