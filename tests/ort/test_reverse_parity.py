"""A claim of the EP is what the registry of kernels says, minus what the C ABI does not express; and every claim is
executed in a real ORT session, with values that numpy and ml_dtypes give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, defs
from onnx.helper import tensor_dtype_to_np_dtype
from reverse_session import run, session, taken
from typed_cases import INEXPRESSIBLE, TypedCase, cast, typed_cases

import onnx_light_ort
from onnx_light_ort._native import engine
from onnx_light_ort.engine.kernel_registry import python_registry

#: Float types whose results are compared with float32's, and the distance of two neighbours, relative.
STEP = {
    TensorProto.BFLOAT16: 2**-7,
    TensorProto.FLOAT16: 2**-10,
    TensorProto.FLOAT: 2**-18,
    TensorProto.DOUBLE: 2**-30,
    TensorProto.FLOAT8E4M3FN: 2**-3,
    TensorProto.FLOAT8E4M3FNUZ: 2**-3,
    TensorProto.FLOAT8E5M2: 2**-2,
    TensorProto.FLOAT8E5M2FNUZ: 2**-2,
    TensorProto.FLOAT4E2M1: 2**-1,
    TensorProto.FLOAT8E8M0: 2.0,
}


def registered(case: TypedCase) -> bool:
    """Whether the registry has a kernel for a case that accepts it, asked without the C ABI."""
    schema = defs.get_schema(case.op_type, case.opset, case.domain)
    parameters = {constraint.type_param_str for constraint in schema.type_constraints}
    parameters |= {formal.name for formal in (*schema.inputs, *schema.outputs)}
    for entry in engine.native_kernels():
        if (entry.domain, entry.op_type) != (case.domain, case.op_type):
            continue
        if not entry.since_version <= case.since_version <= entry.end_version:
            continue
        if not set(entry.type_constraints) <= parameters:
            continue
        if any(case.bindings.get(name, types[0]) not in types for name, types in entry.type_constraints.items()):
            continue
        try:
            entry.create(
                "the_node",
                case.domain,
                case.op_type,
                case.since_version,
                case.input_types,
                case.output_types,
                attributes_with_defaults(case, schema),
                [None] * len(case.inputs),
            )
        except Exception:
            return False
        return True
    return False


def attributes_with_defaults(case: TypedCase, schema: Any) -> dict[str, Any]:
    from onnx.helper import get_attribute_value

    found = {
        name: get_attribute_value(attribute.default_value)
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type
    }
    found.update(case.attributes)
    text = {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}
    return {
        name: [item.decode() if isinstance(item, bytes) else item for item in value]
        if isinstance(value, list)
        else value
        for name, value in text.items()
    }


def python_values(case: TypedCase) -> list[Any]:
    options = onnx_light_ort.SessionOptions()
    options.add_kernel_registry(python_registry())
    with np.errstate(all="ignore"):
        return onnx_light_ort.InferenceSession(case.model().SerializeToString(), options).run(None, case.feed())


def widened(case: TypedCase) -> TypedCase:
    """The case with float32 in place of smaller floats."""

    def wide(element: int) -> int:
        return TensorProto.FLOAT if element in STEP and element != TensorProto.DOUBLE else element

    return replace(
        case,
        attributes={key: wide(value) if key in ("to", "dtype") else value for key, value in case.attributes.items()},
        inputs=[
            None if value is None else cast(value, wide(element))
            for value, element in zip(case.inputs, case.input_types, strict=True)
        ],
        input_types=list(map(wide, case.input_types)),
        output_types=list(map(wide, case.output_types)),
    )


def difference(actual: list[Any], expected: list[Any], case: TypedCase) -> str | None:
    """Where results differ by more than two neighbours of the case's coarsest float type; None where they agree."""
    steps = [STEP[element] for element in (*case.input_types, *case.output_types) if element in STEP]
    step = max(steps, default=0)
    wanted = [element for element in case.output_types if element]
    if len(actual) != len(expected):
        return "another number of outputs"
    for mine, theirs, element in zip(actual, expected, wanted, strict=True):
        theirs = np.asarray(theirs)
        if mine.dtype != np.dtype(tensor_dtype_to_np_dtype(element)):
            return f"dtype {mine.dtype}"
        if mine.shape != theirs.shape:
            return f"shape {mine.shape} instead of {theirs.shape}"
        if element in STEP:
            with np.errstate(all="ignore"):
                theirs = theirs.astype(np.float64).astype(mine.dtype).astype(np.float64)
                mine = mine.astype(np.float64)
                finite = theirs[np.isfinite(theirs)]
                room = 2 * step * max(float(np.abs(finite).max(initial=0)), 1e-3)
                near = np.isclose(mine, theirs, rtol=2 * step, atol=room, equal_nan=True)
        else:
            near = mine.astype(np.int64) == theirs.astype(np.int64)
            if steps and element != TensorProto.BOOL:  # a float that was rounded to a whole number
                near |= np.abs(mine.astype(np.int64) - theirs.astype(np.int64)) <= 1
        if not near.all():
            where = tuple(np.argwhere(~near)[0])
            return f"{mine[where]} instead of {theirs[where]} at {where}"
    return None


