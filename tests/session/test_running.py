"""Sessions run from several threads, within their memory, until they are told to stop."""

from __future__ import annotations

import gc
import json
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import BOOL, INT64, STRING, chain, constant, graph, model, node, relu, value

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import KernelRegistry

X = np.array([[-1, 2, -3, 4]], np.float32)


def test_several_threads_run_one_session() -> None:
    proto = model(
        [node("MatMul", ["x", "w"], ["a"]), node("Softmax", ["a"], ["b"]), node("Add", ["b", "x"], ["y"])],
        initializers=[constant("w", np.random.default_rng(0).standard_normal((4, 4)))],
    )
    session = ort.InferenceSession(proto)
    feeds = [np.random.default_rng(seed).standard_normal((seed % 5 + 1, 4)).astype(np.float32) for seed in range(200)]
    expected = [session.run(None, {"x": feed})[0] for feed in feeds]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda feed: session.run(None, {"x": feed})[0], feeds * 5))
    for result, right in zip(results, expected * 5, strict=True):
        np.testing.assert_array_equal(result, right)


def test_a_run_over_the_memory_limit_fails_and_the_next_one_runs() -> None:
    options = ort.SessionOptions()
    options.memory_limit = 1 << 20
    proto = model(
        [node("Expand", ["x", "s"], ["y"], name="expand")],
        [value("x"), value("s", INT64, [2])],
        [value("y", shape=None)],
    )
    session = ort.InferenceSession(proto, options)
    with pytest.raises(ort.OutOfMemory, match="expand") as caught:
        session.run(None, {"x": X, "s": np.array([1 << 20, 4])})
    assert isinstance(caught.value, ort.Fail | MemoryError)
    assert session.run(None, {"x": X, "s": np.array([2, 4])})[0].shape == (2, 4)


def test_a_run_can_be_ended_from_another_thread() -> None:
    options = ort.RunOptions()
    options.terminate = True
    session = ort.InferenceSession(relu())
    with pytest.raises(ort.Error, match="terminate"):
        session.run(None, {"x": X}, options)
    options.terminate = False
    np.testing.assert_array_equal(session.run(None, {"x": X}, options)[0], np.maximum(X, 0))

    body = graph(
        [node("Identity", ["ci"], ["co"]), node("Add", ["s", "x"], ["so"])],
        [value("i", INT64, []), value("ci", BOOL, []), value("s")],
        [value("co", BOOL, []), value("so")],
    )
    endless = ort.InferenceSession(
        model([node("Loop", ["", "go", "x"], ["y"], body=body)], [value("go", BOOL, []), value("x")])
    )
    timer = threading.Timer(0.2, lambda: setattr(options, "terminate", True))
    timer.start()
    with pytest.raises(ort.Error, match="terminate"):
        endless.run(None, {"go": np.array(True), "x": X}, options)


def test_outputs_are_chosen_by_name_in_any_order() -> None:
    session = ort.InferenceSession(
        model([node("Neg", ["x"], ["n"]), node("Abs", ["x"], ["a"])], outputs=[value("n"), value("a")])
    )
    a, n = session.run(["a", "n"], {"x": X})
    np.testing.assert_array_equal(a, np.abs(X))
    np.testing.assert_array_equal(n, -X)
    assert len(session.run([], {"x": X})) == 2
    assert len(session.run(["a", "a"], {"x": X})) == 2


