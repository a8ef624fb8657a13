"""Native kernels beside a copy, numpy and OpenBLAS, on two threads, in one process and in turns.

``python benchmarks/kernels.py [--only NAME] [--megabytes N] [--threads N]``. OpenBLAS is measured where the package
scipy-openblas32 is installed.

A kernel is one step of a plan whose output a Shape step reads, so that its buffer is the engine's and used again: what
is timed is the kernel, not the system's zeroing of fresh pages. Bandwidth counts the bytes of inputs and outputs once.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from onnx import defs, helper

from onnx_light_ort._native import engine

Array = np.ndarray[Any, np.dtype[Any]]

FLOAT32 = np.dtype(np.float32)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT16 = np.dtype(np.float16)


def native_kernel(op_type: str, opset: int, inputs: Sequence[Array], outputs: Sequence[int], **attributes: Any) -> Any:
    """The registry's kernel for one node, created."""
    schema = defs.get_schema(op_type, opset, "")
    types = [helper.np_dtype_to_tensor_dtype(x.dtype) for x in inputs]
    bound: dict[str, int] = {}
    for formals, actual in ((schema.inputs, types), (schema.outputs, outputs)):
        for i, data_type in enumerate(actual):
            formal = formals[min(i, len(formals) - 1)]
            bound.setdefault(formal.name if "(" in formal.type_str else formal.type_str, data_type)
    for name, attribute in schema.attributes.items():
        if attribute.default_value.name and name not in attributes:
            default = helper.get_attribute_value(attribute.default_value)
            attributes[name] = default.decode() if isinstance(default, bytes) else default
    for entry in engine.native_kernels():
        constraints = entry.type_constraints
        if (
            entry.op_type == op_type
            and entry.since_version <= schema.since_version <= entry.end_version
            and all(bound[name] in constraints[name] for name in constraints if name in bound)
        ):
            return entry.create(
                "node", "", op_type, schema.since_version, types, list(outputs), attributes, [None] * len(inputs)
            )
    raise SystemExit(f"no native kernel for {op_type} {schema.since_version} with {bound}")


def runner(
    op_type: str, opset: int, inputs: Sequence[Array], output: np.dtype[Any], threads: int, **attributes: Any
) -> Callable[..., Any]:
    """Runs the kernel and keeps nothing of its output but the shape. Keywords (x0, x1, …) replace inputs."""
    out = helper.np_dtype_to_tensor_dtype(output)
    builder = engine.PlanBuilder()
    values = []
    feed = {}
    for i, x in enumerate(inputs):
        value = builder.add_value(f"x{i}")
        builder.add_input(value, f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), None)
        values.append(value)
        feed[f"x{i}"] = x
    result, shape = builder.add_value("y"), builder.add_value("shape")
    kernel = native_kernel(op_type, opset, inputs, [out], **attributes)
    builder.add_kernel_step("node", op_type, kernel, values, [result], [out])
    builder.add_kernel_step(
        "shape", "Shape", native_kernel("Shape", 21, [np.zeros(1, output)], [7]), [result], [shape], [7]
    )
    builder.add_output(shape, "shape")
    executor = engine.Executor(builder.build(), threads, engine.MemoryBudget())
    return lambda **others: executor.run(None, {**feed, **others} if others else feed)


def on_threads(threads: int, work: Callable[[int], Any]) -> Callable[[], None]:
    """work(i) for each thread at once; the threads live on between calls."""
    barrier = threading.Barrier(threads)

    def serve(i: int) -> None:
        while True:
            barrier.wait()
            work(i)
            barrier.wait()

    for i in range(1, threads):
        threading.Thread(target=serve, args=(i,), daemon=True).start()

    def call() -> None:
        barrier.wait()
        work(0)
        barrier.wait()

    return call


def copier(nbytes: int, threads: int) -> Callable[[], None]:
    source, target = np.ones(nbytes, np.uint8), np.zeros(nbytes, np.uint8)
    parts = list(zip(np.array_split(source, threads), np.array_split(target, threads), strict=True))
    return on_threads(threads, lambda i: np.copyto(parts[i][1], parts[i][0]))


clock: Callable[[], float] = time.perf_counter


def least_times(
    calls: Sequence[Callable[[], Any]], rounds: int = 25, budget: float = 0.02, pause: float = 0
) -> list[float]:
    """Least time of each call, in seconds, over rounds in which each has its turn, after a pause in seconds."""
    least = [math.inf] * len(calls)
    repeats = []
    for call in calls:
        call()
        begin = clock()
        call()
        repeats.append(max(1, int(budget / max(clock() - begin, 1e-7))))
    for _ in range(rounds):
        for i, call in enumerate(calls):
            time.sleep(pause)
            for _ in range(min(repeats[i], 200)):
                begin = clock()
                call()
                least[i] = min(least[i], clock() - begin)
    return least


