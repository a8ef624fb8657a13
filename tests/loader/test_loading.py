"""Loading for real: what is refused leaves nothing mapped, what is loaded is entered, undone and unloaded."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from onnx_light_ort._native import abi
from onnx_light_ort.host import library_inspection, loader
from onnx_light_ort.host.admission import set_admission
from onnx_light_ort.host.api_base_bootstrap import bootstrap_file
from onnx_light_ort.host.compatibility_matrix import AUDITED, CompatibilityRow, compatibility_matrix
from onnx_light_ort.host.library_errors import (
    BootstrapConflictError,
    BootstrapRequiredError,
    EntryPointError,
    LibraryChangedError,
    LibraryDependencyError,
    LibraryError,
    LibraryFormatError,
    LibraryLoadError,
    LibraryNotAdmittedError,
    LibraryNotAllowedError,
    LibraryNotFoundError,
    LibraryPathError,
    LibraryProfileError,
    UnauditedLibraryWarning,
)
from onnx_light_ort.host.library_path import set_library_allow_list
from onnx_light_ort.host.loader import call_register_custom_ops, load_library, register_custom_ops_library
from onnx_light_ort.host.memory_map import mapped_files


@pytest.fixture(autouse=True)
def nothing_stays_loaded(plugins: Path, tmp_path: Path) -> Iterator[None]:
    """After each test no library is mapped that it loaded, but for the two that are made to stay."""
    yield
    gc.collect()
    ours = [path for path in mapped_files() if {plugins, tmp_path} & set(path.parents) or path == bootstrap_file()]
    assert [path for path in ours if path.name not in ("libnodelete.so", "libgnu_unique.so")] == []


@pytest.fixture
def options() -> abi.SessionOptions:
    return abi.SessionOptions()


def patched(library: Path, folder: Path, offset: int, value: bytes) -> Path:
    data = bytearray(library.read_bytes())
    data[offset : offset + len(value)] = value
    copy = folder / library.name
    copy.write_bytes(data)
    return copy


# --- What is refused -------------------------------------------------------------------------------------------------


def test_relative_path_is_refused() -> None:
    with pytest.raises(LibraryPathError, match="absolute"):
        load_library("libcustom_ops.so")


def test_missing_file_is_refused(plugins: Path) -> None:
    with pytest.raises(LibraryNotFoundError, match="check the path"):
        load_library(plugins / "libnothing.so")


def test_folder_is_refused(plugins: Path) -> None:
    with pytest.raises(LibraryPathError, match="folder"):
        load_library(plugins)


def test_file_that_may_not_be_read_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path, which others cannot even enter
        Path(folder).chmod(0o755)
        library = Path(folder) / "libsecret.so"
        library.touch(0o000)
        user = os.geteuid()
        if user == 0:  # who may read everything
            os.seteuid(65534)
        try:
            with pytest.raises(LibraryPathError, match="permission to read"):
                load_library(library)
        finally:
            os.seteuid(user)


def test_file_that_fails_when_read_is_refused() -> None:
    with pytest.raises(LibraryPathError, match=r"cannot be read \(.*pass an ordinary file"):
        load_library("/proc/self/mem")


def test_text_file_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "libtext.so"
    text.write_text("INPUT(libcustom_ops.so)\n")
    with pytest.raises(LibraryFormatError, match="a text file"):
        load_library(text)


def test_empty_file_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "libempty.so"
    empty.touch()
    with pytest.raises(LibraryFormatError, match="empty"):
        load_library(empty)


def test_wrong_architecture_is_refused_and_both_are_named(plugins: Path, tmp_path: Path) -> None:
    with pytest.raises(LibraryFormatError, match=r"built for aarch64 .* this process is \w+ .*use a build for"):
        load_library(patched(plugins / "libcustom_ops.so", tmp_path, 18, (183).to_bytes(2, "little")))


def test_truncated_library_is_refused_before_it_could_crash_the_process(plugins: Path, tmp_path: Path) -> None:
    copy = tmp_path / "libcustom_ops.so"
    copy.write_bytes((plugins / "libcustom_ops.so").read_bytes()[:9000])
    with pytest.raises(LibraryFormatError, match="truncated"):
        load_library(copy)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no_entry_point", "exports neither RegisterCustomOps"),
        ("wrong_name", "exports RegisterCustomOp, which is not RegisterCustomOps; rename it"),
        ("mangled_name", 'under the C\\+\\+ name _Z17RegisterCustomOps.*declare it extern "C"'),
        ("data_entry_point", "not a function"),
        ("half_ep", "exports CreateEpFactories but not ReleaseEpFactory"),
    ],
)
def test_exports_that_fit_no_profile_are_refused(plugins: Path, name: str, says: str) -> None:
    with pytest.raises(LibraryProfileError, match=says):
        load_library(plugins / f"lib{name}.so")


@pytest.mark.parametrize("name", ["needs_runtime", "needs_runtime_through_another", "needs_disguised_runtime"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_library_that_needs_an_ort_runtime_is_refused(plugins: Path, name: str, bootstrap: bool) -> None:
    with pytest.raises(LibraryDependencyError, match="rebuild it against the headers alone"):
        load_library(plugins / f"lib{name}.so", bootstrap=bootstrap)


def test_ort_runtime_itself_is_refused(plugins: Path) -> None:
    with pytest.raises(LibraryDependencyError, match="not a plugin for one"):
        load_library(plugins / "libonnxruntime.so")
    with pytest.raises(LibraryDependencyError, match="it exports OrtGetApiBase"):
        load_library(plugins / "libmath_kernels.so")


def test_library_whose_companion_is_missing_is_refused(plugins: Path) -> None:
    with pytest.raises(LibraryDependencyError, match=r"libcompanion\.so, which is not found; install it"):
        load_library(plugins / "libcompanion_missing.so")


def test_undefined_symbol_is_the_linkers_refusal(plugins: Path) -> None:
    with pytest.raises(LibraryLoadError, match="function_that_nobody_wrote"):
        load_library(plugins / "libundefined_symbol.so")


def test_link_that_leaves_the_allowed_folder_is_refused(plugins: Path, tmp_path: Path) -> None:
    link = tmp_path / "libcustom_ops.so"
    link.symlink_to(plugins / "libcustom_ops.so")
    set_library_allow_list([tmp_path])
    with pytest.raises(LibraryNotAllowedError, match="a link leads out"):
        load_library(link)


def test_importer_is_refused_without_the_bootstrap(plugins: Path) -> None:
    with pytest.raises(BootstrapRequiredError, match="pass bootstrap=True"):
        load_library(plugins / "libstatic_importer.so")


def test_every_refusal_is_one_sentence_about_that_file(plugins: Path) -> None:
    for name in ("no_entry_point", "half_ep", "needs_runtime", "static_importer", "companion_missing"):
        with pytest.raises(LibraryError) as caught:
            load_library(plugins / f"lib{name}.so")
        assert caught.value.path == plugins / f"lib{name}.so"
        assert str(caught.value).startswith(f"{plugins / f'lib{name}.so'}: ")


# --- Admission -------------------------------------------------------------------------------------------------------


def test_unaudited_library_is_loaded_with_a_warning_by_default(plugins: Path) -> None:
    set_admission("warn")
    with pytest.warns(UnauditedLibraryWarning, match="not in the compatibility matrix"):
        library = load_library(plugins / "libcustom_ops.so")
    assert library.close().unmapped


def test_warning_that_is_made_an_error_leaves_nothing_loaded(plugins: Path) -> None:
    set_admission("warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnauditedLibraryWarning):
            load_library(plugins / "libcustom_ops.so")


def test_unaudited_library_is_refused_under_audited(plugins: Path) -> None:
    set_admission("audited")
    with pytest.raises(LibraryNotAdmittedError, match=r'set_admission\("warn"\)'):
        load_library(plugins / "libcustom_ops.so")


@pytest.mark.parametrize("status", ["audited", "not yet run"])
def test_only_an_audited_row_admits_under_audited(plugins: Path, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    path = plugins / "libcustom_ops.so"
    with path.open("rb") as file:
        sha256 = library_inspection.inspect_library(path, path, file).sha256
    slots = ("OrtApiBase::GetApi",) if status == AUDITED else None
    row = CompatibilityRow("fixture", "1", "libcustom_ops.so", "linux", 29, "custom ops", sha256, status, slots)
    monkeypatch.setitem(compatibility_matrix(), sha256, row)
    set_admission("audited")
    if status == AUDITED:
        assert load_library(path).close().unmapped
    else:
        with pytest.raises(LibraryNotAdmittedError, match="not yet run: fixture 1"):
            load_library(path)


def test_a_row_cannot_claim_an_audit_without_its_slots() -> None:
    with pytest.raises(ValueError, match="names the slots"):
        CompatibilityRow("fixture", "1", "lib.so", "linux", 29, "custom ops", "00", AUDITED, None)


def test_unknown_admission_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="choose one of 'warn', 'audited', 'any'"):
        set_admission("trusted")  # type: ignore[arg-type]


# --- Loading and unloading -------------------------------------------------------------------------------------------


def test_library_is_mapped_while_it_is_loaded_and_gone_after(plugins: Path) -> None:
    path = plugins / "libcustom_ops.so"
    with load_library(path) as library:
        assert path.resolve() in mapped_files()
        assert library.path == path.resolve()
    assert path.resolve() not in mapped_files()


def test_claims_are_counted_and_the_last_one_unloads(plugins: Path) -> None:
    path = (plugins / "libcustom_ops.so").resolve()
    first, second = load_library(path), load_library(path)
    assert abi.LibraryHandle.open_count(path) == 2
    report = first.close()
    assert not report.unmapped
    assert report.reasons == ("this process loaded it 1 more time(s)",)
    assert abi.LibraryHandle.open_count(path) == 1
    assert second.close().unmapped
    assert abi.LibraryHandle.open_count(path) == 0


def test_closing_twice_is_fine_and_a_closed_library_is_not_entered(plugins: Path, options: abi.SessionOptions) -> None:
    library = load_library(plugins / "libcustom_ops.so")
    assert library.close().unmapped
    assert library.close().unmapped
    with pytest.raises(RuntimeError, match="the library was closed; load it again"):
        call_register_custom_ops(library, options)


def test_library_goes_with_the_object_that_held_it(plugins: Path) -> None:
    path = plugins / "libcustom_ops.so"
    library = load_library(path)
    del library
    gc.collect()
    assert path.resolve() not in mapped_files()


def test_a_remembered_exception_does_not_keep_the_library(plugins: Path, options: abi.SessionOptions) -> None:
    path = plugins / "libreturns_error.so"
    with pytest.raises(EntryPointError) as caught:
        register_custom_ops_library(path, options)
    assert caught.value.__traceback__ is not None  # whose frames hold the library's objects
    assert path.resolve() not in mapped_files()


@pytest.mark.parametrize("rule", ["rpath", "runpath"])
def test_companions_come_and_go_with_the_library(plugins: Path, options: abi.SessionOptions, rule: str) -> None:
    companion = (plugins / "companions" / "libcompanion.so").resolve()
    library = register_custom_ops_library(plugins / f"libcompanion_by_{rule}.so", options)
    assert companion in mapped_files()
    assert options.config_entries == {"fixture.companion": "companion"}
    assert library.close().unmapped
    assert companion not in mapped_files()


def test_exports_of_a_loaded_library_are_not_offered_to_others(plugins: Path) -> None:
    with load_library(plugins / "libcustom_ops.so"):
        assert abi.global_provider("RegisterCustomOps") is None


def test_nodelete_library_stays_and_the_report_says_why(plugins: Path) -> None:
    report = load_library(plugins / "libnodelete.so").close()
    assert not report.unmapped
    assert report.reasons == ("it is linked with -z nodelete",)
    assert "still mapped" in str(report)


def test_library_with_gnu_unique_symbols_stays_and_the_report_names_one(
    plugins: Path, options: abi.SessionOptions
) -> None:
    report = register_custom_ops_library(plugins / "libgnu_unique.so", options).close()
    assert not report.unmapped
    assert "GNU unique symbol(s) such as _ZN7CounterIfE5callsE" in report.reasons[0]
    assert "-fno-gnu-unique" in report.reasons[0]


def test_library_with_a_thread_local_object_goes_when_the_thread_has_ended(
    plugins: Path, options: abi.SessionOptions
) -> None:
    path = plugins / "libthread_local_object.so"
    library = load_library(path)
    registered, finish = threading.Event(), threading.Event()

    def register_and_wait() -> None:
        call_register_custom_ops(library, options)
        registered.set()
        finish.wait()

    thread = threading.Thread(target=register_and_wait)
    thread.start()
    registered.wait()
    report = library.close()
    assert not report.unmapped
    assert "thread-local objects" in report.reasons[0]
    finish.set()
    thread.join()
    # The linker lets go at its next closing.
    assert load_library(plugins / "libcustom_ops.so").close().unmapped
    assert path.resolve() not in mapped_files()


def test_library_that_someone_else_opened_stays_and_the_report_says_so(plugins: Path) -> None:
    import _ctypes

    path = plugins / "libcustom_ops.so"
    foreign = _ctypes.dlopen(str(path.resolve()), os.RTLD_NOW)
    try:
        report = load_library(path).close()
    finally:
        _ctypes.dlclose(foreign)
    assert not report.unmapped
    assert report.reasons == ("something outside of this host opened it too, or is bound to its symbols",)


# --- Between check and load ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["replaced", "rewritten"])
def test_file_that_changes_between_check_and_load_is_refused(
    plugins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    victim = Path(shutil.copy(plugins / "libcustom_ops.so", tmp_path / "libvictim.so"))
    really_open = loader._open

    def open_after_the_swap(inspection: library_inspection.LibraryInspection) -> abi.LibraryHandle:
        if how == "replaced":
            other = Path(shutil.copy(plugins / "libreturns_error.so", tmp_path / "libother.so"))
            other.rename(victim)
        else:
            victim.write_bytes((plugins / "libreturns_error.so").read_bytes())
        return really_open(inspection)

    monkeypatch.setattr(loader, "_open", open_after_the_swap)
    with pytest.raises(LibraryChangedError, match="the file changed while it was loaded"):
        load_library(victim)


def test_replaced_file_is_not_confused_with_the_old_one_that_is_still_loaded(plugins: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(plugins / "libcustom_ops.so", tmp_path / "libplugin.so"))
    with load_library(path):
        Path(shutil.copy(plugins / "libreturns_error.so", tmp_path / "libnew.so")).rename(path)
        with pytest.raises(LibraryChangedError, match="an earlier file of this name is still mapped"):
            load_library(path)
    assert load_library(path).close().unmapped


# --- Entry points ----------------------------------------------------------------------------------------------------


def test_entry_point_reaches_the_options(plugins: Path, options: abi.SessionOptions) -> None:
    library = register_custom_ops_library(plugins / "libcustom_ops.so", options)
    assert options.config_entries == {"fixture.custom_ops": "registered"}
    assert library.close().unmapped


def test_status_that_says_ok_is_success(plugins: Path, options: abi.SessionOptions) -> None:
    assert register_custom_ops_library(plugins / "libreturns_ok_status.so", options).close().unmapped


def test_error_status_is_raised_with_code_and_message_and_undone(plugins: Path, options: abi.SessionOptions) -> None:
    options.add_config_entry("mine", "kept")
    with pytest.raises(EntryPointError, match="ORT_NO_SUCHFILE: the fixture's weights are missing") as caught:
        register_custom_ops_library(plugins / "libreturns_error.so", options)
    assert (caught.value.code, caught.value.status_message) == (3, "the fixture's weights are missing")
    assert options.config_entries == {"mine": "kept"}


def test_exception_is_raised_as_such_and_undone(plugins: Path, options: abi.SessionOptions) -> None:
    with pytest.raises(EntryPointError, match="RegisterCustomOps threw an exception: the fixture gave up") as caught:
        register_custom_ops_library(plugins / "libthrows.so", options)
    assert caught.value.code == 6
    assert options.config_entries == {}


def test_exception_that_is_no_std_exception_is_raised(plugins: Path, options: abi.SessionOptions) -> None:
    with pytest.raises(EntryPointError, match="no std::exception"):
        register_custom_ops_library(plugins / "libthrows_int.so", options)


@pytest.mark.parametrize("version", [0, 30, 4294967295])
def test_refused_version_is_named_beside_those_that_there_are(
    plugins: Path, options: abi.SessionOptions, version: int
) -> None:
    with pytest.raises(
        EntryPointError, match=rf"asked GetApi for version {version}, and this host has 8 to 29: use a build"
    ):
        register_custom_ops_library(plugins / f"libasks_for_{version}.so", options)


def test_stepping_down_to_a_version_that_there_is_is_no_error(plugins: Path, options: abi.SessionOptions) -> None:
    assert register_custom_ops_library(plugins / "libsteps_down.so", options).close().unmapped
    assert options.config_entries == {"fixture.steps_down": "registered"}


def test_success_without_any_api_is_an_error(plugins: Path, options: abi.SessionOptions) -> None:
    with pytest.raises(EntryPointError, match=r"obtained no API.*version 1000") as caught:
        register_custom_ops_library(plugins / "libgives_up_silently.so", options)
    assert caught.value.refused_versions == (1000,)


def test_versions_of_an_earlier_library_are_not_blamed_on_the_next(plugins: Path, options: abi.SessionOptions) -> None:
    with pytest.raises(EntryPointError):
        register_custom_ops_library(plugins / "libasks_for_30.so", options)
    with pytest.raises(EntryPointError) as caught:
        register_custom_ops_library(plugins / "libreturns_error.so", options)
    assert caught.value.refused_versions == ()


def test_plugin_ep_is_loaded_but_has_no_custom_ops_to_register(plugins: Path, options: abi.SessionOptions) -> None:
    with load_library(plugins / "libep_factories.so") as library:
        assert library.inspection.fit.profiles == ("plugin EP",)
        with pytest.raises(LibraryProfileError, match="register it as a plugin EP"):
            call_register_custom_ops(library, options)


# --- The bootstrap ---------------------------------------------------------------------------------------------------


def test_importer_finds_the_hosts_api_in_its_static_initialisers(plugins: Path, options: abi.SessionOptions) -> None:
    library = register_custom_ops_library(plugins / "libstatic_importer.so", options, bootstrap=True)
    assert options.config_entries == {"fixture.static_importer": "registered"}
    assert bootstrap_file() in mapped_files()
    assert library.close().unmapped
    assert bootstrap_file() not in mapped_files()
    assert abi.global_provider("OrtGetApiBase") is None


def test_bootstrap_goes_with_the_last_of_its_importers(plugins: Path, tmp_path: Path) -> None:
    first = load_library(plugins / "libstatic_importer.so", bootstrap=True)
    second = load_library(shutil.copy(plugins / "libstatic_importer.so", tmp_path / "libsecond.so"), bootstrap=True)
    assert first.close().unmapped
    assert bootstrap_file() in mapped_files()
    assert second.close().unmapped
    assert bootstrap_file() not in mapped_files()


def test_bootstrap_is_not_loaded_for_a_library_that_does_not_import_it(plugins: Path) -> None:
    with load_library(plugins / "libcustom_ops.so", bootstrap=True):
        assert bootstrap_file() not in mapped_files()


def test_bootstrap_does_not_stay_when_the_importer_cannot_be_loaded(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plugins / "libundefined_symbol.so"
    monkeypatch.setattr(library_inspection.LibraryInspection, "imports_api_base", property(lambda self: (path.name,)))
    with pytest.raises(LibraryLoadError):
        load_library(path, bootstrap=True)
    assert bootstrap_file() not in mapped_files()


def test_bootstrap_library_needs_and_offers_nothing_of_ort() -> None:
    out = subprocess.run(["readelf", "-dW", bootstrap_file()], capture_output=True, text=True, check=True).stdout
    assert "Library soname: [libonnx_light_ort_bootstrap.so]" in out
    assert [line.split("[")[1].rstrip("]") for line in out.splitlines() if "(NEEDED)" in line] == ["libc.so.6"]
    out = subprocess.run(["nm", "-D", "--defined-only", bootstrap_file()], capture_output=True, text=True).stdout
    exports = {line.split()[-1] for line in out.splitlines()}
    assert exports == {"OrtGetApiBase", "onnx_light_ort_bootstrap_set_api_base"}


IN_A_PROCESS_WITH_ANOTHER_PROVIDER = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
from onnx_light_ort.host.admission import set_admission
from onnx_light_ort.host.library_errors import BootstrapConflictError
from onnx_light_ort.host.loader import load_library
from onnx_light_ort.host.memory_map import mapped_files
set_admission("any")
try:
    load_library(sys.argv[2], bootstrap=True)
except BootstrapConflictError as error:
    assert not [path for path in mapped_files() if path.name == "libstatic_importer.so"]
    print(error)
"""


