"""The EP in a real ORT session: what it takes and leaves, and how its kernels behave from run to run."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors
from reverse_session import EP, devices, run, session, session_options, single_node, taken
from small_networks import classifier, classifier_feed, encoder, encoder_feed

BF16 = ml_dtypes.bfloat16
BFLOAT16, FLOAT, INT64 = TensorProto.BFLOAT16, TensorProto.FLOAT, TensorProto.INT64


def numbers(*shape: int, dtype: Any = BF16) -> Any:
    return np.random.default_rng(7).normal(size=shape).astype(np.float32).astype(dtype)


def model_of(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> ModelProto:
    return make_model(make_graph(nodes, "g", inputs, outputs), opset_imports=[make_opsetid("", 17)], ir_version=8)


def test_a_device_of_the_cpu_is_offered() -> None:
    assert [device.device.type for device in devices()] == [onnxruntime.OrtHardwareDeviceType.CPU]


def test_a_bfloat16_addition_runs_with_the_provider_and_not_without() -> None:
    a, b = np.arange(6).reshape(2, 3).astype(BF16), np.array([10, 20, 30], BF16)
    model = single_node("Add", [a, b], [BFLOAT16], 17)
    with pytest.raises(ort_errors.NotImplemented, match="Could not find an implementation"):
        session(model, None)
    with_ep = session(model)
    assert with_ep.get_providers() == [EP, "CPUExecutionProvider"]
    np.testing.assert_array_equal(run(with_ep, {"i0": a, "i1": b})[0], a + b)


@pytest.mark.parametrize(
    ("claim", "operators"),
    [("missing", ["Add"]), ("all", ["Add", "Relu", "Softmax"]), ("Relu,Softmax", ["Relu", "Softmax"]), ("Mul", [])],
)
def test_the_option_claim_decides_which_nodes_are_taken(claim: str, operators: list[str]) -> None:
    nodes = [
        make_node("Relu", ["x"], ["r"]),
        make_node("Softmax", ["r"], ["y"]),
        make_node("Add", ["b", "b"], ["z"]),
    ]
    inputs = [make_tensor_value_info("x", FLOAT, ["n", 4]), make_tensor_value_info("b", BFLOAT16, ["n"])]
    outputs = [make_tensor_value_info(name, kind, None) for name, kind in (("y", FLOAT), ("z", BFLOAT16))]
    model = model_of(nodes, inputs, outputs)
    if "Add" not in operators:  # ORT alone cannot
        model = model_of(nodes[:2], inputs[:1], outputs[:1])
    assert sorted(taken(session(model, claim))) == operators


@pytest.mark.parametrize(("claim", "message"), [("Relu,Nonsense", "'Nonsense'"), (" , ", "is empty")])
def test_a_claim_of_something_unknown_is_an_error_that_names_it(claim: str, message: str) -> None:
    model = single_node("Relu", [numbers(3, dtype=np.float32)], [FLOAT], 17)
    with pytest.raises(Exception, match=message):
        session(model, claim)


def test_supported_and_unsupported_nodes_share_a_model() -> None:
    nodes = [
        make_node("Add", ["b", "b"], ["sum"]),
        make_node("Cast", ["sum"], ["wide"], to=FLOAT),
        make_node("NonZero", ["wide"], ["places"]),
        make_node("Mul", ["sum", "b"], ["product"]),
    ]
    outputs = [make_tensor_value_info(name, kind, None) for name, kind in (("places", INT64), ("product", BFLOAT16))]
    made = session(model_of(nodes, [make_tensor_value_info("b", BFLOAT16, ["n"])], outputs))
    assert sorted(taken(made)) == ["Add", "Mul"]
    b = np.array([1, 0, 2], BF16)
    places, product = run(made, {"b": b})
    np.testing.assert_array_equal(places, [[0, 2]])
    np.testing.assert_array_equal(product, (b + b) * b)


def test_shapes_may_change_from_run_to_run_down_to_scalars_and_empty_tensors() -> None:
    nodes = [make_node("Add", ["a", "b"], ["s"]), make_node("Mul", ["s", "a"], ["y"])]
    inputs = [make_tensor_value_info(name, BFLOAT16, None) for name in ("a", "b")]
    made = session(model_of(nodes, inputs, [make_tensor_value_info("y", BFLOAT16, None)]))
    assert sorted(taken(made)) == ["Add", "Mul"]
    for left, right in (((2, 3), (3,)), ((), ()), ((0, 4), (1, 4)), ((5, 1, 2), (3, 1)), ((2, 3), (3,)), ((), (0,))):
        a, b = numbers(*left), numbers(*right)
        expected = (a + b) * a
        actual = run(made, {"a": a, "b": b})[0]
        assert actual.shape == expected.shape
        np.testing.assert_array_equal(actual, expected)


def test_attributes_that_the_model_leaves_out_have_their_defaults() -> None:
    x = numbers(2, 3, 5)
    made = session(single_node("Softmax", [x], [BFLOAT16], 17))  # axis -1
    np.testing.assert_allclose(run(made, {"i0": x})[0].astype(np.float32).sum(axis=-1), 1, rtol=2**-7)
    x = x.astype(np.float32)
    flattened = session(single_node("Softmax", [x], [FLOAT], 11), "all")  # axis 1, over everything behind it
    assert taken(flattened) == ["Softmax"]
    np.testing.assert_allclose(run(flattened, {"i0": x})[0].sum(axis=(1, 2)), 1, rtol=1e-5)


def test_an_error_of_a_kernel_names_the_node_and_leaves_the_session_usable() -> None:
    a, b = numbers(2, 3), numbers(3)
    made = session(single_node("Add", [a, b], [BFLOAT16], 17))
    with pytest.raises(Exception, match=r"Add.*the_node"):
        run(made, {"i0": a, "i1": numbers(4)})
    np.testing.assert_array_equal(run(made, {"i0": a, "i1": b})[0], a + b)


def test_a_value_of_another_type_is_refused_by_the_runtime() -> None:
    made = session(single_node("Add", [numbers(3), numbers(3)], [BFLOAT16], 17))
    with pytest.raises(ort_errors.InvalidArgument, match="Unexpected input data type"):
        run(made, {"i0": numbers(3), "i1": numbers(3, dtype=np.float16)})


def test_four_threads_share_a_session() -> None:
    encoders, classifiers = session(encoder(BFLOAT16)), session(classifier(BFLOAT16))
    feeds = [(encoder_feed(2, 5 + n, n), classifier_feed(1, 8 + 4 * n, BFLOAT16, n)) for n in range(4)]
    expected = [(run(encoders, text)[0], run(classifiers, image)[0]) for text, image in feeds]

    def work(position: int) -> None:
        text, image = feeds[position]
        for _ in range(20):
            np.testing.assert_array_equal(run(encoders, text)[0], expected[position][0])
            np.testing.assert_array_equal(run(classifiers, image)[0], expected[position][1])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def resident_kilobytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


@pytest.mark.no_address_sanitizer(reason="AddressSanitizer keeps freed memory")
def test_sessions_come_and_go_without_growth() -> None:
    """benchmarks/reverse.py --sessions 10000 does it for longer."""
    a = numbers(2, 3)
    content = single_node("Add", [a, a], [BFLOAT16], 17).SerializeToString()
    options = session_options()

    def cycle(count: int) -> None:
        for _ in range(count):
            run(onnxruntime.InferenceSession(content, options), {"i0": a, "i1": a})

    cycle(200)
    before = resident_kilobytes()
    cycle(400)
    assert resident_kilobytes() - before < 1024


_PROCESS = """
import sys
import onnxruntime
sys.path.insert(0, sys.argv[1])
from reverse_session import devices, run, session, session_options
from small_networks import encoder, encoder_feed
onnxruntime.set_default_logger_severity(1)
made = session(encoder(16), sys.argv[2])
run(made, encoder_feed(2, 5))
del made
if sys.argv[3] == "unregister":
    onnxruntime.unregister_execution_provider_library("onnx_light")
print("the end")
"""


@pytest.mark.parametrize("claim", ["missing", "all"])
@pytest.mark.parametrize("end", ["unregister", "exit"])
def test_a_process_ends_well_and_nothing_was_copied(end: str, claim: str) -> None:
    """With claim=all the encoder's Reshape and Unsqueeze are the EP's, whose outputs are their inputs' buffers."""
    command = [sys.executable, "-c", _PROCESS, str(Path(__file__).parent), claim, end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "the end\n"
    assert "OnnxLightExecutionProvider: 0 outputs copied, 0 bytes" in done.stderr