def bandwidth(only: str | None, nbytes: int, threads: int) -> None:
    """Operators that do nothing but move their data through the CPU once."""
    print(f"\nbandwidth of arrays of {nbytes / 2**20:g} MiB, {threads} threads, against a copy's (reads and writes)")
    copy = copier(nbytes, threads)
    for dtype in (FLOAT32, BFLOAT16, FLOAT16):
        n = nbytes // dtype.itemsize
        x = np.random.default_rng(0).uniform(-2, 2, n).astype(FLOAT32).astype(dtype)
        y = x[::-1].copy()
        scalar = [np.array(v).astype(dtype) for v in (-1, 1)]
        other = BFLOAT16 if dtype == FLOAT32 else FLOAT32
        cases: list[tuple[str, list[Array], np.dtype[Any], dict[str, Any]]] = [
            *((op_type, [x, y], dtype, {}) for op_type in ("Add", "Sub", "Mul", "Min", "Max")),
            *((op_type, [x], dtype, {}) for op_type in ("Neg", "Abs", "Relu")),
            ("Clip", [x, *scalar], dtype, {}),
            ("Cast", [x], other, {"to": helper.np_dtype_to_tensor_dtype(other)}),
            ("ReduceSum", [x.reshape(-1, 1024), np.array([1])], dtype, {}),
            ("ReduceSum", [x.reshape(1024, -1), np.array([0])], dtype, {}),
            ("ReduceSum", [x, np.array([0])], dtype, {}),
        ]
        for op_type, inputs, output, attributes in cases:
            if only not in (None, op_type):
                continue
            run = runner(op_type, 21, inputs, output, threads, **attributes)
            ours, copied = least_times([run, copy])
            moved = sum(a.nbytes for a in inputs)
            moved += 0 if op_type == "ReduceSum" else inputs[0].size * output.itemsize
            rate, limit = moved / ours / 1e9, 2 * nbytes / copied / 1e9
            label = f"{op_type} {dtype}{f' to {output}' if output != dtype else ''}"
            shape = f" {inputs[0].shape} axis {int(inputs[1][0])}" if op_type == "ReduceSum" else ""
            print(
                f"  {label + shape:48s} {rate:6.1f} GB/s  copy {limit:6.1f} GB/s  ratio {rate / limit:.2f}", flush=True
            )


NUMPY: dict[str, Callable[..., Array]] = {
    "Sqrt": np.sqrt,
    "Reciprocal": np.reciprocal,
    "Exp": np.exp,
    "Log": np.log,
    "Tanh": np.tanh,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
    "Sign": np.sign,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Swish": lambda x: x / (1 + np.exp(-x)),
    "Div": np.divide,
    "Pow": np.power,
    "Mod": np.fmod,
    "PRelu": lambda x, slope: np.where(x < 0, slope * x, x),
    "Less": np.less,
    "Equal": np.equal,
}


def against_numpy(only: str | None, threads: int, count: int, dtypes: Sequence[np.dtype[Any]]) -> None:
    """The other elementwise operators, on arrays of `count` elements."""
    print(f"\nelementwise operators on {count:,} elements, {threads} threads, against numpy (fresh output each time)")
    for dtype in dtypes:
        for op_type, function in NUMPY.items():
            if only not in (None, op_type):
                continue
            low, high = {"Acosh": (1, 4), "Asin": (-1, 1), "Acos": (-1, 1), "Atanh": (-0.9, 0.9)}.get(op_type, (0.1, 3))
            x = np.random.default_rng(0).uniform(low, high, count).astype(FLOAT32).astype(dtype)
            inputs = [x, x[::-1].copy()] if op_type in ("Div", "Pow", "Mod", "PRelu", "Less", "Equal") else [x]
            output = np.dtype(np.bool_) if op_type in ("Less", "Equal") else dtype
            attributes = {"fmod": 1} if op_type == "Mod" else {}
            run = runner(op_type, 24, inputs, output, threads, **attributes)
            rounds = 15 if count < 10_000_000 else 7
            ours, theirs = least_times([run, lambda f=function, a=inputs: f(*a)], rounds)
            label = f"{op_type} {dtype}"
            print(
                f"  {label:24s} {ours * 1e6:9.1f} us  numpy {theirs * 1e6:9.1f} us  ratio {theirs / ours:.2f}",
                flush=True,
            )


