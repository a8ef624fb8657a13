"""Operators as planning sees them: parameters, type parameters, versions; from onnx.defs or brought by a caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

from onnx_light_ort.engine.attribute import attribute_value, is_given
from onnx_light_ort.engine.value_type import TypeKey, tensor_of_any_rank, type_key_of_string, type_string_of_key
from onnx_light_ort.errors import Fail, InvalidGraph

if TYPE_CHECKING:
    from onnx import AttributeProto, TypeProto

    from onnx_light_ort.engine.constant import Constant
    from onnx_light_ort.engine.graph import Node, Value
    from onnx_light_ort.engine.kernel import KernelProduct

Option = Literal["single", "optional", "variadic"]

Bindings = Mapping[str, tuple[TypeKey, ...]]
"""The types that each type parameter has in one node; several only for a heterogeneous variadic parameter."""


ABSENT = -1

ArgumentTypes = Sequence[TypeKey]
"""The types of a node's inputs or outputs; ABSENT for one that is left out."""


def argument_types(values: Sequence[Value | None]) -> tuple[TypeKey, ...]:
    return tuple([ABSENT if value is None else value.element_type or value.type_key for value in values])


class FormalParameter:
    """An input or output of an operator.

    ``type_parameter`` is the name under which kernels constrain its type: the schema's type parameter, or the
    parameter's own name where the schema gives it a fixed type. ``types`` are the allowed types, None: any.
    """

    __slots__ = ("homogeneous", "min_arity", "name", "option", "type_parameter", "types")

    def __init__(
        self,
        name: str,
        type_parameter: str,
        types: frozenset[TypeKey] | None,
        option: Option = "single",
        homogeneous: bool = True,
        min_arity: int = 1,
    ) -> None:
        self.name = name
        self.type_parameter = type_parameter
        self.types = types
        self.option: Option = option
        self.homogeneous = homogeneous
        self.min_arity = min_arity


class Operator:
    """One version of an operator."""

    def __init__(
        self,
        domain: str,
        op_type: str,
        since_version: int,
        inputs: Sequence[FormalParameter],
        outputs: Sequence[FormalParameter],
        is_standard: bool = False,
    ) -> None:
        self.domain = domain
        self.op_type = op_type
        self.since_version = since_version
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        #: Whether it is one of package onnx; otherwise a caller brought it.
        self.is_standard = is_standard

    @property
    def schema(self) -> Any:
        """The ``onnx.defs.OpSchema`` of a standard operator. A copy: package onnx makes one, of tens of kilobytes, each
        time that it is asked, so nobody keeps it."""
        from onnx import defs

        return defs.get_schema(self.op_type, self.since_version, self.domain)

    @cached_property
    def default_attributes(self) -> tuple[AttributeProto, ...]:
        """The attributes for which the schema has a default, with it. Not to be changed."""
        if not self.is_standard:
            return ()
        defaults = [attribute.default_value for attribute in self.schema.attributes.values()]
        return tuple(proto for proto in defaults if proto.type)

    @cached_property
    def attribute_defaults(self) -> Mapping[str, Any]:
        """The defaults as values, without those that depend on the inputs."""
        return {proto.name: attribute_value(proto) for proto in self.default_attributes if is_given(proto)}

    @cached_property
    def has_function_body(self) -> bool:
        if not self.is_standard:
            return False
        schema = self.schema
        return bool(schema.has_function or schema.has_context_dependent_function)

    def input(self, index: int) -> FormalParameter | None:
        return _formal(self.inputs, index)

    def output(self, index: int) -> FormalParameter | None:
        return _formal(self.outputs, index)

    def has_type_parameter(self, name: str) -> bool:
        return any(formal.type_parameter == name for formal in (*self.inputs, *self.outputs))

    def bindings(self, node: Node) -> Bindings:
        """The type of every type parameter in a node; a parameter whose values are all absent has no entry."""
        return self.bindings_of(argument_types(node.inputs), argument_types(node.outputs))

    def bindings_of(self, input_types: ArgumentTypes, output_types: ArgumentTypes) -> Bindings:
        """As :meth:`bindings`, of a node with such arguments."""
        bound: dict[str, tuple[TypeKey, ...]] = {}
        for types, formals in ((input_types, self.inputs), (output_types, self.outputs)):
            for index, key in enumerate(types):
                formal = _formal(formals, index)
                if key == ABSENT or formal is None:
                    continue
                known = bound.get(formal.type_parameter, ())
                if key not in known:
                    bound[formal.type_parameter] = (*known, key)
        return bound

    def check_types(self, node: Node) -> None:
        """Checks a node's types against the schema.

        Raises:
            InvalidGraph: a type that the schema does not allow for a parameter.
            Fail: one type parameter bound to two types.
        """
        bound: dict[str, TypeKey] = {}
        for role, values, formals in (("input", node.inputs, self.inputs), ("output", node.outputs, self.outputs)):
            for index, value in enumerate(values):
                formal = _formal(formals, index)
                if value is None or formal is None:
                    continue
                key = value.type_key
                if key is None:
                    continue
                if formal.types is not None and key not in formal.types:
                    raise InvalidGraph(
                        f"{node}: {role} {value.name!r} has type {type_string_of_key(key)}, which "
                        f"{self.op_type} version {self.since_version} does not allow for its parameter "
                        f"{formal.name}: {_type_list(formal.types)}"
                    )
                if not formal.homogeneous:
                    continue
                other = bound.setdefault(formal.type_parameter, key)
                if other != key:
                    raise Fail(
                        f"{node}: type parameter {formal.type_parameter} of {self.op_type} is bound to different "
                        f"types, {type_string_of_key(other)} and, by {role} {value.name!r}, {type_string_of_key(key)}: "
                        "add a Cast"
                    )

    def __repr__(self) -> str:
        return f"{self.domain or 'ai.onnx'}::{self.op_type}({self.since_version})"


