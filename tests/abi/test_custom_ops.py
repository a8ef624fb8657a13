"""Custom ops of a plugin: registration as a transaction, kernels over the engine's run context, and every failure."""

from __future__ import annotations

import ctypes
import gc
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from onnx import AttributeProto, TensorProto

from onnx_light_ort._native import abi, engine
from onnx_light_ort.errors import Error, RuntimeException, exception_for_code
from onnx_light_ort.host import log_delivery
from onnx_light_ort.host.admission import set_admission
from onnx_light_ort.host.library_errors import EntryPointError
from onnx_light_ort.host.loader import LoadedLibrary, call_register_custom_ops, load_library

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
REQUIRED, OPTIONAL, VARIADIC = range(3)

Array = npt.NDArray[np.generic]
Dims = Sequence[int | str | None] | None


@pytest.fixture
def library(fixtures_dir: Path) -> Iterator[LoadedLibrary]:
    set_admission("any")
    with load_library(fixtures_dir / "custom_op_callbacks" / "libfixture_ops.so") as loaded:
        yield loaded
    set_admission("warn")


@pytest.fixture
def ops(library: LoadedLibrary) -> list[abi.CustomOp]:
    options = abi.SessionOptions()
    call_register_custom_ops(library, options)
    return options.custom_ops


def exported(library: LoadedLibrary, function: str) -> int:
    number: int = getattr(ctypes.CDLL(str(library.path)), function)()
    return number


def find(ops: list[abi.CustomOp], name: str, input_type: int | None = None, version: int = 1) -> abi.CustomOp:
    [found] = [
        op
        for op in ops
        if op.name == name
        and (input_type is None or op.inputs[0][0] == input_type)
        and op.start_version <= version <= (op.end_version or version)
    ]
    return found


class Session:
    """A plan of one custom-op node, fed with x0, x1, ... and asked for y0, y1, ..."""

    def __init__(
        self,
        op: abi.CustomOp,
        input_types: Sequence[int | None],
        output_types: Sequence[int | None],
        attributes: Mapping[str, object] | None = None,
        constants: Mapping[int, Array] | None = None,
        dims: Mapping[int, Dims] | None = None,
        options: abi.SessionOptions | None = None,
        limit: int = 0,
        log_severity: int = 2,
        threads: int = 1,
    ) -> None:
        constants = constants or {}
        self.budget = engine.MemoryBudget(limit)
        services = abi.SessionServices(
            options or abi.SessionOptions(), self.budget, "onnx_light_ort.test", log_severity
        )
        inputs = [None if t is None else (f"x{i}", t, (dims or {}).get(i)) for i, t in enumerate(input_types)]
        outputs = [None if t is None else (f"y{i}", t, None) for i, t in enumerate(output_types)]
        kernel = op.create_kernel(
            services, "the node", 1, inputs, outputs, attributes or {}, [constants.get(i) for i in range(len(inputs))]
        )
        builder = engine.PlanBuilder()
        slots = []
        for i, given in enumerate(inputs):
            slots.append(-1 if given is None else builder.add_value(given[0]))
            if i in constants:
                builder.add_constant(slots[i], constants[i])
            elif given is not None:
                builder.add_input(slots[i], given[0], given[1], None)
        results = [-1 if given is None else builder.add_value(given[0]) for given in outputs]
        builder.add_kernel_step("the node", op.name, kernel, slots, results, [t or 0 for t in output_types])
        for given, slot in zip(outputs, results, strict=True):
            if given is not None:
                builder.add_output(slot, given[0])
        self.executor = engine.Executor(builder.build(), threads, self.budget)

    def run(self, *feeds: Array | None) -> list[Array]:
        arrays: list[Array] = self.executor.run(None, {f"x{i}": x for i, x in enumerate(feeds) if x is not None})
        return arrays


def run(op: abi.CustomOp, feeds: Sequence[Array], output_types: Sequence[int | None], **options: object) -> list[Array]:
    types = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64}
    return Session(op, [types.get(x.dtype, STRING) for x in feeds], output_types, **options).run(*feeds)  # type: ignore[arg-type]