@pytest.mark.parametrize(
    ("element_type", "dtype"),
    [
        (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
        (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
        (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
        (TensorProto.INT4, ml_dtypes.int4),
        (TensorProto.UINT4, ml_dtypes.uint4),
        (TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn),
        (TensorProto.FLOAT16, np.float16),
        (TensorProto.COMPLEX64, np.complex64),
        (TensorProto.BOOL, np.bool_),
        (TensorProto.UINT64, np.uint64),
    ],
    ids=str,
)
def test_every_dtype_goes_in_and_comes_out(element_type: int, dtype: Any) -> None:
    x = np.array([[1, 0, 1, 1, 0]]).astype(dtype)
    proto = model(
        [node("Identity", ["x"], ["y"])],
        [value("x", element_type, [1, 5])],
        [value("y", element_type, [1, 5])],
        opset=23,
        ir_version=11,
    )
    (y,) = ort.InferenceSession(proto).run(None, {"x": x})
    assert y.dtype == x.dtype
    assert (y == x).all()


def test_constants_of_every_dtype_reach_the_output() -> None:
    for element_type in (TensorProto.INT4, TensorProto.BFLOAT16, TensorProto.FLOAT8E8M0, TensorProto.INT2):
        tensor = helper.make_tensor("w", element_type, [3], [1, 1, 1])
        proto = model(
            [node("Identity", ["w"], ["y"])], [], [value("y", element_type, [3])], [tensor], opset=25, ir_version=13
        )
        (y,) = ort.InferenceSession(proto).run(None, {})
        assert y.astype(np.float32).tolist() == [1, 1, 1]


def test_strings_in_arrays_of_both_kinds() -> None:
    proto = model(
        [node("StringNormalizer", ["x"], ["y"], case_change_action="UPPER")],
        [value("x", STRING, [None])],
        [value("y", STRING, [None])],
    )
    session = ort.InferenceSession(proto)
    for fed in (np.array(["a", "ß", "b"], object), np.array(["a", "ß", "b"])):
        (y,) = session.run(None, {"x": fed})
        assert y.dtype == object
        assert y.tolist() == ["A", "SS", "B"]


def test_sequences_are_lists() -> None:
    proto = model([node("SplitToSequence", ["x"], ["y"], axis=1)])
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_sequence_value_info("y", 1, None))
    session = ort.InferenceSession(proto)
    assert session.get_outputs()[0].type == "seq(tensor(float))"
    (pieces,) = session.run(None, {"x": X})
    assert isinstance(pieces, list)
    assert [piece.item() for piece in pieces] == [-1, 2, -3, 4]


def test_a_sequence_can_be_fed() -> None:
    proto = model([node("ConcatFromSequence", ["q"], ["y"], axis=0)])
    del proto.graph.input[:]
    proto.graph.input.append(helper.make_tensor_sequence_value_info("q", 1, None))
    (y,) = ort.InferenceSession(proto).run(None, {"q": [X, X]})
    np.testing.assert_array_equal(y, np.concatenate([X, X]))


@pytest.mark.parametrize(
    ("fed", "says"),
    [
        ([np.ones(2, np.float32), np.ones(2)], "element 1 is an array of float64; feed float"),
        (np.ones((2, 2), np.float32), "feed a list of arrays, not ndarray"),
        ([np.ones(2, np.float32), "text"], "element 1 is no array"),
    ],
    ids=["another type", "one array", "a text"],
)
def test_a_fed_sequence_of_another_type_is_refused(fed: Any, says: str) -> None:
    proto = model([node("ConcatFromSequence", ["q"], ["y"], axis=0)])
    del proto.graph.input[:]
    proto.graph.input.append(helper.make_tensor_sequence_value_info("q", 1, None))
    session = ort.InferenceSession(proto)
    with pytest.raises(ort.InvalidArgument, match=f"input 'q' is seq.tensor.float..: {says}"):
        session.run(None, {"q": fed})
    np.testing.assert_array_equal(session.run(None, {"q": [[1.0, 2.0], np.ones(1, np.float32)]})[0], [1, 2, 1])


def test_an_unnamed_node_is_named_by_what_it_makes() -> None:
    nodes = [node("Relu", ["x"], ["positive"], name=""), node("MatMul", ["positive", "w"], ["y"], name="")]
    proto = model(nodes, [value("x"), value("w", shape=["a", "b"])], [value("y", shape=None)])
    session = ort.InferenceSession(proto)
    with pytest.raises(ort.Error, match=r"^node that makes 'y' \(MatMul\): "):
        session.run(None, {"x": X, "w": np.ones((3, 5), np.float32)})
    proto.graph.input[1].CopyFrom(value("w", shape=[3, 5]))
    with pytest.raises(ort.Fail, match=r"node that makes 'y' \(MatMul\): .*ncompatible dimensions"):
        ort.InferenceSession(proto)


def test_a_hidden_size_that_the_weights_do_not_have_is_refused() -> None:
    weights = [constant("w", np.ones((1, 20, 4), np.float32)), constant("r", np.ones((1, 20, 5), np.float32))]
    lstm = node("LSTM", ["x", "w", "r"], ["y"], name="lstm", hidden_size=4)
    inputs, outputs = [value("x", shape=["t", "n", 4])], [value("y", shape=None)]
    session = ort.InferenceSession(model([lstm], inputs, outputs, initializers=weights))
    with pytest.raises(ort.InvalidArgument, match=r"'lstm'.*does not fit to hidden_size 4"):
        session.run(None, {"x": np.ones((3, 2, 4), np.float32)})


def test_memory_that_numpy_does_not_get_is_out_of_memory() -> None:
    registry = KernelRegistry("mine")
    registry.register_kernel("", "Relu", 14, None, {}, lambda node: lambda x: np.zeros((2**50,), np.float32))
    options = ort.SessionOptions()
    options.add_kernel_registry(registry)
    session = ort.InferenceSession(relu(), options)
    with pytest.raises(ort.OutOfMemory, match="Unable to allocate"):
        session.run(None, {"x": X})


def test_ort_values() -> None:
    session = ort.InferenceSession(relu())
    fed = ort.OrtValue.ortvalue_from_numpy(X)
    assert (fed.shape(), fed.data_type(), fed.element_type()) == ([1, 4], "tensor(float)", 1)
    assert (fed.device_name(), fed.is_tensor(), fed.has_value(), fed.tensor_size_in_bytes()) == ("cpu", True, True, 16)
    assert fed.data_ptr() == X.ctypes.data
    (result,) = session.run_with_ort_values(None, {"x": fed})
    np.testing.assert_array_equal(result.numpy(), np.maximum(X, 0))
    zeros = ort.OrtValue.ortvalue_from_shape_and_type([1, 4], np.float32)
    zeros.update_inplace(X)
    np.testing.assert_array_equal(session.run(None, {"x": zeros})[0], np.maximum(X, 0))
    with pytest.raises(ort.InvalidArgument, match="shape"):
        zeros.update_inplace(X[:, :2])
    with pytest.raises(ort.InvalidArgument, match="cuda"):
        ort.OrtValue.ortvalue_from_numpy(X, "cuda", 0)
    bits = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(3, np.uint16), TensorProto.BFLOAT16)
    assert bits.data_type() == "tensor(bfloat16)"


def test_metadata_inputs_and_outputs_are_told() -> None:
    proto = model([node("Relu", ["x"], ["y"])], [value("x", shape=["n", None, 3])], [value("y", shape=["n", None, 3])])
    proto.producer_name, proto.domain, proto.model_version, proto.doc_string = "me", "test", 3, "text"
    helper.set_model_props(proto, {"key": "text"})
    session = ort.InferenceSession(proto)
    (x,) = session.get_inputs()
    assert (x.name, x.type, x.shape) == ("x", "tensor(float)", ["n", None, 3])
    meta = session.get_modelmeta()
    assert (meta.producer_name, meta.domain, meta.version, meta.description) == ("me", "test", 3, "text")
    assert (meta.graph_name, meta.custom_metadata_map) == ("g", {"key": "text"})


def test_options_and_their_entries() -> None:
    for options, add, get in (
        (ort.SessionOptions(), "add_session_config_entry", "get_session_config_entry"),
        (ort.RunOptions(), "add_run_config_entry", "get_run_config_entry"),
    ):
        getattr(options, add)("a.b", "1")
        getattr(options, add)("a.b", "2")
        assert getattr(options, get)("a.b") == "2"
        with pytest.raises(RuntimeError, match=r"'c\.d'"):
            getattr(options, get)("c.d")
        getattr(options, add)("é" * 512, "é" * 4096)
        for key in ("", "k" * 2000, "é" * 513):
            with pytest.raises(RuntimeError, match="1 to 1024"):
                getattr(options, add)(key, "1")
        with pytest.raises(RuntimeError, match="8194 bytes"):
            getattr(options, add)("k", "é" * 4097)


def test_a_provider_that_is_not_there_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="'CUDAExecutionProvider'"):
        session = ort.InferenceSession(relu(), providers=["CUDAExecutionProvider", ("CPUExecutionProvider", {})])
    assert session.get_providers() == ["CPUExecutionProvider"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ort.InferenceSession(relu(), providers=["CPUExecutionProvider"])
    with pytest.raises(ValueError, match="one for each"):
        ort.InferenceSession(relu(), providers=["CPUExecutionProvider"], provider_options=[{}, {}])


def test_a_profile_is_a_chrome_trace_with_one_event_for_each_node(tmp_path: Path) -> None:
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "trace")
    session = ort.InferenceSession(chain(3), options)
    for _ in range(2):
        session.run(None, {"v0": X[0]})
    path = Path(session.end_profiling())
    assert path.parent == tmp_path
    events = json.loads(path.read_text())
    nodes = [event for event in events if event["cat"] == "Node"]
    assert [event["name"] for event in nodes] == [f"n{i}_kernel_time" for i in range(3)] * 2
    for event in nodes:
        assert event["ph"] == "X"
        assert event["dur"] >= 0
        assert event["args"]["op_name"] == "Relu"
        assert event["args"]["provider"] == "CPUExecutionProvider"
    assert {event["name"] for event in events if event["cat"] == "Session"} == {"session_initialization", "model_run"}
    assert ort.InferenceSession(chain(3)).end_profiling() == ""