class ForeignOperator(Operator):
    """An operator that a caller's registry brings, with its shape inference and its kernel.

    Several may share domain and name: a node gets the one whose version range holds the opset that the model imports
    and whose formal inputs take the node's input types; two such are an error that names them.

    Subclasses override :meth:`create_kernel`, and :meth:`infer` where the outputs' types or shapes do not follow from
    the type parameters.
    """

    def __init__(
        self,
        domain: str,
        op_type: str,
        since_version: int,
        inputs: Sequence[FormalParameter],
        outputs: Sequence[FormalParameter],
        end_version: int | None = None,
    ) -> None:
        super().__init__(domain, op_type, since_version, inputs, outputs)
        #: The last opset version that has it; None: every later one.
        self.end_version = end_version
        #: Whether :meth:`infer` tells element types alone, and by nothing but the inputs' types and the number of
        #: outputs. Such an operator is asked once for all nodes that are alike in these.
        self.infers_by_types = False
        #: The execution provider that brings it. A node that it claims, and has no kernel for, runs by the operator's.
        self.provider: str | None = None

    def infer(
        self, node: Node, input_types: Sequence[TypeProto | None], constants: Sequence[Constant | None]
    ) -> Sequence[TypeProto | None]:
        """Types (with shapes where known) of the outputs; None where unknown.

        Args:
            node: the node, whose outputs have no types yet.
            input_types: one an input; None where it is absent or its type is not known.
            constants: the values of inputs that planning knows.

        Raises:
            Error: the node is wrong; planning fails with this error.
        """
        bound: dict[str, TypeKey] = {}
        for index, value in enumerate(node.inputs):
            formal = self.input(index)
            if value is not None and formal is not None:
                bound.setdefault(formal.type_parameter, value.type_key)
        result: list[TypeProto | None] = []
        for index in range(len(node.outputs)):
            formal = self.output(index)
            key: TypeKey = None if formal is None else bound.get(formal.type_parameter)
            if key is None and formal is not None and formal.types is not None and len(formal.types) == 1:
                (key,) = formal.types
            result.append(tensor_of_any_rank(key) if isinstance(key, int) else None)
        return result

    def create_kernel(self, node: Node) -> KernelProduct:
        """The kernel of a node whose types are resolved: a native kernel, a :class:`Kernel` or a callable."""
        raise NotImplementedError

    def unavailable(self, node: Node) -> str | None:
        """Why the node cannot be a call of this operator, whatever its arguments are; None when it can."""
        version = node.opset_version
        if version < self.since_version or (self.end_version is not None and version > self.end_version):
            end = "newer" if self.end_version is None else str(self.end_version)
            return f"it serves opset {self.since_version} to {end}, the model imports {version}"
        return None

    def mismatch(self, node: Node) -> str | None:
        """Why the node is no call of this operator; None when it is one."""
        reason = self.unavailable(node)
        if reason is not None:
            return reason
        arity = _arity_mismatch("input", self.inputs, node.inputs) or _arity_mismatch(
            "output", self.outputs, node.outputs
        )
        if arity is not None:
            return arity
        bound: dict[str, TypeKey] = {}
        for index, value in enumerate(node.inputs):
            formal = self.input(index)
            if value is None or formal is None:
                continue
            key = value.type_key
            if key is None:
                continue
            if formal.types is not None and key not in formal.types:
                return f"input {formal.name} takes {_type_list(formal.types)}, not {type_string_of_key(key)}"
            if formal.homogeneous and bound.setdefault(formal.type_parameter, key) != key:
                return (
                    f"{formal.type_parameter} would be both {type_string_of_key(bound[formal.type_parameter])} and "
                    + (type_string_of_key(key))
                )
        return None