X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)


# Registration


def test_a_registration_reads_every_descriptor(ops: list[abi.CustomOp]) -> None:
    assert {op.domain for op in ops} == {"fixture"}
    bias = find(ops, "AddBias")
    assert bias.inputs == [(FLOAT, REQUIRED, 0), (FLOAT, OPTIONAL, 0)]
    assert bias.outputs == [(FLOAT, REQUIRED, 0), (INT64, OPTIONAL, 0)]
    total = find(ops, "SumAll")
    assert total.inputs == [(FLOAT, VARIADIC, 0)]
    assert total.variadic_input == (2, True)
    assert find(ops, "Same").inputs == [(0, REQUIRED, 0)]
    assert (find(ops, "AddVersion").start_version, find(ops, "AddVersion").end_version) == (1, 2)
    assert find(ops, "AddVersion", version=3).end_version is None
    assert find(ops, "Negate").may_share == [(0, 0)]
    assert find(ops, "Increment").must_share == [(0, 0)]
    assert find(ops, "Repeat").infers_shapes
    assert not find(ops, "Same").infers_shapes


def test_index_arrays_are_given_back(ops: list[abi.CustomOp], library: LoadedLibrary) -> None:
    assert find(ops, "Negate").may_share == [(0, 0)]
    assert exported(library, "fixture_lent_arrays") == 0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("version 0", "set OrtCustomOp::version to ORT_API_VERSION"),
        ("no name callback", "OrtCustomOp::GetName is null: set it"),
        ("null name", "GetName gave no name"),
        ("empty name", "GetName gave no name"),
        ("throwing name", "GetName threw an exception: no name today"),
        ("no input count", "OrtCustomOp::GetInputTypeCount is null"),
        ("huge input count", "GetInputTypeCount says 18446744073709551615"),
        ("no input type", "OrtCustomOp::GetInputType is null"),
        ("unknown type", "Input 0 has type 77"),
        ("variadic first", "Input 0 is variadic and not the last one"),
        ("no create", "set CreateKernelV2 (from version 16 on) or CreateKernel"),
        ("no compute", "set KernelComputeV2 (from version 16 on) or KernelCompute"),
        ("no destroy", "OrtCustomOp::KernelDestroy is null"),
        ("inverted versions", "its versions 5 to 4 are no range"),
        ("version below zero", "its versions -1 to"),
        ("in-place count", "GetMayInplace says 1000000 pairs"),
        ("in-place without release", "set that as well"),
        ("ambiguous", "is registered already, and no node could tell them apart"),
        ("status", "the fixture was told to fail"),
        ("throw", "the fixture was told to throw"),
        ("recursive", "RegisterCustomOpsLibrary_V2 is not implemented"),
    ],
)
def test_a_fault_leaves_nothing_registered(library: LoadedLibrary, fault: str, message: str) -> None:
    options = abi.SessionOptions()
    options.add_config_entry("fixture.fault", fault)
    with pytest.raises(EntryPointError) as caught:
        call_register_custom_ops(library, options)
    assert message in str(caught.value)
    assert options.custom_ops == []
    assert exported(library, "fixture_bad_lent_arrays") == 0
    # The same options take the library once the fault is mended.
    options.add_config_entry("fixture.fault", "")
    call_register_custom_ops(library, options)
    assert len(options.custom_ops) > 10


def test_an_ambiguity_lists_its_candidates(library: LoadedLibrary) -> None:
    options = abi.SessionOptions()
    options.add_config_entry("fixture.fault", "ambiguous")
    with pytest.raises(EntryPointError) as caught:
        call_register_custom_ops(library, options)
    assert str(caught.value).count("fixture.bad:Bad(float, float) of version 1 and later") == 2


def test_registering_a_library_again_adds_nothing(library: LoadedLibrary) -> None:
    options = abi.SessionOptions()
    call_register_custom_ops(library, options)
    once = [op.signature for op in options.custom_ops]
    call_register_custom_ops(library, options)
    assert [op.signature for op in options.custom_ops] == once