@dataclass
class Outcome:
    case: TypedCase
    registered: bool
    claimed: bool
    values: list[Any] | None
    error: str


def outcome(case: TypedCase) -> Outcome | None:
    expected = registered(case)
    try:
        # As the model has it: what is optimised away would be nobody's.
        made = session(case.model(), "all", optimize=False)
    except Exception as error:
        if "Type Error" in str(error):
            return None  # the operator's own rules forbid this choice of types
        return Outcome(case, expected, False, None, f"no session: {error}")
    claimed = case.op_type in taken(made)
    if not claimed:
        return Outcome(case, expected, False, None, "")
    try:
        return Outcome(case, expected, True, run(made, case.feed()), "")
    except Exception as error:
        return Outcome(case, expected, True, None, str(error))


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    operators = {(entry.domain, entry.op_type) for entry in engine.native_kernels()}
    found = map(outcome, typed_cases(operators, each=2))
    return [one for one in found if one is not None]


def report(wrong: dict[str, str]) -> str:
    return "\n".join(f"{name}: {reason}" for name, reason in wrong.items())


def test_the_provider_claims_what_the_registry_has(outcomes: list[Outcome]) -> None:
    wrong = {
        one.case.name: f"registry {one.registered}, claimed {one.claimed}: {one.error[:160]}"
        for one in outcomes
        if one.registered != one.claimed
    }
    assert not wrong, report(wrong)
    assert sum(one.claimed for one in outcomes) > 1000
    assert sum(not one.claimed for one in outcomes) > 100, "nothing was there to be declined"


def test_every_claim_computes_what_numpy_does(outcomes: list[Outcome]) -> None:
    wrong, uncompared = {}, []
    for one in outcomes:
        if not one.claimed:
            continue
        if one.values is None:
            wrong[one.case.name] = one.error[:200]
            continue
        reasons = []
        for reference in references(one.case):
            reason = difference(one.values, reference, one.case)
            if reason is None:
                break
            reasons.append(reason)
        else:
            if reasons:
                wrong[one.case.name] = "; ".join(reasons)
            else:
                uncompared.append(one.case.name)
    assert not wrong, report(wrong)
    assert len(uncompared) < 30, uncompared


def references(case: TypedCase) -> Iterator[list[Any]]:
    """What the operator gives in its own types, and with float32 in place of small floats: numpy rounds either way."""
    for variant in (case, widened(case)):
        try:
            yield python_values(variant)
        except Exception:
            continue


def test_types_that_the_abi_does_not_show_are_left_alone() -> None:
    from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

    expressible: dict[str, set[int]] = defaultdict(set)
    for entry in engine.native_kernels():
        for types in entry.type_constraints.values():
            expressible[entry.op_type] |= set(types)
    served = [op_type for op_type in ("Identity", "Reshape", "Concat") if TensorProto.STRING in expressible[op_type]]
    graph = make_graph(
        [make_node("Identity", ["x"], ["y"])],
        "text",
        [make_tensor_value_info("x", TensorProto.STRING, [2])],
        [make_tensor_value_info("y", TensorProto.STRING, [2])],
    )
    made = session(make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8), "all", optimize=False)
    assert "Identity" not in taken(made), f"the registry serves strings for {served}"
    assert made.run(None, {"x": np.array(["a", "b"], object)})[0].tolist() == ["a", "b"]
    assert TensorProto.STRING in INEXPRESSIBLE
