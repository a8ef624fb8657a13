"""Which one-node models ORT's CPU provider loads: by loading them.

A node counts as runnable with a kernel of its own, or by casting float16 to float32 and back. That ORT can inline the
operator's function does not count: it does so in a graph, and not for a node of another operator's function.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import onnx
import onnxruntime
from onnx import TensorProto, defs
from onnx.helper import make_attribute, make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

Schema = defs.OpSchema
_VARIADIC = Schema.FormalParameterOption.Variadic
_OPTIONAL = Schema.FormalParameterOption.Optional
_TYPE_NUMBERS = {
    name.lower(): number for name, number in TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")
}

#: Values of attributes that operators require: any that their checks accept.
_REQUIRED: dict[str, Any] = {
    "alpha": 1.0, "axes": [0], "axis": 0, "bias": [0.0], "blocksize": 1, "direction": "LEFT", "ends": [1],
    "equation": "ij->ij", "hidden_size": 1, "keepdims": 1, "kernel_shape": [1, 1], "mode": "constant", "num_groups": 1,
    "p": 2, "paddings": [0, 0], "pads": [0, 0], "perm": [0], "pooled_shape": [1, 1], "scales": [1.0, 1.0, 1.0, 1.0],
    "shape": [1], "size": 1, "sorted": 1, "starts": [0], "width_scale": 1.0, "height_scale": 1.0,
    "classlabels_ints": [0], "coefficients": [1.0], "split": [1], "consumed_inputs": [0], "n_supports": 1, "k": 1,
    "kv_num_heads": 1, "q_num_heads": 1,
}  # fmt: skip
_OUTPUT_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype")


class Invalid(Exception):
    """ORT takes the model for a wrong one, whatever kernels there are."""


@dataclass(frozen=True)
class Operator:
    """One version of an operator, with the dense element types of each type parameter, strings left out."""

    schema: Schema
    parameters: dict[str, tuple[int, ...]]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.schema.domain, self.schema.name, self.schema.since_version

    def combinations(self) -> Iterator[tuple[int, ...]]:
        """Every choice of a type for each parameter, in the order of `parameters`."""
        yield from product(*self.parameters.values())


def _element_types(type_strings: Sequence[str]) -> tuple[int, ...]:
    names = [text[len("tensor(") : -1] for text in type_strings if text.startswith("tensor(")]
    return tuple(sorted(_TYPE_NUMBERS[name] for name in names if name in _TYPE_NUMBERS))


def operators() -> list[Operator]:
    """All versions of the operators that can work on dense tensors alone, without subgraphs."""
    found = []
    for schema in defs.get_all_schemas_with_history():
        if schema.deprecated or schema.domain not in ("", "ai.onnx.ml"):
            continue
        if any(attribute.type == defs.OpSchema.AttrType.GRAPH for attribute in schema.attributes.values()):
            continue
        parameters = {one.type_param_str: _element_types(one.allowed_type_strs) for one in schema.type_constraints}
        fixed = [
            formal.type_str
            for formal in (*schema.inputs, *schema.outputs)
            if formal.type_str not in parameters and formal.option != _OPTIONAL
        ]
        if not all(parameters.values()) or not all(_element_types([text]) for text in fixed):
            continue
        found.append(Operator(schema, parameters))
    return sorted(found, key=lambda one: one.key)


def model(operator: Operator, types: Sequence[int], *, optional_inputs: bool) -> bytes:
    """A model of one node, without shapes, whose type parameters have these types."""
    schema = operator.schema
    binding = dict(zip(operator.parameters, types, strict=True))

    def type_of(formal: Any) -> int:
        return binding[formal.type_str] if formal.type_str in binding else _element_types([formal.type_str])[0]

    inputs, outputs = [], []
    for position, formal in enumerate(schema.inputs):
        if formal.option == _OPTIONAL and not (optional_inputs and _dense(operator, formal)):
            break
        inputs.append((f"i{position}", type_of(formal)))
    for position, formal in enumerate(schema.outputs):
        if formal.option == _OPTIONAL and position > 0:
            break
        outputs.append((f"o{position}", type_of(formal)))
    attributes = {}
    for name, attribute in schema.attributes.items():
        if attribute.type == defs.OpSchema.AttrType.TENSOR and name == "value" and outputs:
            attributes[name] = _one_element(outputs[0][1])
        elif name in _OUTPUT_TYPE_ATTRIBUTES and attribute.type == defs.OpSchema.AttrType.INT and outputs:
            attributes[name] = outputs[0][1]
        elif name in _OUTPUT_TYPE_ATTRIBUTES and attribute.type == defs.OpSchema.AttrType.STRING and outputs:
            attributes[name] = TensorProto.DataType.Name(outputs[0][1])
        elif attribute.required or name == "hidden_size":
            if name not in _REQUIRED:
                raise Invalid(f"no value is known for attribute {name} of {schema.name}")
            attributes[name] = _REQUIRED[name]
    node = make_node(schema.name, [name for name, _ in inputs], [name for name, _ in outputs], domain=schema.domain)
    for name, value in attributes.items():
        node.attribute.append(make_attribute(name, value))
    graph = make_graph(
        [node],
        "one node",
        [make_tensor_value_info(name, kind, None) for name, kind in inputs],
        [make_tensor_value_info(name, kind, None) for name, kind in outputs],
    )
    imports = [make_opsetid("", schema.since_version if not schema.domain else 17)]
    if schema.domain:
        imports.append(make_opsetid(schema.domain, schema.since_version))
    made: bytes = make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()
    return made


def _dense(operator: Operator, formal: Any) -> bool:
    return formal.type_str in operator.parameters or bool(_element_types([formal.type_str]))


def _one_element(element: int) -> TensorProto:
    size = {TensorProto.COMPLEX64: 8, TensorProto.COMPLEX128: 16}.get(element)
    if size is None:
        size = max(onnx.helper.tensor_dtype_to_np_dtype(element).itemsize, 1)
    return onnx.helper.make_tensor("", element, [1], bytes(size), raw=True)


def alone(content: bytes) -> object:
    """A session of the CPU provider alone."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def lacks(content: bytes, make_session: Callable[[bytes], object] = alone) -> bool:
    """Whether ORT cannot run a model for want of a kernel.

    Raises:
        Invalid: the model is wrong in ORT's eyes.
    """
    try:
        make_session(content)
    except ort_errors.NotImplemented:
        return True
    except Exception as error:
        text = str(error)
        # A kernel was found, and does not like the attributes or the absent shapes.
        if "Exception during initialization" in text or isinstance(error, ort_errors.RuntimeException):
            return False
        # What ORT made of the node, for want of a kernel, does not fit.
        if "InsertedPrecisionFreeCast" in text or "_inlfunc_" in text:
            return True
        other_operator = re.search(r"Type parameter \(\w+\) of Optype \((\w+)\)", text)
        if other_operator and other_operator[1] != onnx.load_from_string(content).graph.node[0].op_type:
            return True
        raise Invalid(text) from error
    return False