def test_several_libraries_register_with_one_options_object(library: LoadedLibrary, fixtures_dir: Path) -> None:
    options = abi.SessionOptions()
    call_register_custom_ops(library, options)
    with load_library(fixtures_dir / "custom_op_callbacks" / "libfixture_ops_c.so") as other:
        call_register_custom_ops(other, options)
        assert {op.domain for op in options.custom_ops} == {"fixture", "fixture.c"}
        [clip] = [op for op in options.custom_ops if op.domain == "fixture.c"]
        [y] = run(clip, [X], [FLOAT])
        np.testing.assert_array_equal(y, np.clip(X, 0, 1))
        del clip, options
        gc.collect()


def test_ops_and_kernels_keep_their_library_loaded(fixtures_dir: Path) -> None:
    set_admission("any")
    # The library that no other test opens by other means.
    loaded = load_library(fixtures_dir / "custom_op_callbacks" / "libfixture_ops_c.so")
    options = abi.SessionOptions()
    call_register_custom_ops(loaded, options)
    session = Session(options.custom_ops[0], [FLOAT], [FLOAT])
    del options
    gc.collect()
    assert not loaded.close().unmapped
    np.testing.assert_array_equal(session.run(X)[0], np.clip(X, 0, 1))
    del session
    gc.collect()
    assert loaded.close().unmapped
    set_admission("warn")


# Kernels


def test_attributes_of_every_kind_reach_the_kernel(ops: list[abi.CustomOp]) -> None:
    attributes = {
        "number": 1.5,
        "integer": -7,
        "text": "four",
        "numbers": [0.5, 0.25],
        "integers": [1, 2, 3],
        "texts": ["ab", "", "cde"],
        "tensor": np.array([[1, 2], [3, 4]], np.float32),
    }
    [y] = run(find(ops, "ReadAttributes"), [], [FLOAT], attributes=attributes)
    np.testing.assert_array_equal(y, np.float32([1.5, -7, 4, 0.75, 6, 5, 10]))


def test_a_kernel_learns_about_its_node(ops: list[abi.CustomOp]) -> None:
    options = abi.SessionOptions()
    options.add_config_entry("ep.fixture.key", "value")
    session = Session(
        find(ops, "DescribeNode"),
        [FLOAT, None, INT64],
        [STRING],
        dims={0: ["batch", 3, None], 2: []},
        constants={2: np.array(3, np.int64)},
        options=options,
    )
    [y] = session.run(X)
    assert list(y) == [
        "name the node",
        "domain fixture",
        "type DescribeNode",
        "since 1",
        "input 'x0' 1[batch,3,-1]",
        "input '' untyped",
        "input 'x2' 7[] constant",
        "entry ep.fixture.key=value",
        "copied the node",
    ]


@pytest.mark.parametrize(("dtype", "data_type"), [(np.float32, FLOAT), (np.int64, INT64)])
def test_overloads_are_told_apart_by_type(ops: list[abi.CustomOp], dtype: type, data_type: int) -> None:
    [y] = run(find(ops, "Twice", data_type), [X.astype(dtype)], [data_type])
    np.testing.assert_array_equal(y, 2 * X.astype(dtype))
    assert y.dtype == dtype


@pytest.mark.parametrize(("version", "constant"), [(1, 1), (2, 1), (3, 3), (9, 3)])
def test_overloads_are_told_apart_by_version(ops: list[abi.CustomOp], version: int, constant: int) -> None:
    [y] = run(find(ops, "AddVersion", version=version), [X], [FLOAT])
    np.testing.assert_array_equal(y, X + constant)


@pytest.mark.parametrize("version", [1, 7, 8, 12, 13, 14, 16, 17, 18, 23, 29, 30, 40])
def test_a_descriptor_of_any_version_is_read_as_far_as_it_goes(ops: list[abi.CustomOp], version: int) -> None:
    op = find(ops, f"Version{version}")
    [y] = run(op, [X], [FLOAT])
    np.testing.assert_array_equal(y, X + version)
    assert op.end_version == (7 if version >= 17 else None)


