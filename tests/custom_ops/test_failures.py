"""What custom ops do wrong ends in an error that says what it was, with each kernel destroyed once."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable

import numpy as np
import pytest
from custom_ops.custom_op_cases import X
from custom_ops.custom_op_failures import (
    AMBIGUOUS,
    CALLBACK_FAILURES,
    INCOMPLETE_ALLOCATORS,
    INFERENCE_EXCEPTIONS,
    INFERENCE_STATUSES,
    LEGACY_FAILURES,
    TOLERATED,
    Failure,
)
from custom_ops.custom_op_model import FLOAT, INT64, STRING, model_of, node_model, value
from onnx import helper

from onnx_light_ort import Error, Fail, InferenceSession, InvalidArgument, InvalidGraph, OutOfMemory, RuntimeException

MakeSession = Callable[..., InferenceSession]
Counter = Callable[[str, str], int]

#: Bytes that sessions of failing ops may use, so that what asks for terabytes is refused and not tried.
LIMIT = 1 << 26


@pytest.mark.parametrize(
    "failure", [*CALLBACK_FAILURES, *LEGACY_FAILURES, *INCOMPLETE_ALLOCATORS], ids=lambda f: f"{f.library} {f.how}"
)
def test_a_failing_callback_is_reported_and_its_kernel_destroyed_once(
    session: MakeSession, counter: Counter, failure: Failure
) -> None:
    made, destroyed = (counter(failure.library, name) for name in ("kernels_created", "kernels_destroyed"))
    if failure.stage == "creation":
        with pytest.raises(Error) as caught:
            session(failure.model, failure.library, memory_limit=LIMIT)
    else:
        running = session(failure.model, failure.library, memory_limit=LIMIT)
        for _ in range(2):  # The session stays usable: it fails again in the same way.
            with pytest.raises(Error) as caught:
                running.run(None, {"x": X})
        del running
    assert caught.value.code == failure.code, caught.value
    assert failure.says in str(caught.value)
    assert "the_node" in str(caught.value)
    del caught
    gc.collect()
    assert counter(failure.library, "kernels_created") - made == failure.destroyed
    assert counter(failure.library, "kernels_destroyed") - destroyed == failure.destroyed


@pytest.mark.parametrize("how", TOLERATED)
def test_a_question_that_ort_answers_with_null_is_no_failure(session: MakeSession, how: str) -> None:
    model = node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how=how)
    (y,) = session(model, "failures").run(None, {"x": X})
    np.testing.assert_array_equal(y, X)


def test_a_buffer_given_with_its_deleter_is_freed_once(session: MakeSession, counter: Counter) -> None:
    model = node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how="deleted_buffer")
    running = session(model, "failures")
    before = counter("failures", "freed_buffers")
    for _ in range(3):
        running.run(None, {"x": X})
    assert counter("failures", "freed_buffers") == before + 3


# AddressSanitizer maps memory for itself, and its operator new has no way to fail but to abort the process.
@pytest.mark.no_address_sanitizer(reason="AddressSanitizer ends a process that gets no more memory")
def test_a_buffer_stays_the_callers_when_no_value_is_made_of_it(session: MakeSession, counter: Counter) -> None:
    model = node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how="deleter_without_memory")
    running = session(model, "failures")
    before = counter("failures", "freed_buffers")
    with pytest.raises(Error, match=r"bad_alloc|memory"):
        running.run(None, {"x": X})
    assert counter("failures", "freed_buffers") == before


@pytest.mark.parametrize("how", ["throwing_Info CreateTensorAsOrtValue", "throwing_Free after_failed_strings"])
def test_what_an_allocator_throws_stays_in_the_host(session: MakeSession, how: str) -> None:
    model = node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how=how, texts=["a", "b"])
    with pytest.raises(Error, match=r"OrtAllocator::Info threw|gave no memory"):
        session(model, "failures")


def test_a_failed_kernel_does_not_spoil_the_next_run_of_another_session(session: MakeSession) -> None:
    failing = session(
        node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how="compute_status"), "failures"
    )
    well = session(node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how="nothing"), "failures")
    for _ in range(3):
        with pytest.raises(Error, match="computing refuses"):
            failing.run(None, {"x": X})
        np.testing.assert_array_equal(well.run(None, {"x": X})[0], X)


@pytest.mark.parametrize("how", INFERENCE_STATUSES)
@pytest.mark.parametrize("op", ["InferWrongly", "InferAndRelease"])
def test_the_status_of_a_shape_inference_is_logged_and_the_model_runs_without_shapes(
    session: MakeSession, caplog: pytest.LogCaptureFixture, op: str, how: str
) -> None:
    model = node_model(op, [value("x", FLOAT)], [value("y", FLOAT)], how=how)
    with caplog.at_level(logging.WARNING, logger="onnx_light_ort"):
        (y,) = session(model, "shape_inference").run(None, {"x": X})
    np.testing.assert_array_equal(y, X)
    (message,) = [record.message for record in caplog.records if "shape inference" in record.message]
    assert op in message
    assert how != "status" or message.endswith("inference refuses")


def test_a_type_of_the_signature_stands_against_what_shape_inference_says(session: MakeSession) -> None:
    made = session(node_model("CountRows", [value("x", FLOAT)], [value("y", INT64)]), "shape_inference")
    assert made.get_outputs()[0].shape == [1]
    (y,) = made.run(None, {"x": X})
    assert y.dtype == np.int64
    assert y.tolist() == [2]


def test_a_message_that_is_no_utf8_keeps_its_error(session: MakeSession, caplog: pytest.LogCaptureFixture) -> None:
    model = node_model("Misbehave", [value("x", FLOAT)], [value("y", FLOAT)], how="broken_text")
    made = session(model, "failures")
    with pytest.raises(InvalidArgument, match=r"the_node.*caf\\xe9"):
        made.run(None, {"x": X})
    with caplog.at_level(logging.WARNING, logger="onnx_light_ort"):
        session(
            node_model("InferWrongly", [value("x", FLOAT)], [value("y", FLOAT)], how="broken_text"), "shape_inference"
        )
    assert any(r"caf\xe9" in record.message for record in caplog.records)


@pytest.mark.parametrize("how", INFERENCE_EXCEPTIONS)
def test_an_exception_of_a_shape_inference_refuses_the_session(session: MakeSession, how: str) -> None:
    model = node_model("InferWrongly", [value("x", FLOAT)], [value("y", FLOAT)], how=how)
    with pytest.raises(RuntimeException, match=r"the_node.*shape inference of fixture:InferWrongly.*threw"):
        session(model, "shape_inference")


def test_an_optional_output_that_only_the_caller_asks_for_may_stay_unmade(session: MakeSession) -> None:
    outputs = [value("y", FLOAT), value("largest", FLOAT)]
    made = session(node_model("WithLargest", [value("x", FLOAT)], outputs), "arguments")
    for _ in range(2):
        y, largest = made.run(None, {"x": X})
        np.testing.assert_array_equal(y, X)
        assert largest == X.max()
        y, largest = made.run(None, {"x": X[:0]})
        assert y.shape == X[:0].shape
        assert largest is None


def test_an_optional_output_that_a_node_reads_has_to_be_made(session: MakeSession) -> None:
    nodes = [
        helper.make_node("WithLargest", ["x"], ["y", "largest"], domain="fixture"),
        helper.make_node("Neg", ["largest"], ["z"]),
    ]
    model = model_of(nodes, [value("x", FLOAT)], [value("z", FLOAT), value("largest", FLOAT)])
    made = session(model, "arguments")
    assert made.run(["z"], {"x": X}) == [-X.max()]
    with pytest.raises(Fail, match=r"made no output 1 \('largest'\)"):
        made.run(None, {"x": X[:0]})


def test_a_shape_inference_that_says_nothing_is_no_failure(
    session: MakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    model = node_model("InferWrongly", [value("x", FLOAT)], [value("y", FLOAT)], how="nothing")
    with caplog.at_level(logging.WARNING, logger="onnx_light_ort"):
        session(model, "shape_inference").run(None, {"x": X})
    assert [record for record in caplog.records if "inference" in record.message] == []


def test_overloads_that_both_fit_are_an_error_that_names_them(session: MakeSession) -> None:
    with pytest.raises(Fail) as caught:
        session(AMBIGUOUS, "ambiguous_overloads")
    assert "Ambiguous(any)" in str(caught.value)
    assert "Ambiguous(float)" in str(caught.value)


def test_no_overload_for_the_types_is_an_error_that_gives_the_reason_of_each(session: MakeSession) -> None:
    model = node_model("Twice", [value("x", 2)], [value("y", 2)])
    with pytest.raises(InvalidGraph) as caught:
        session(model, "overloads")
    for element_type in ("float", "double", "int64", "string"):
        assert f"Twice({element_type})" in str(caught.value)
    assert "uint8" in str(caught.value)


def test_an_output_declared_of_another_type_is_refused(session: MakeSession) -> None:
    with pytest.raises(Fail, match="double"):
        session(node_model("Twice", [value("x", FLOAT)], [value("y", 11)]), "overloads")


@pytest.mark.parametrize(
    ("inputs", "says"),
    [([value("x0", FLOAT)], "2"), ([value("x0", FLOAT), value("x1", INT64)], "takes")],
    ids=["too few", "of several types"],
)
def test_variadic_arguments_must_be_enough_and_of_one_type(session: MakeSession, inputs: list, says: str) -> None:
    with pytest.raises(InvalidGraph, match=says):
        session(node_model("SumAll", inputs, [value("y", inputs[0].type.tensor_type.elem_type)]), "arguments")


def test_a_required_argument_left_out_is_an_error(session: MakeSession) -> None:
    with pytest.raises(InvalidGraph, match="required"):
        session(node_model("Limit", [None, value("low", FLOAT)], [value("y", FLOAT)]), "arguments")


def test_more_arguments_than_declared_are_an_error(session: MakeSession) -> None:
    inputs = [value(f"x{i}", FLOAT) for i in range(4)]
    with pytest.raises(InvalidGraph, match="1 to 3 inputs"):
        session(node_model("Limit", inputs, [value("y", FLOAT)]), "arguments")


def test_an_opset_before_the_first_version_is_an_error(session: MakeSession) -> None:
    model = node_model("Late", [value("x", FLOAT)], [value("y", INT64)], domain="fixture.versioned")
    with pytest.raises(Fail, match="Late"):
        session(model, "overloads")


def test_an_operator_that_no_library_brings_is_an_error_that_says_what_to_do(session: MakeSession) -> None:
    with pytest.raises(Fail, match="register"):
        session(node_model("Unheard", [value("x", FLOAT)], [value("y", FLOAT)], domain="elsewhere"), "overloads")


def test_an_output_whose_type_nobody_knows_is_an_error_that_says_what_to_do(session: MakeSession) -> None:
    nodes = [
        helper.make_node("Bad", ["x", "x2"], ["between"], domain="fixture.bad"),
        helper.make_node("Identity", ["between"], ["y"]),
    ]
    model = model_of(nodes, [value("x", FLOAT), value("x2", FLOAT)], [value("y", FLOAT)])
    with pytest.raises(Fail, match="InferOutputShapeFn"):
        session(model, "malformed_undecidable_output")


@pytest.mark.parametrize("of", ["context", "info"])
@pytest.mark.parametrize(("size", "granted"), [(1 << 20, 1), (1 << 23, 0)])
def test_what_a_kernel_allocates_counts_against_the_memory_limit(
    session: MakeSession, of: str, size: int, granted: int
) -> None:
    model = node_model("Allocate", [value("x", FLOAT)], [value("y", INT64)], bytes=size, of=of)
    running = session(model, "threads_and_memory", memory_limit=1 << 22)
    for _ in range(20):  # What was freed is there again.
        assert running.run(None, {"x": X})[0] == granted


def test_a_refused_allocation_is_out_of_memory_for_the_caller_of_a_kernel_that_returns_its_status(
    session: MakeSession,
) -> None:
    model = node_model("Allocate", [value("x", FLOAT)], [value("y", INT64)], bytes=1 << 23, of="context_or_fail")
    running = session(model, "threads_and_memory", memory_limit=1 << 22)
    with pytest.raises(OutOfMemory, match="memory limit"):
        running.run(None, {"x": X})


def test_scratch_memory_counts_against_the_memory_limit(session: MakeSession) -> None:
    def model(extra: int) -> bytes:
        outputs = [value("y", FLOAT), value("report", INT64)]
        return node_model("SumByScratch", [value("x", FLOAT)], outputs, extra=extra)

    session(model(1 << 20), "threads_and_memory", memory_limit=1 << 22).run(None, {"x": X})
    running = session(model(1 << 23), "threads_and_memory", memory_limit=1 << 22)
    for _ in range(20):
        with pytest.raises(OutOfMemory, match="memory limit"):
            running.run(None, {"x": X})


def test_an_output_beyond_the_memory_limit_is_refused_and_the_session_goes_on(session: MakeSession) -> None:
    running = session(node_model("Echo", [value("x", FLOAT)], [value("y", FLOAT)]), "overloads", memory_limit=1 << 16)
    with pytest.raises(OutOfMemory, match="memory limit"):
        running.run(None, {"x": np.zeros(1 << 16, np.float32)})
    np.testing.assert_array_equal(running.run(None, {"x": X})[0], X)


def test_string_outputs_count_against_the_memory_limit_as_long_as_they_live(session: MakeSession) -> None:
    model = node_model("Backwards", [value("x", STRING)], [value("y", STRING), value("bytes", INT64)])
    running = session(model, "strings", memory_limit=1 << 16)
    fitting, too_many = (np.array(["ab"] * count, dtype=object) for count in (1 << 10, 1 << 12))
    for _ in range(20):  # What was freed is there again.
        assert running.run(None, {"x": fitting})[0].tolist() == ["ba"] * (1 << 10)
        with pytest.raises(OutOfMemory, match="memory limit"):
            running.run(None, {"x": too_many})


def test_strings_go_through_whatever_they_hold(session: MakeSession) -> None:
    model = node_model("Backwards", [value("x", STRING)], [value("y", STRING), value("bytes", INT64)])
    texts = np.array(["a\0b", "x" * 5000], dtype=object)
    y, size = session(model, "strings").run(None, {"x": texts})
    assert y.tolist() == ["b\0a", "x" * 5000]
    assert size == 5003