def openblas(threads: int) -> Callable[[Array, Array, Array], None] | None:
    """C = A B by cblas_sgemm, or None where scipy-openblas32 is not installed."""
    try:
        import scipy_openblas32
    except ImportError:
        return None
    library = ctypes.CDLL(f"{scipy_openblas32.get_lib_dir()}/lib{scipy_openblas32.get_library()}.so")
    library.scipy_openblas_set_num_threads(threads)
    sgemm = library.scipy_cblas_sgemm
    one, zero = ctypes.c_float(1), ctypes.c_float(0)

    def multiply(a: Array, b: Array, c: Array) -> None:
        (m, k), n = a.shape, b.shape[1]
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
        sgemm(101, 111, 111, m, n, k, one, pointers[0], k, pointers[1], n, zero, pointers[2], n)

    return multiply


PRODUCTS = [
    (64, 384, 384),
    (128, 1536, 384),
    (128, 384, 1536),
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (480, 40, 480),
    (1, 4096, 1024),
]


def products(only: str | None, threads: int) -> None:
    """MatMul of float32, neither operand packed ahead."""
    multiply = openblas(threads)
    print(f"\nMatMul of float32, {threads} threads, against OpenBLAS alone ({'' if multiply else 'not '}installed)")
    for m, n, k in PRODUCTS:
        if only not in (None, "MatMul"):
            continue
        a, b, c = (
            np.random.default_rng(i).normal(size=s).astype(FLOAT32) for i, s in enumerate(((m, k), (k, n), (m, n)))
        )
        run = runner("MatMul", 13, [a, b], FLOAT32, threads)
        calls: list[Callable[[], Any]] = [run]
        if multiply is not None:
            calls.append(lambda a=a, b=b, c=c, f=multiply: f(a, b, c))  # type: ignore[misc]
        # OpenBLAS's threads look for work for a while before they sleep.
        times = least_times(calls, rounds=15, budget=0.1, pause=0.05 if threads > 1 else 0)
        rates = [2e-9 * m * n * k / seconds for seconds in times]
        ratio = f"  OpenBLAS {rates[1]:7.1f}  ratio {rates[0] / rates[1]:.2f}" if multiply is not None else ""
        print(f"  {m} x {n} x {k}:{'':4s} {rates[0]:7.1f} GFLOP/s{ratio}", flush=True)


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "transposed": lambda x: x[:, : len(x)].T,
    "half the columns": lambda x: x[:, : len(x)],
    "every other column": lambda x: x[:, ::2],
    "reversed": lambda x: x[::-1, len(x) - 1 :: -1],
    "one row for all": lambda x: np.broadcast_to(x[0, : len(x)], (len(x), len(x))),
}


def layouts(only: str | None, threads: int) -> None:
    """Arrays that are not contiguous, read where they are, and copied first by numpy."""
    n = 2000
    print(f"\n{n} x {n} of float32 in other layouts, {threads} threads, against a run after numpy's copy")
    wide = np.random.default_rng(0).uniform(0.1, 3, (n, 2 * n)).astype(FLOAT32)
    other = wide[:, n:].copy()
    for op_type in ("Relu", "Add", "Exp", "Transpose", "MatMul"):
        if only not in (None, op_type):
            continue
        for layout, view_of in LAYOUTS.items():
            view = view_of(wide)
            inputs = [view, other] if op_type in ("Add", "MatMul") else [view]
            run = runner(op_type, 21, inputs, FLOAT32, threads)
            ours, copied = least_times([run, lambda f=run, v=view: f(x0=np.ascontiguousarray(v))], rounds=15)
            label = f"{op_type}, {layout}"
            print(
                f"  {label:32s} {ours * 1e3:8.2f} ms  copied {copied * 1e3:8.2f} ms  ratio {copied / ours:.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", help="one operator")
    parser.add_argument("--megabytes", type=float, default=64, help="size of the arrays whose bandwidth is measured")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processor-time", action="store_true", help="of one thread, for a machine that is busy")
    arguments = parser.parse_args()
    if arguments.processor_time:
        global clock
        clock = time.thread_time
        arguments.threads = 1
    if arguments.only != "MatMul":
        bandwidth(arguments.only, int(arguments.megabytes * 2**20), arguments.threads)
        # In the caches, and beyond them, where memory limits both.
        against_numpy(arguments.only, arguments.threads, 500_000, (FLOAT32, BFLOAT16))
        against_numpy(arguments.only, arguments.threads, int(arguments.megabytes * 2**18), (FLOAT32,))
    products(arguments.only, arguments.threads)
    layouts(arguments.only, arguments.threads)


if __name__ == "__main__":
    main()