def test_optional_arguments_may_be_absent(ops: list[abi.CustomOp]) -> None:
    op = find(ops, "AddBias")
    bias = np.array(10, np.float32)
    y, number = Session(op, [FLOAT, FLOAT], [FLOAT, INT64]).run(X, bias)
    np.testing.assert_array_equal(y, X + 10)
    assert number == 2
    y, number = Session(op, [FLOAT, None], [FLOAT, INT64]).run(X)
    np.testing.assert_array_equal(y, X)
    assert number == 1
    [y] = Session(op, [FLOAT, FLOAT], [FLOAT, None]).run(X, bias)
    np.testing.assert_array_equal(y, X + 10)
    [y] = Session(op, [FLOAT], [FLOAT]).run(X)
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize("count", [2, 3, 20])
def test_variadic_inputs(ops: list[abi.CustomOp], count: int) -> None:
    feeds = [X + i for i in range(count)]
    [y] = run(find(ops, "SumAll"), feeds, [FLOAT])
    np.testing.assert_array_equal(y, np.sum(feeds, axis=0))


@pytest.mark.parametrize("wanted", [[0, 1], [1], [0]])
def test_variadic_outputs(ops: list[abi.CustomOp], wanted: list[int]) -> None:
    outputs = run(find(ops, "Rows"), [X], [FLOAT if i in wanted else None for i in range(2)])
    for y, row in zip(outputs, wanted, strict=True):
        np.testing.assert_array_equal(y, X[row])


@pytest.mark.parametrize(
    "x", [X, np.zeros((0, 3), np.float32), np.array(3, np.int64)], ids=["matrix", "empty", "scalar"]
)
def test_a_polymorphic_op_takes_any_type(ops: list[abi.CustomOp], x: Array) -> None:
    [y] = run(find(ops, "Same"), [x], [INT64 if x.dtype == np.int64 else FLOAT])
    np.testing.assert_array_equal(y, x)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)


def test_output_shapes_may_depend_on_data(ops: list[abi.CustomOp]) -> None:
    session = Session(find(ops, "Positive"), [FLOAT], [FLOAT])
    for x in (X, -X, np.zeros((0,), np.float32), np.arange(1000, dtype=np.float32)):
        np.testing.assert_array_equal(session.run(x)[0], x[x > 0])


def test_strings_go_both_ways(ops: list[abi.CustomOp]) -> None:
    x = np.array([["ab", ""], ["äöü", "Tab\tEnd"]], object)
    [y] = run(find(ops, "Shout"), [x], [STRING])
    assert y.shape == (2, 2)
    assert y.tolist() == [["AB\0AB", "\0"], ["äöü\0äöü", "TAB\tEND\0TAB\tEND"]]


def test_a_kernel_is_made_once_and_keeps_its_state(ops: list[abi.CustomOp], library: LoadedLibrary) -> None:
    before = exported(library, "fixture_kernels_created")
    session = Session(find(ops, "CountCalls"), [], [INT64])
    assert [int(session.run()[0]) for _ in range(1000)] == list(range(1, 1001))
    assert exported(library, "fixture_kernels_created") == before + 1


def test_a_kernel_is_destroyed_once(ops: list[abi.CustomOp], library: LoadedLibrary) -> None:
    gc.collect()  # of what earlier tests left
    before = exported(library, "fixture_kernels_destroyed")
    session = Session(find(ops, "CountCalls"), [], [INT64])
    session.run()
    del session
    gc.collect()
    assert exported(library, "fixture_kernels_destroyed") == before + 1


def test_scratch_memory_is_charged_and_given_back(ops: list[abi.CustomOp]) -> None:
    session = Session(find(ops, "Reverse"), [FLOAT], [FLOAT])
    np.testing.assert_array_equal(session.run(X)[0], X.ravel()[::-1].reshape(X.shape))
    used = session.budget.used
    for _ in range(100):
        session.run(X)
    assert session.budget.used == used