def test_an_exception_has_the_error_code_of_its_class() -> None:
    classes = (
        *(ort.Fail, ort.InvalidArgument, ort.NoSuchFile, ort.NoModel, ort.EngineError, ort.RuntimeException),
        *(ort.InvalidProtobuf, ort.ModelLoaded, ort.NotImplemented, ort.InvalidGraph, ort.EPFail),
        *(ort.ModelLoadCanceled, ort.ModelRequiresCompilation, ort.NotFound, ort.DeviceReset),
    )
    from onnx_light_ort.errors import exception_for_code

    for code, cls in enumerate(classes, start=1):
        assert cls.code == code
        assert exception_for_code(code) is cls
    with pytest.raises(ort.Error) as caught:
        ort.InferenceSession(b"")
    assert caught.value.code == 2


def test_a_thousand_sessions_leave_no_memory_behind() -> None:
    data = relu().SerializeToString()

    def resident() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    def make(count: int) -> None:
        for _ in range(count):
            ort.InferenceSession(data).run(None, {"x": X})

    make(300)
    before = resident()
    make(1000)
    assert resident() - before < 4 << 20


def test_a_kernels_own_error_reaches_the_caller_as_the_cause() -> None:
    def broken(x: Any) -> Any:
        raise KeyError("lost")

    registry = KernelRegistry("mine")
    registry.register_kernel("", "Relu", 1, None, {}, lambda resolved: broken)
    options = ort.SessionOptions()
    options.add_kernel_registry(registry)
    session = ort.InferenceSession(relu(), options)
    with pytest.raises(ort.Fail, match=r"'r' \(Relu\).*lost") as caught:
        session.run(None, {"x": X})
    assert isinstance(caught.value.__cause__, KeyError)