@cache
def _kernel_definitions() -> dict[tuple[str, str], list[Any]]:
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for definition in ort_errors.get_all_opkernel_def():
        if definition.provider == "CPUExecutionProvider":
            found[definition.domain, definition.op_name].append(definition)
    return found


def _has_kernel(operator: Operator, types: Sequence[int]) -> bool:
    """Whether a kernel of the CPU provider is defined for an operator with these types, by ORT's rules for versions."""
    domain, name, version = operator.key
    binding = dict(zip(operator.parameters, types, strict=True))
    for formal in (*operator.schema.inputs, *operator.schema.outputs):
        binding.setdefault(formal.name, binding.get(formal.type_str, 0))
    for definition in _kernel_definitions()[domain, name]:
        first, last = definition.version_range
        if first != version and not (first < version <= last < 2**31 - 1):
            continue
        if all(
            binding.get(parameter, 0) in (0, *_element_types([text.lower() for text in allowed]))
            for parameter, allowed in definition.type_constraints.items()
        ):
            return True
    return False


def needs_inlining(operator: Operator, types: Sequence[int]) -> bool:
    """Whether an operator is a function that ORT has no kernel for; float16 counts as float32, to which it is cast."""
    if not (operator.schema.has_function or operator.schema.has_context_dependent_function):
        return False
    widened = [TensorProto.FLOAT if element == TensorProto.FLOAT16 else element for element in types]
    return not _has_kernel(operator, types) and not _has_kernel(operator, widened)


def lacks_combination(
    operator: Operator, types: Sequence[int], make_session: Callable[[bytes], object] = alone
) -> bool:
    """Whether ORT cannot run an operator with these types, with its optional inputs or, where these are too many,
    without them.

    Raises:
        Invalid: no model is right.
    """
    try:
        return lacks(model(operator, types, optional_inputs=True), make_session)
    except Invalid:
        return lacks(model(operator, types, optional_inputs=False), make_session)