@pytest.mark.parametrize("batches", [0, 1, 3, 1000])
@pytest.mark.parametrize("threads", [1, 4])
def test_parallel_for_covers_every_index_once(ops: list[abi.CustomOp], batches: int, threads: int) -> None:
    x = np.arange(-500, 500, dtype=np.float32)
    session = Session(find(ops, "ParallelSquare"), [FLOAT], [FLOAT], {"batches": batches}, threads=threads)
    np.testing.assert_array_equal(session.run(x)[0], x * x)


def test_an_output_may_share_a_buffer_but_never_a_feed(ops: list[abi.CustomOp]) -> None:
    x = X.copy()
    [y] = run(find(ops, "Negate"), [x], [FLOAT])
    np.testing.assert_array_equal(y, -X)
    np.testing.assert_array_equal(x, X)


def test_an_alias_begins_with_its_input_and_leaves_the_feed_alone(ops: list[abi.CustomOp]) -> None:
    x = X.copy()
    [y] = run(find(ops, "Increment"), [x], [FLOAT])
    np.testing.assert_array_equal(y, X + 1)
    np.testing.assert_array_equal(x, X)


def test_shape_inference_sees_attributes_dimensions_and_symbols(ops: list[abi.CustomOp]) -> None:
    repeat = find(ops, "Repeat")
    assert repeat.infer("n", 1, [("x", FLOAT, ["batch", 3, None])], 1, {"count": 4}) == (
        [(FLOAT, [4, "batch", 3, None])],
        None,
    )
    assert repeat.infer("n", 1, [("x", FLOAT, [])], 1, {"count": 4}) == ([(FLOAT, [4])], None)
    assert repeat.infer("n", 1, [("x", FLOAT, None)], 1, {"count": 4}) == ([None], None)
    outputs, failure = repeat.infer("n", 1, [("x", FLOAT, [])], 1, {})
    assert outputs == [None]
    assert "has no attribute 'count'" in (failure or "")
    [y] = run(repeat, [X], [FLOAT], attributes={"count": 4})
    np.testing.assert_array_equal(y, np.stack([X] * 4))


def test_an_op_without_shape_inference_says_nothing(ops: list[abi.CustomOp]) -> None:
    assert find(ops, "Same").infer("n", 1, [("x", FLOAT, [2])], 1, {}) == ([None], None)


def test_kernels_log_to_the_session(ops: list[abi.CustomOp], caplog: pytest.LogCaptureFixture) -> None:
    log_delivery.start()
    session = Session(find(ops, "Log"), [], [INT64], log_severity=1)
    with caplog.at_level(logging.DEBUG, logger="onnx_light_ort"):
        [level] = session.run()
        log_delivery.flush()
    assert level == 1
    assert [(r.name, r.getMessage()) for r in caplog.records] == [("onnx_light_ort.test", "the fixture computes")]


def test_one_session_runs_from_several_threads(ops: list[abi.CustomOp]) -> None:
    session = Session(find(ops, "CountCalls"), [], [INT64])
    seen: list[int] = []

    def work() -> None:
        seen.extend(int(session.run()[0]) for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1, 801))