def test_importer_is_refused_where_something_else_provides_the_api_to_everyone(plugins: Path) -> None:
    assert issubclass(BootstrapConflictError, LibraryError)
    runtime = plugins / "libmath_kernels.so"
    out = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS_WITH_ANOTHER_PROVIDER, runtime, plugins / "libstatic_importer.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{runtime} already provides OrtGetApiBase" in out


def test_bootstrap_without_a_host_says_so_instead_of_returning_null() -> None:
    program = f"import ctypes; ctypes.CDLL({str(bootstrap_file())!r}).OrtGetApiBase()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode < 0
    assert "before a host provided its table" in done.stderr


# --- Threads ---------------------------------------------------------------------------------------------------------


def test_threads_load_enter_and_close_at_once(plugins: Path) -> None:
    def outcome(name: str) -> tuple[str, tuple[int, ...] | None]:
        path = plugins / f"lib{name}.so"
        try:
            register_custom_ops_library(path, abi.SessionOptions(), bootstrap=True).close()
        except EntryPointError as error:
            return error.path.stem, error.refused_versions
        return path.stem, None

    expected = {"custom_ops": None, "returns_error": (), "throws": (), "static_importer": None, "asks_for_30": (30,)}
    names = [*expected] * 10
    with ThreadPoolExecutor(5) as threads:
        assert list(threads.map(outcome, names)) == [(f"lib{name}", expected[name]) for name in names]
