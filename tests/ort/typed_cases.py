"""The operator cases of package onnx with other element types than they have: one type parameter of the operator at a
time takes each type that the schema allows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import ModelProto, TensorProto, defs
from onnx.backend.test.case.node import collect_testcases
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
    tensor_dtype_to_np_dtype,
)
from reverse_session import as_value

Array = Any

#: Attributes that name the type of the first output.
_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")
_TENSOR_TYPES = {f"tensor({name.lower()})": number for name, number in TensorProto.DataType.items()}
#: Types whose elements the C ABI does not show, or that ORT does not have.
INEXPRESSIBLE = {TensorProto.STRING, TensorProto.COMPLEX64, TensorProto.COMPLEX128}


@dataclass
class TypedCase:
    """A model of one node, whose inputs all have values."""

    name: str
    op_type: str
    domain: str
    since_version: int
    opset: int
    attributes: dict[str, Any]
    inputs: list[Array | None]
    input_types: list[int]  # 0 where the node leaves the input out
    output_types: list[int]
    bindings: dict[str, int]  # type parameter, or name of a value of fixed type -> element type

    def feed(self) -> dict[str, Array]:
        return {f"i{position}": value for position, value in enumerate(self.inputs) if value is not None}

    def model(self) -> ModelProto:
        names = ["" if value is None else f"i{position}" for position, value in enumerate(self.inputs)]
        outputs = [f"o{position}" if element else "" for position, element in enumerate(self.output_types)]
        node = make_node(self.op_type, names, outputs, name="the_node", domain=self.domain, **self.attributes)
        infos = [
            make_tensor_value_info(name, element, np.shape(value))
            for name, element, value in zip(names, self.input_types, self.inputs, strict=True)
            if name
        ]
        declared = [
            make_tensor_value_info(name, element, None)
            for name, element in zip(outputs, self.output_types, strict=True)
            if name
        ]
        graph = make_graph([node], "typed case", infos, declared)
        return make_model(graph, opset_imports=[make_opsetid(self.domain, self.opset)], ir_version=10)


def _base_case(case: Any) -> TypedCase | None:
    graph = case.model.graph
    if len(graph.node) != 1 or graph.initializer or case.model.functions:
        return None
    node = graph.node[0]
    opset = next(
        item.version for item in case.model.opset_import if item.domain in (node.domain, node.domain or "ai.onnx")
    )
    schema = defs.get_schema(node.op_type, opset, node.domain)
    values = {value.name: value.type.tensor_type.elem_type for value in (*graph.input, *graph.output)}
    arrays = dict(zip([value.name for value in graph.input], map(as_value, case.data_sets[0][0]), strict=True))
    if any(not isinstance(array, np.ndarray) for array in arrays.values()) or 0 in values.values():
        return None
    attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    if any(isinstance(value, onnx.TensorProto | onnx.GraphProto) for value in attributes.values()):
        return None
    made = TypedCase(
        name=case.name,
        op_type=node.op_type,
        domain=node.domain,
        since_version=schema.since_version,
        opset=opset,
        attributes=attributes,
        inputs=[arrays.get(name) for name in node.input],
        input_types=[values.get(name, 0) for name in node.input],
        output_types=[values.get(name, 0) for name in node.output],
        bindings={},
    )
    made.bindings = bindings(made, schema)
    return made


def _formal(formals: Any, position: int) -> Any:
    return formals[min(position, len(formals) - 1)]


def _parameter(schema: Any, formal: Any) -> str:
    names = {constraint.type_param_str for constraint in schema.type_constraints}
    return str(formal.type_str if formal.type_str in names else formal.name)


def bindings(case: TypedCase, schema: Any) -> dict[str, int]:
    """The type of each type parameter, and of each value whose type is fixed."""
    found: dict[str, int] = {}
    for formals, types in ((schema.inputs, case.input_types), (schema.outputs, case.output_types)):
        for position, element in enumerate(types):
            if element:
                found[_parameter(schema, _formal(formals, position))] = element
    return found


def _retyped(case: TypedCase, schema: Any, parameter: str, element: int) -> TypedCase:
    inputs, input_types = list(case.inputs), list(case.input_types)
    output_types = list(case.output_types)
    for position, value in enumerate(inputs):
        if value is not None and _parameter(schema, _formal(schema.inputs, position)) == parameter:
            inputs[position], input_types[position] = cast(value, element), element
    for position, kind in enumerate(output_types):
        if kind and _parameter(schema, _formal(schema.outputs, position)) == parameter:
            output_types[position] = element
    if case.op_type in ("Cast", "CastLike") and tensor_dtype_to_np_dtype(element).kind != "f":
        # An infinity as a whole number is anything.
        inputs = [finite(value) for value in inputs]
    if case.op_type in ("QuantizeLinear", "DequantizeLinear") and len(inputs) > 2 and inputs[2] is not None:
        inputs[2] = zero_if_float(inputs[2])
    attributes = dict(case.attributes)
    for name in _TYPE_ATTRIBUTES:
        if name in attributes and output_types[0] != case.output_types[0]:
            attributes[name] = output_types[0]
    made = replace(
        case,
        name=f"{case.name}[{parameter}={TensorProto.DataType.Name(element).lower()}]",
        attributes=attributes,
        inputs=inputs,
        input_types=input_types,
        output_types=output_types,
    )
    made.bindings = bindings(made, schema)
    return made


def finite(array: Array | None) -> Array | None:
    if array is None or array.dtype.kind != "f":
        return array
    return np.nan_to_num(array, nan=1, posinf=1, neginf=0)


def zero_if_float(zero_point: Array) -> Array:
    """The operators of quantization allow floats no other zero point."""
    return np.zeros_like(zero_point) if zero_point.dtype.name.startswith("float") else zero_point


def cast(array: Array, element: int) -> Array:
    """The values of an array, as far as another type has them."""
    dtype = np.dtype(tensor_dtype_to_np_dtype(element))
    if array.dtype == dtype:
        return array
    if dtype.kind == "b":
        return np.asarray(array.astype(np.float32) > 0)
    values = array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)
    small = dtype.name in ("int4", "uint4", "int2", "uint2")
    if dtype.kind in "iu" or small:
        limits = ml_dtypes.iinfo(dtype) if small else np.iinfo(dtype)
        low, high = max(int(limits.min), -(2**31)), min(int(limits.max), 2**31 - 1)
        whole = np.clip(np.nan_to_num(values, posinf=1, neginf=0), low, high)
        return np.asarray(whole).astype(np.int64).astype(dtype)
    return values.astype(np.float32).astype(dtype)


def typed_cases(operators: set[tuple[str, str]], each: int) -> Iterator[TypedCase]:
    """Up to `each` cases an operator and version, first as they are, then with other types."""
    with np.errstate(all="ignore"):
        cases = collect_testcases(None)
    seen: dict[tuple[str, str, int], int] = defaultdict(int)
    for case in cases:
        base = _base_case(case)
        if base is None or (base.domain, base.op_type) not in operators:
            continue
        key = (base.domain, base.op_type, base.since_version)
        seen[key] += 1
        if seen[key] > each:
            continue
        yield base
        schema = defs.get_schema(base.op_type, base.opset, base.domain)
        for constraint in schema.type_constraints:
            parameter = constraint.type_param_str
            for text in sorted(constraint.allowed_type_strs):
                element = _TENSOR_TYPES.get(text)
                if parameter not in base.bindings or element in (None, base.bindings[parameter], *INEXPRESSIBLE):
                    continue
                try:
                    tensor_dtype_to_np_dtype(element)
                except KeyError:
                    continue  # a type that onnx knows and numpy does not
                with np.errstate(all="ignore"):
                    yield _retyped(base, schema, parameter, element)
