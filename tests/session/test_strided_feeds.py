"""Arrays that are not contiguous: native kernels that read strides borrow them, everybody else gets a dense copy."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import BOOL, INT64, constant, graph, model, node, value

import onnx_light_ort as ort
from onnx_light_ort.engine.kernel_registry import KernelRegistry

Array = np.ndarray[Any, np.dtype[Any]]

ROWS, COLUMNS = 120, 200


def random(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Array:
    drawn = np.random.default_rng(seed).uniform(0.5, 9, shape)
    made: Array = (drawn > 4 if np.dtype(dtype) == bool else drawn).astype(dtype)
    return made


LAYOUTS: dict[str, Callable[[Any], Array]] = {
    "transposed": lambda dtype: random(COLUMNS, ROWS, dtype=dtype).T,
    "Fortran order": lambda dtype: np.asfortranarray(random(ROWS, COLUMNS, dtype=dtype)),
    "columns of a wider array": lambda dtype: random(ROWS, 2 * COLUMNS, dtype=dtype)[:, 7 : 7 + COLUMNS],
    "every other column": lambda dtype: random(ROWS, 2 * COLUMNS, dtype=dtype)[:, ::2],
    "reversed": lambda dtype: random(ROWS, COLUMNS, dtype=dtype)[::-1, ::-1],
    "one row for all": lambda dtype: np.broadcast_to(random(COLUMNS, dtype=dtype), (ROWS, COLUMNS)),
    "one column for all": lambda dtype: np.broadcast_to(random(ROWS, 1, dtype=dtype), (ROWS, COLUMNS)),
}

DTYPES = {
    "float32": (np.float32, TensorProto.FLOAT),
    "bfloat16": (ml_dtypes.bfloat16, TensorProto.BFLOAT16),
    "int8": (np.int8, TensorProto.INT8),
    "float64": (np.float64, TensorProto.DOUBLE),
    "bool": (np.bool_, TensorProto.BOOL),
}

NUMBERS = ("float32", "bfloat16", "int8", "float64")
FLOATS = ("float32", "bfloat16", "float64")

#: Nodes from x (and w, of the same type and shape) to y, and the dtypes to feed.
OPERATORS: dict[str, tuple[list[Any], tuple[str, ...]]] = {
    "Abs": ([node("Abs", ["x"], ["y"])], NUMBERS),
    "Not": ([node("Not", ["x"], ["y"])], ("bool",)),
    "Add": ([node("Add", ["x", "w"], ["y"])], NUMBERS),
    "Sub, on the right": ([node("Sub", ["w", "x"], ["y"])], NUMBERS),
    "Mul, with itself": ([node("Mul", ["x", "x"], ["y"])], NUMBERS),
    "Max": ([node("Max", ["x", "w", "x"], ["y"])], NUMBERS),
    "Pow": ([node("Pow", ["x", "x"], ["y"])], ("float32", "float64")),
    "Less": ([node("Less", ["x", "w"], ["y"])], NUMBERS),
    "And": ([node("And", ["x", "w"], ["y"])], ("bool",)),
    "Where": ([node("Where", ["x", "x", "w"], ["y"])], ("bool",)),
    "Clip": ([node("Clip", ["x"], ["y"])], NUMBERS),
    "Cast": ([node("Cast", ["x"], ["y"], to=TensorProto.INT32)], tuple(DTYPES)),
    "Transpose": ([node("Transpose", ["x"], ["y"])], tuple(DTYPES)),
    "Split": ([node("Split", ["x"], ["y", "rest"], axis=1)], tuple(DTYPES)),
    "Concat": ([node("Concat", ["w", "x"], ["y"], axis=0)], tuple(DTYPES)),
    "Flatten": ([node("Flatten", ["x"], ["y"], axis=0)], tuple(DTYPES)),
    "MatMul": ([node("MatMul", ["x", "w_transposed"], ["y"])], FLOATS),
    "Gemm": ([node("Gemm", ["x", "w"], ["y"], transB=1)], FLOATS),
    "two readers": ([node("Neg", ["x"], ["n"]), node("Add", ["n", "x"], ["y"])], NUMBERS),
}


def session_of(nodes: list[Any], element_type: int, dtype: Any, options: ort.SessionOptions | None = None) -> Any:
    w = random(ROWS, COLUMNS, dtype=dtype, seed=1)
    used = {name for each in nodes for name in each.input}
    weights = {"w": w, "w_transposed": w.T}
    proto = model(
        nodes,
        [value("x", element_type, [ROWS, COLUMNS])],
        [helper.make_tensor_value_info("y", 0, None)],
        [
            helper.make_tensor(name, element_type, array.shape, array.tobytes(), raw=True)
            for name, array in weights.items()
            if name in used
        ],
    )
    proto.graph.output[0].ClearField("type")
    return ort.InferenceSession(proto, options)


def numpy_bytes(run: Callable[[], Any]) -> tuple[Any, int]:
    """What a call returns, and the most memory that numpy and Python had for it at a time."""
    run()  # what the first call keeps is not counted
    tracemalloc.start()
    try:
        result = run()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("operator", "dtype"), [(name, dtype) for name, (_, dtypes) in OPERATORS.items() for dtype in dtypes]
)
def test_native_kernels_read_any_layout_where_it_is(operator: str, dtype: str, layout: str) -> None:
    numpy_dtype, element_type = DTYPES[dtype]
    session = session_of(OPERATORS[operator][0], element_type, numpy_dtype)
    x = LAYOUTS[layout](numpy_dtype)
    before = x.copy()
    (expected,) = session.run(None, {"x": np.ascontiguousarray(x)})
    (y,), copied = numpy_bytes(lambda: session.run(None, {"x": x}))
    assert copied < x.nbytes / 2
    assert y.flags.c_contiguous
    if operator in ("MatMul", "Gemm"):
        np.testing.assert_allclose(y.astype(np.float64), expected.astype(np.float64), rtol=1e-2, atol=1e-4)
    else:
        np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("operator", ["Abs", "Add", "Transpose", "Cast", "Concat"])
def test_no_kernel_makes_a_dense_copy_of_its_own(operator: str) -> None:
    x = LAYOUTS["transposed"](np.float32)
    options = ort.SessionOptions()
    options.memory_limit = x.nbytes * (2 if operator == "Concat" else 1) + x.nbytes // 2
    nodes = OPERATORS[operator][0]
    (y,) = session_of(nodes, TensorProto.FLOAT, np.float32, options).run(None, {"x": x})
    (expected,) = session_of(nodes, TensorProto.FLOAT, np.float32).run(None, {"x": np.ascontiguousarray(x)})
    np.testing.assert_array_equal(y, expected)


def test_rows_of_a_view_are_gathered_where_they_are() -> None:
    table = random(50, 1000)[::5, 100:900]
    session = ort.InferenceSession(
        model(
            [node("Gather", ["x", "i"], ["y"])],
            [value("x", shape=[10, 800]), value("i", INT64, ["n"])],
            [value("y", shape=["n", 800])],
        )
    )
    rows = np.array([9, 0, -1])
    (y,), copied = numpy_bytes(lambda: session.run(None, {"x": table, "i": rows}))
    np.testing.assert_array_equal(y, table[rows])
    assert copied < table.nbytes / 2


def registry_of(op_type: str, seen: list[Array], function: Callable[..., Array]) -> KernelRegistry:
    def kernel(x: Array) -> Array:
        seen.append(x)
        return function(x)

    registry = KernelRegistry("mine")
    registry.register_kernel("", op_type, 1, None, {}, lambda resolved: kernel)
    return registry


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_python_kernel_sees_a_dense_copy_also_beside_a_native_one(layout: str) -> None:
    seen: list[Array] = []
    options = ort.SessionOptions()
    options.add_kernel_registry(registry_of("Relu", seen, lambda x: np.maximum(x, 5)))
    nodes = [node("Relu", ["x"], ["a"]), node("Sub", ["a", "x"], ["y"])]
    session = session_of(nodes, TensorProto.FLOAT, np.float32, options)
    x = LAYOUTS[layout](np.float32)
    (y,), copied = numpy_bytes(lambda: session.run(None, {"x": x}))
    np.testing.assert_array_equal(y, np.maximum(x, 5) - x)
    assert all(array.flags.c_contiguous for array in seen)
    assert copied > x.nbytes  # and so is what the other tests measure


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_feed_that_is_an_output_leaves_as_an_array_of_its_own(layout: str) -> None:
    proto = model(
        [node("Identity", ["x"], ["y"]), node("Neg", ["x"], ["z"])],
        [value("x", shape=None)],
        [value("y", shape=None), value("x", shape=None), value("z", shape=None)],
    )
    x = LAYOUTS[layout](np.float32)
    y, same, z = ort.InferenceSession(proto).run(None, {"x": x})
    for output in (y, same):
        np.testing.assert_array_equal(output, x)
        assert not np.shares_memory(output, x)
    np.testing.assert_array_equal(z, -x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_feed_that_a_branch_or_a_loop_reads_is_right(layout: str) -> None:
    branches = [graph([node(op, ["x"], [op])], [], [value(op, shape=None)]) for op in ("Neg", "Abs")]
    body = graph(
        [node("Add", ["state", "x"], ["next"]), node("Identity", ["go"], ["on"])],
        [value("i", INT64, []), value("go", BOOL, []), value("state", shape=None)],
        [value("on", BOOL, []), value("next", shape=None)],
    )
    proto = model(
        [
            node("If", ["c"], ["chosen"], then_branch=branches[0], else_branch=branches[1]),
            node("Loop", ["n", "", "x"], ["y"], body=body),
        ],
        [value("x", shape=None), value("c", BOOL, [])],
        [value("chosen", shape=None), value("y", shape=None)],
        [constant("n", 2, np.int64)],
    )
    session = ort.InferenceSession(proto)
    x = LAYOUTS[layout](np.float32)
    for condition in (True, False):
        chosen, y = session.run(None, {"x": x, "c": np.array(condition)})
        np.testing.assert_array_equal(chosen, -x if condition else x)
        np.testing.assert_allclose(y, 3 * x, rtol=1e-6)


def test_layouts_that_no_view_describes_are_copied() -> None:
    session = ort.InferenceSession(
        model([node("Neg", ["x"], ["y"])], [value("x", shape=None)], [value("y", shape=None)])
    )
    dense = random(6, 5)
    record = np.zeros((6, 5), dtype=[("flag", np.uint8), ("number", np.float32)])
    record["number"] = dense
    odd = np.zeros((6, 5), dtype=np.dtype({"names": ["x"], "formats": ["f4"], "offsets": [0], "itemsize": 6}))
    odd["x"] = dense
    deep = np.broadcast_to(random(*[2] * 9, 1), [2] * 9 + [3])
    for x, right in (
        (record["number"], dense),
        (odd["x"], dense),
        (dense.astype(">f4").T, dense.T),
        (deep, deep),
        (np.broadcast_to(np.float32(3), (4, 5)), np.full((4, 5), 3)),
        (dense[:, :0].T, np.zeros((0, 6))),
        (dense[1:2, ::5], dense[1:2, ::5]),
    ):
        (y,) = session.run(None, {"x": x})
        np.testing.assert_array_equal(y, -right)
        assert y.shape == right.shape


def test_types_that_share_a_byte_may_be_fed_in_any_layout() -> None:
    session = ort.InferenceSession(
        model(
            [node("Transpose", ["x"], ["y"])],
            [value("x", TensorProto.INT4, [3, 5])],
            [value("y", TensorProto.INT4, [5, 3])],
            opset=21,
            ir_version=10,
        )
    )
    x = np.arange(-7, 8).reshape(5, 3).astype(ml_dtypes.int4).T
    np.testing.assert_array_equal(session.run(None, {"x": x})[0].astype(np.int8), x.T.astype(np.int8))


def test_shapes_and_axes_in_any_layout_are_read_right() -> None:
    session = ort.InferenceSession(
        model(
            [node("Reshape", ["x", "s"], ["y"])],
            [value("x", shape=[4, 6]), value("s", INT64, [2])],
            [value("y", shape=None)],
        )
    )
    x = random(6, 4).T
    shape = np.array([3, 7, 8, 9])[::2]
    np.testing.assert_array_equal(session.run(None, {"x": x, "s": shape})[0], x.reshape(3, 8))
