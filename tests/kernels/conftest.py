"""Native kernels by themselves: one kernel, made and run through the engine without planning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import defs, helper

from onnx_light_ort._native import engine

Array = np.ndarray[Any, np.dtype[Any]]
RunNative = Callable[..., list[Array]]


def _parameter_types(
    schema: defs.OpSchema, inputs: Sequence[int | None], outputs: Sequence[int | None]
) -> dict[str, int]:
    """Element type of each type parameter, by the schema's names; a fixed type goes by its input's or output's name."""
    found: dict[str, int] = {}
    for formals, actual in ((schema.inputs, inputs), (schema.outputs, outputs)):
        for i, data_type in enumerate(actual):
            formal = formals[min(i, len(formals) - 1)]
            if data_type is not None:
                found.setdefault(formal.name if "(" in formal.type_str else formal.type_str, data_type)
    return found


def _run(
    op_type: str,
    opset: int,
    inputs: Sequence[Array | None],
    output_types: Sequence[int],
    threads: int = 2,
    constant: Sequence[int] = (),
    **attributes: Any,
) -> list[Array]:
    schema = defs.get_schema(op_type, opset, "")
    values = [None if x is None else np.asarray(x) for x in inputs]
    input_types = [None if x is None else helper.np_dtype_to_tensor_dtype(x.dtype) for x in values]
    types = _parameter_types(schema, input_types, [t or None for t in output_types])
    for name, attribute in schema.attributes.items():
        if attribute.default_value.name and name not in attributes:
            default = helper.get_attribute_value(attribute.default_value)
            attributes[name] = default.decode() if isinstance(default, bytes) else default
    for entry in engine.native_kernels():
        if entry.op_type == op_type and entry.since_version <= schema.since_version <= entry.end_version:
            constraints = entry.type_constraints
            if all(types[name] in constraints[name] for name in constraints if name in types):
                break
    else:
        pytest.fail(f"no native kernel for {op_type} {schema.since_version} with {types}")
    kernel = entry.create(
        "node",
        "",
        op_type,
        schema.since_version,
        [t or 0 for t in input_types],
        list(output_types),
        attributes,
        [x if i in constant else None for i, x in enumerate(values)],
    )
    builder = engine.PlanBuilder()
    feed: dict[str, Array] = {}
    input_values = []
    for i, (x, data_type) in enumerate(zip(values, input_types, strict=True)):
        if x is None or data_type is None:
            input_values.append(-1)
            continue
        value = builder.add_value(f"input {i}")
        if i in constant:
            builder.add_constant(value, x)
        else:
            builder.add_input(value, f"input {i}", data_type, None)
            feed[f"input {i}"] = x
        input_values.append(value)
    output_values = [builder.add_value(f"output {i}") if t else -1 for i, t in enumerate(output_types)]
    builder.add_kernel_step("node", op_type, kernel, input_values, output_values, list(output_types))
    for i, value in enumerate(output_values):
        if value != -1:
            builder.add_output(value, f"output {i}")
    return list(engine.Executor(builder.build(), threads, engine.MemoryBudget()).run(None, feed))


@pytest.fixture(scope="session")
def run_native() -> RunNative:
    """``run_native(op_type, opset, inputs, output_types, **attributes)``: the outputs of the native kernel.

    ``constant`` lists the inputs that the kernel knows when it is created. Fails where no native kernel takes the node.
    """
    return _run