# Failures


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ComputeStatus", "the computation failed on purpose"),
        ("ComputeThrows", "KernelComputeV2 threw an exception: thrown by compute"),
        ("ComputeThrowsInt", "KernelComputeV2 threw an exception that is no std::exception"),
        ("NoOutput", "made no output 0"),
        ("WrongDevice", 'no allocator for memory "Cuda"'),
        ("ParallelThrow", "ParallelFor threw an exception: thrown in a parallel loop"),
    ],
)
def test_a_failing_kernel_fails_its_run_and_nothing_else(
    ops: list[abi.CustomOp], library: LoadedLibrary, name: str, message: str
) -> None:
    gc.collect()
    created, destroyed = (exported(library, f"fixture_kernels_{what}") for what in ("created", "destroyed"))
    session = Session(find(ops, name), [], [FLOAT])
    for _ in range(3):
        with pytest.raises(Error) as caught:
            session.run()
        assert message in str(caught.value)
        assert "node 'the node'" in str(caught.value)
    del session, caught
    gc.collect()
    assert exported(library, "fixture_kernels_created") == created + 1
    assert exported(library, "fixture_kernels_destroyed") == destroyed + 1


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"dims": [2, -1]}, "output 0 was asked for with a negative dimension"),
        ({"dims": [2**62, 2**62]}, "output 0 was asked for"),
        ({"dims": [2**62]}, "has no byte size"),
        ({"dims": [2**50]}, "allocation of"),
        ({"dims": [2, 3], "then": [3, 2]}, "and then with [3, 2]"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(
    ops: list[abi.CustomOp], attributes: dict[str, list[int]], message: str
) -> None:
    typed = {name: (AttributeProto.INTS, values) for name, values in attributes.items()}
    session = Session(find(ops, "OutputShape"), [], [FLOAT], typed)
    with pytest.raises(Error) as caught:
        session.run()
    assert message in str(caught.value)


def test_a_plugin_cannot_allocate_beyond_the_sessions_limit(ops: list[abi.CustomOp]) -> None:
    session = Session(find(ops, "Hoard"), [], [FLOAT], {"bytes": 1 << 20}, limit=1 << 16)
    with pytest.raises(Error, match="memory limit of 65536"):
        session.run()
    assert session.budget.used == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CreateThrows", "CreateKernelV2 threw an exception: thrown while a kernel was made"),
        ("MissingAttribute", "has no attribute 'needed'"),
    ],
)
def test_a_kernel_that_cannot_be_made_is_not_destroyed(
    ops: list[abi.CustomOp], library: LoadedLibrary, name: str, message: str
) -> None:
    gc.collect()
    destroyed = exported(library, "fixture_kernels_destroyed")
    with pytest.raises(Error, match=message.replace("(", r"\(")):
        Session(find(ops, name), [], [FLOAT])
    gc.collect()
    assert exported(library, "fixture_kernels_destroyed") == destroyed


def test_an_exception_of_destroy_is_logged(ops: list[abi.CustomOp], caplog: pytest.LogCaptureFixture) -> None:
    log_delivery.start()
    with caplog.at_level(logging.DEBUG, logger="onnx_light_ort"):
        Session(find(ops, "DestroyThrows"), [], [FLOAT])
        gc.collect()
        log_delivery.flush()
    [record] = caplog.records
    assert "KernelDestroy threw an exception: thrown by destroy" in record.getMessage()


def test_a_legacy_callback_fails_by_throwing(ops: list[abi.CustomOp]) -> None:
    session = Session(find(ops, "LegacyThrows"), [FLOAT], [FLOAT])
    with pytest.raises(Error, match="KernelCompute threw an exception: thrown by a legacy kernel"):
        session.run(X)


def test_a_legacy_callback_fails_by_making_no_output(ops: list[abi.CustomOp]) -> None:
    session = Session(find(ops, "LegacySilent"), [FLOAT], [FLOAT])
    with pytest.raises(Error, match="made no output 0"):
        session.run(X)


def test_a_kernel_without_state_may_be_null(ops: list[abi.CustomOp]) -> None:
    [y] = run(find(ops, "LegacyStateless"), [X], [FLOAT])
    np.testing.assert_array_equal(y, X / 2)


def test_an_exception_of_a_shape_inference_is_reported(ops: list[abi.CustomOp]) -> None:
    with pytest.raises(RuntimeException, match="InferOutputShapeFn threw an exception: thrown by shape inference"):
        find(ops, "InferenceFails").infer("n", 1, [("x", FLOAT, [2])], 1, {})


def test_a_status_keeps_its_code_on_the_way_to_python(ops: list[abi.CustomOp]) -> None:
    engine_error = 5  # ORT_ENGINE_ERROR
    abi.set_exception_classes({engine_error: exception_for_code(engine_error)})
    with pytest.raises(exception_for_code(engine_error), match="the computation failed on purpose") as caught:
        Session(find(ops, "ComputeStatus"), [], [FLOAT]).run()
    assert caught.value.code == engine_error