def _arity_mismatch(role: str, formals: tuple[FormalParameter, ...], values: Sequence[Any]) -> str | None:
    variadic = bool(formals) and formals[-1].option == "variadic"
    required = sum(1 for formal in formals if formal.option == "single")
    least = required + (formals[-1].min_arity if variadic else 0)
    count = len(values)
    # Trailing optional ones may be left out; one in the middle is an empty name.
    needed = max((i + 1 for i, formal in enumerate(formals) if formal.option == "single"), default=0)
    if count < (least if variadic else needed) or (not variadic and count > len(formals)):
        most = "any number" if variadic else str(len(formals))
        return f"it takes {least if variadic else needed} to {most} {role}s, the node has {count}"
    for formal, value in zip(formals, values, strict=False):
        if value is None and formal.option == "single" and role == "input":
            return f"its {role} {formal.name} is required, the node leaves it out"
    return None


def _formal(formals: tuple[FormalParameter, ...], index: int) -> FormalParameter | None:
    if index < len(formals):
        return formals[index]
    return formals[-1] if formals and formals[-1].option == "variadic" else None


def _type_list(types: frozenset[TypeKey]) -> str:
    return ", ".join(sorted(type_string_of_key(key) for key in types))


@cache
def known_domains() -> dict[str, int]:
    """The newest opset that package onnx knows, by domain."""
    from onnx.onnx_cpp2py_export import defs

    return {domain: versions[1] for domain, versions in defs.schema_version_map().items()}


@cache
def standard_operator(domain: str, op_type: str, opset_version: int) -> Operator | None:
    """The ONNX operator that an opset selects; None where there is none, or where that version withdrew it."""
    from onnx import defs

    try:
        schema = defs.get_schema(op_type, opset_version, domain)
    except defs.SchemaError:
        return None
    if schema.deprecated:
        return None
    return _operator_of_schema(domain, op_type, schema.since_version)


def last_version(domain: str, op_type: str) -> int | None:
    """The last opset that had an operator of that name; None where none had."""
    versions = range(known_domains().get(domain, 0), 0, -1)
    return next((version for version in versions if standard_operator(domain, op_type, version) is not None), None)


@cache
def _operator_of_schema(domain: str, op_type: str, since_version: int) -> Operator:
    from onnx import defs

    schema = defs.get_schema(op_type, since_version, domain)
    parameters = {constraint.type_param_str for constraint in schema.type_constraints}
    return Operator(
        domain,
        op_type,
        since_version,
        [_formal_of_schema(formal, parameters) for formal in schema.inputs],
        [_formal_of_schema(formal, parameters) for formal in schema.outputs],
        is_standard=True,
    )


def _formal_of_schema(formal: Any, parameters: set[str]) -> FormalParameter:
    from onnx.defs import OpSchema

    options: dict[Any, Option] = {
        OpSchema.FormalParameterOption.Single: "single",
        OpSchema.FormalParameterOption.Optional: "optional",
        OpSchema.FormalParameterOption.Variadic: "variadic",
    }
    text: str = formal.type_str
    return FormalParameter(
        formal.name,
        text if text in parameters else formal.name,
        frozenset(type_key_of_string(allowed) for allowed in formal.types),
        options[formal.option],
        formal.is_homogeneous,
        formal.min_arity,
    )
