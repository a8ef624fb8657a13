"""Registering libraries: all of a library's operators or none, in any number of libraries, domains and sessions."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from custom_ops.custom_op_cases import X
from custom_ops.custom_op_failures import ALLOWED, FAILED_REGISTRATIONS, MALFORMED, REGISTRATIONS
from custom_ops.custom_op_model import FLOAT, INT64, model_of, node_model, value
from onnx import ModelProto, helper

from onnx_light_ort import Error, Fail, InferenceSession, SessionOptions
from onnx_light_ort.host.library_errors import EntryPointError, LibraryError
from onnx_light_ort.host.memory_map import mapped_files

MakeSession = Callable[..., InferenceSession]
Counter = Callable[[str, str], int]


def names(options: SessionOptions) -> list[str]:
    return [] if options._custom_ops is None else [op.name for op in options._custom_ops.ops]


def one_input(domain: str, name: str) -> bytes:
    return node_model(name, [value("x", FLOAT)], [value("y", FLOAT)], domain=domain)


def is_mapped(path: str) -> bool:
    return any(file.samefile(path) for file in mapped_files() if file.name == Path(path).name)


@pytest.mark.parametrize("rule", MALFORMED)
def test_a_malformed_descriptor_is_refused_with_its_whole_library(
    library: Callable[[str], str], counter: Counter, rule: str
) -> None:
    name = f"malformed_{rule}"
    counter(name, "index_maps_made")  # keeps the library loaded, so that its counts survive
    options = SessionOptions()
    with pytest.raises(EntryPointError) as caught:
        options.register_custom_ops_library(library(name))
    assert MALFORMED[rule] in str(caught.value)
    assert caught.value.code == 2
    assert names(options) == []
    # Index arrays that were lent came back, whatever was wrong with them.
    assert counter(name, "index_maps_made") == counter(name, "index_maps_released") + (rule == "inplace_unreleased") * (
        counter(name, "index_maps_made")
    )
    with pytest.raises(Error, match="register"):
        InferenceSession(one_input("fixture.good", "Good"), options)


@pytest.mark.parametrize("rule", ALLOWED)
def test_an_unusual_descriptor_is_read_as_ort_reads_it(
    library: Callable[[str], str], counter: Counter, rule: str
) -> None:
    name = f"malformed_{rule}"
    before = counter(name, "index_maps_made"), counter(name, "index_maps_released")
    options = SessionOptions()
    options.register_custom_ops_library(library(name))
    assert names(options) == ["Good", "Bad"]
    made, released = (
        counter(name, function) - earlier
        for function, earlier in zip(("index_maps_made", "index_maps_released"), before, strict=True)
    )
    assert made == released == (rule.startswith(("inplace", "alias")) and rule != "alias_none")
    InferenceSession(one_input("fixture.good", "Good"), options)


@pytest.mark.parametrize("rule", ["wrong_provider", "unknown_provider"])
def test_a_node_of_an_operator_for_another_provider_is_refused(session: MakeSession, rule: str) -> None:
    inputs = [value("x", FLOAT), value("x2", FLOAT)]
    with pytest.raises(Fail, match="custom ops run on the CPU here"):
        session(node_model("Bad", inputs, [value("y", FLOAT)], domain="fixture.bad"), f"malformed_{rule}")


@pytest.mark.parametrize("rule", ["unknown_characteristic", "negative_arity", "gpu_input", "inplace_input_index"])
def test_what_a_descriptor_says_in_vain_changes_nothing(session: MakeSession, rule: str) -> None:
    inputs = [value("x", FLOAT), value("x2", FLOAT)]
    model = node_model("Bad", inputs, [value("y", FLOAT)], domain="fixture.bad")
    with pytest.raises(Fail, match="output"):
        session(model, f"malformed_{rule}").run(None, {"x": X, "x2": X})


@pytest.mark.parametrize("mode", FAILED_REGISTRATIONS)
def test_a_registration_that_fails_half_way_leaves_nothing(library: Callable[[str], str], mode: str) -> None:
    path = library(f"registration_{mode}")
    code, says = FAILED_REGISTRATIONS[mode]
    options = SessionOptions()
    options.register_custom_ops_library(library("kernel_state"))
    before = names(options)
    with pytest.raises(EntryPointError) as caught:
        options.register_custom_ops_library(path)
    assert caught.value.code == code
    assert says in str(caught.value)
    assert names(options) == before
    assert not is_mapped(path)
    with pytest.raises(Error):
        InferenceSession(one_input("fixture.first", "First"), options)
    # What was registered before works on.
    InferenceSession(one_input("fixture", "AddOne"), options).run(None, {"x": X})


@pytest.mark.parametrize("mode", REGISTRATIONS)
def test_a_registration_in_an_unusual_order_is_understood(session: MakeSession, mode: str) -> None:
    for domain, name, added in REGISTRATIONS[mode]:
        (y,) = session(one_input(domain, name), f"registration_{mode}").run(None, {"x": X})
        np.testing.assert_array_equal(y, X + added)


def test_several_libraries_serve_one_model(session: MakeSession) -> None:
    nodes = [
        helper.make_node("AddOne", ["x"], ["a"], domain="fixture"),
        helper.make_node("Twice", ["a"], ["b"], domain="fixture"),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Second", ["c"], ["d"], domain="fixture.second"),
        helper.make_node("FindPositive", ["d"], ["y"], domain="fixture"),
    ]
    model = model_of(nodes, [value("x", FLOAT)], [value("d", FLOAT), value("y", INT64)])
    libraries = ("kernel_state", "overloads", "registration_two_domains", "without_callbacks")
    d, y = session(model, *libraries).run(None, {"x": X})
    expected = np.maximum((X + 1) * 2, 0) + 2
    np.testing.assert_array_equal(d, expected)
    np.testing.assert_array_equal(y, np.flatnonzero(expected > 0))


def test_one_options_object_makes_sessions_that_share_no_kernel(library: Callable[[str], str]) -> None:
    options = SessionOptions()
    options.register_custom_ops_library(library("kernel_state"))
    model = node_model("Tally", [value("x", FLOAT)], [value("y", FLOAT)], start=0)
    first, second = InferenceSession(model, options), InferenceSession(model, options)
    for calls in range(3):
        np.testing.assert_array_equal(first.run(None, {"x": X})[0], X + calls)
    np.testing.assert_array_equal(second.run(None, {"x": X})[0], X)


def test_a_library_registered_twice_brings_its_operators_once(library: Callable[[str], str]) -> None:
    options = SessionOptions()
    options.register_custom_ops_library(library("kernel_state"))
    once = names(options)
    options.register_custom_ops_library(library("kernel_state"))
    assert names(options) == once
    InferenceSession(one_input("fixture", "AddOne"), options).run(None, {"x": X})


def test_two_options_objects_register_one_library_independently(library: Callable[[str], str]) -> None:
    first, second = SessionOptions(), SessionOptions()
    for options in (first, second):
        options.register_custom_ops_library(library("kernel_state"))
    session = InferenceSession(one_input("fixture", "AddOne"), first)
    del first
    gc.collect()
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 1)
    np.testing.assert_array_equal(
        InferenceSession(one_input("fixture", "AddOne"), second).run(None, {"x": X})[0], X + 1
    )


def test_the_library_stays_until_its_last_session_is_gone_and_then_leaves(library: Callable[[str], str]) -> None:
    path = library("registration_two_domains")
    gc.collect()
    options = SessionOptions()
    options.register_custom_ops_library(path)
    session = InferenceSession(one_input("fixture.first", "First"), options)
    del options
    gc.collect()
    assert is_mapped(path)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 1)
    del session
    gc.collect()
    assert not is_mapped(path)


def test_a_library_of_another_kind_is_refused(fixtures_dir: Path) -> None:
    options = SessionOptions()
    with pytest.raises(LibraryError):
        options.register_custom_ops_library(fixtures_dir / "loader" / "libep_factories.so")
    with pytest.raises(Fail):
        options.register_custom_ops_library("/nowhere/libmissing.so")
    assert names(options) == []


def test_threads_register_with_and_make_sessions_from_one_options_object(library: Callable[[str], str]) -> None:
    names_of = ("kernel_state", "registration_two_domains", "without_callbacks", "attributes")
    alone = []
    for name in names_of:
        options = SessionOptions()
        options.register_custom_ops_library(library(name))
        alone += names(options)
    model = one_input("fixture", "AddOne")
    for _ in range(10):
        options = SessionOptions()
        options.register_custom_ops_library(library("kernel_state"))

        def register(index: int, options: SessionOptions = options) -> None:
            for turn in range(8):
                options.add_session_config_entry(f"entry.{index}.{turn}", "1")
                options.register_custom_ops_library(library(names_of[(index + turn) % len(names_of)]))

        def make_sessions(_: int, options: SessionOptions = options) -> None:
            for _ in range(8):
                np.testing.assert_array_equal(InferenceSession(model, options).run(None, {"x": X})[0], X + 1)

        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(register if i < 6 else make_sessions, i) for i in range(8)]:
                done.result()
        assert sorted(names(options)) == sorted(alone)


def test_a_thread_waits_while_another_ones_library_is_registering(library: Callable[[str], str]) -> None:
    path = library("registration_calls_back")
    options = SessionOptions()
    other = threading.Thread(target=options.register_custom_ops_library, args=(library("kernel_state"),))
    waited: list[bool] = []

    @ctypes.CFUNCTYPE(None)
    def start_another() -> None:
        other.start()
        other.join(timeout=0.5)  # Loading the library takes some milliseconds.
        waited.append(other.is_alive())

    handle = ctypes.CDLL(path)
    handle.call_during_registration(start_another)
    try:
        options.register_custom_ops_library(path)
    finally:
        handle.call_during_registration(None)
    other.join()
    assert waited == [True]
    assert names(options)[0] == "First"
    assert "AddOne" in names(options)


def test_threads_that_register_first_share_what_the_options_keep(library: Callable[[str], str]) -> None:
    for _ in range(20):
        options = SessionOptions()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(options.register_custom_ops_library, map(library, ("kernel_state", "without_callbacks"))))
        assert {"AddOne", "FindPositive"} <= set(names(options))


def test_a_library_that_registers_another_from_its_registration_is_refused(library: Callable[[str], str]) -> None:
    path = library("registration_calls_back")
    options = SessionOptions()
    refused: list[Fail] = []

    @ctypes.CFUNCTYPE(None)
    def register_another() -> None:
        try:
            options.register_custom_ops_library(library("kernel_state"))
        except Fail as error:
            refused.append(error)

    handle = ctypes.CDLL(path)
    handle.call_during_registration(register_another)
    try:
        options.register_custom_ops_library(path)
    finally:
        handle.call_during_registration(None)
    assert len(refused) == 1
    assert "another library is registering" in str(refused[0])
    assert names(options) == ["First"]
    options.register_custom_ops_library(library("kernel_state"))
    assert "AddOne" in names(options)


def test_a_configuration_entry_of_the_greatest_length_reaches_the_library(library: Callable[[str], str]) -> None:
    options = SessionOptions()
    options.add_session_config_entry("é" * 512, "é" * 4096)
    options.register_custom_ops_library(library("kernel_state"))
    assert "AddOne" in names(options)


def test_a_library_may_read_and_add_configuration_entries(fixtures_dir: Path) -> None:
    options = SessionOptions()
    options.register_custom_ops_library(fixtures_dir / "loader" / "libcustom_ops.so")
    assert options.get_session_config_entry("fixture.custom_ops") == "registered"


def test_a_descriptor_of_version_1_declares_all_arguments_required(session: MakeSession) -> None:
    model = node_model("ScaleAndAddOne", [value("x", FLOAT)], [value("y", FLOAT)])
    (y,) = session(model, "descriptor_version_1").run(None, {"x": X})
    np.testing.assert_array_equal(y, 2 * X + 1)


def without_import(model: bytes, domain: str) -> bytes:
    proto = ModelProto.FromString(model)
    kept = [entry for entry in proto.opset_import if entry.domain != domain]
    assert len(kept) == len(proto.opset_import) - 1
    del proto.opset_import[:]
    proto.opset_import.extend(kept)
    return bytes(proto.SerializeToString())


def test_a_model_that_does_not_import_a_librarys_domain_uses_its_newest_version(session: MakeSession) -> None:
    model = without_import(one_input("fixture", "AddOne"), "fixture")
    np.testing.assert_array_equal(session(model, "kernel_state").run(None, {"x": X})[0], X + 1)
    late = without_import(
        node_model("Late", [value("x", FLOAT)], [value("y", INT64)], domain="fixture.versioned"), "fixture.versioned"
    )
    assert session(late, "overloads").run(None, {"x": X})[0].dtype == np.int64


def test_an_operator_of_a_library_comes_before_a_function_of_the_model(session: MakeSession) -> None:
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("fixture", 1)]
    add_one = helper.make_function("fixture", "AddOne", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], opsets)
    calls_it = helper.make_function(
        "fixture", "Calls", ["a"], ["b"], [helper.make_node("AddOne", ["a"], ["b"], domain="fixture")], opsets
    )
    proto = ModelProto.FromString(one_input("fixture", "Calls"))
    proto.functions.extend([add_one, calls_it])
    model = proto.SerializeToString()
    np.testing.assert_array_equal(InferenceSession(model).run(None, {"x": X})[0], -X)
    np.testing.assert_array_equal(session(model, "kernel_state").run(None, {"x": X})[0], X + 1)


def test_a_library_that_imports_the_api_base_registers_when_the_caller_asks_for_the_bootstrap(
    fixtures_dir: Path,
) -> None:
    path = fixtures_dir / "loader" / "libstatic_importer.so"
    options = SessionOptions()
    with pytest.raises(LibraryError, match="bootstrap=True"):
        options.register_custom_ops_library(path)
    options.register_custom_ops_library(path, bootstrap=True)
    assert options.get_session_config_entry("fixture.static_importer") == "registered"


def test_an_op_whose_names_are_no_utf8_does_not_keep_the_others_from_running(session: MakeSession) -> None:
    (y,) = session(one_input("fixture.first", "First"), "registration_broken_text").run(None, {"x": X})
    np.testing.assert_array_equal(y, X + 1)
