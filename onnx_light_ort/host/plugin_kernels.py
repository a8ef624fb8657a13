"""The kernels of a plugin's execution provider, as a registry that planning finds them in.

A definition serves a node as in ONNX Runtime: its operator and domain are the node's, its provider is the one that
registered it, its versions hold the since_version of the node's operator - the first one alone where they have no end -
and each of its type constraints, which name type parameters of the operator's schema, holds the node's types. Where
several serve a node, the first that was registered does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from onnx_light_ort._abi_enums import OrtMemType
from onnx_light_ort._native import abi
from onnx_light_ort.engine.graph import CONTROL_FLOW
from onnx_light_ort.engine.kernel_registry import Decline, KernelEntry, KernelRegistry
from onnx_light_ort.engine.operator_schema import argument_types
from onnx_light_ort.engine.value_type import element_type_name
from onnx_light_ort.errors import Error
from onnx_light_ort.host.node_description import Attributes, describe_arguments, describe_attributes, read_attributes

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Node
    from onnx_light_ort.engine.kernel import KernelProduct
    from onnx_light_ort.engine.operator_schema import ArgumentTypes, Operator

_log = logging.getLogger("onnx_light_ort")

_MEMORY_TYPES = {int(member): member.name.removeprefix("OrtMemType") for member in OrtMemType}


class PluginKernel(KernelEntry):
    """One registered kernel.

    ``fault`` says why its definition serves no node whatever; None where it may. ``place`` is its position among the
    provider's kernels.
    """

    __slots__ = ("definition", "fault", "is_compared", "place")

    def __init__(self, registry: PluginKernels, place: int, definition: abi.KernelDefinition) -> None:
        super().__init__(
            registry.name,
            _domain_of(definition),
            definition.op_type,
            definition.start_version,
            definition.start_version if definition.end_version is None else definition.end_version,
            {name: frozenset(types) - {0} for name, types in definition.type_constraints.items()},
            lambda node: registry.create(self, node),
        )
        self.definition = definition
        self.place = place
        self.fault = _fault(definition, registry.name)
        #: Whether the definition was compared with its operator's schema.
        self.is_compared = False

    def mismatch(self, operator: Operator, bindings: Mapping[str, Any]) -> str | None:
        return self.fault or super().mismatch(operator, bindings)

    def describe(self) -> dict[str, Any]:
        """What the definition says, as plain data: types by name, memory by argument where it is not the default."""
        definition = self.definition
        memory = {
            f"{role} {index}": _MEMORY_TYPES.get(number, str(number))
            for role, types in (("input", definition.input_memory_types), ("output", definition.output_memory_types))
            for index, number in types.items()
        }
        return {
            "domain": self.domain or "ai.onnx",
            "op_type": self.op_type,
            "first_version": self.since_version,
            "last_version": self.end_version,
            "types": {name: list(map(element_type_name, types)) for name, types in definition.type_constraints.items()},
            "memory": memory,
            "aliases": definition.aliases,
            "mutable_aliases": definition.mutable_aliases,
            "fault": self.fault,
        }

    def concerns(self, operator: Operator) -> bool:
        """Whether the definition is one for this version of the operator."""
        return self.fault is None and self.since_version <= operator.since_version <= self.end_version


def _domain_of(definition: abi.KernelDefinition) -> str:
    domain: str = definition.domain
    return "" if domain == "ai.onnx" else domain


def _fault(definition: abi.KernelDefinition, provider: str) -> str | None:
    if not definition.op_type:
        return "it names no operator: call KernelDefBuilder_SetOperatorType"
    if definition.provider != provider:
        return (
            f"it is for execution provider {definition.provider!r}: pass {provider!r} to "
            "KernelDefBuilder_SetExecutionProvider"
        )
    return None


class PluginKernels(KernelRegistry):
    """The kernels that one provider registered, in one session. Empty where it has no registry.

    Keeps the definitions. The provider is given up with its session, and its kernels keep it.
    """

    def __init__(self, ep: abi.Ep) -> None:
        super().__init__(ep.name)
        self._ep = ep
        #: What the provider registered; None where it has no registry.
        self.native = abi.kernels_of(ep)
        self._made: dict[int, PluginKernel] = {}
        self._found: dict[tuple[Operator, ArgumentTypes, ArgumentTypes], PluginKernel | None] = {}
        for place in () if self.native is None else self.native.irregular_places(self.name):
            self._report(place)

    @property
    def kernels(self) -> list[PluginKernel]:
        """In the order of registration."""
        return [self._kernel(place) for place in range(0 if self.native is None else len(self.native))]

    def entries(self, domain: str, op_type: str) -> Sequence[PluginKernel]:
        if self.native is None:
            return []
        return [self._kernel(place) for place in self.native.places(domain, op_type)]

    def _kernel(self, place: int) -> PluginKernel:
        """Made when it is asked for: a provider may have hundreds, and a model needs few of them."""
        kernel = self._made.get(place)
        if kernel is None:
            assert self.native is not None
            kernel = self._made[place] = PluginKernel(self, place, self.native.definition(place))
        return kernel

    def find(self, node: Node) -> KernelEntry | None:
        """The kernel for a resolved node; None where there is none."""
        if node.operator is None:
            return None
        return self.match(node.operator, argument_types(node.inputs), argument_types(node.outputs))

    def match(self, operator: Operator, input_types: ArgumentTypes, output_types: ArgumentTypes) -> PluginKernel | None:
        """As :meth:`find`, for a node of the operator with such arguments."""
        key = (operator, tuple(input_types), tuple(output_types))
        if key not in self._found:
            self._found[key] = self._match(*key)
        return self._found[key]

    def matching(
        self, operators: Sequence[Operator | None], own: Sequence[Operator]
    ) -> Callable[[int, list[int], list[int]], int | None]:
        """What native code asks where the provider looks kernels up: :meth:`match` by position of operator and kernel.

        Of a type that is no tensor's, 0 is told; a definition can only constrain types of tensors.

        Args:
            own: operators that run by what the provider's factory brings; they count on from the kernels.
        """
        count = 0 if self.native is None else len(self.native)
        own_places = {operator: count + place for place, operator in enumerate(own)}

        def match(position: int, input_types: list[int], output_types: list[int]) -> int | None:
            operator = operators[position]
            if operator is None:
                return None
            kernel = self.match(operator, input_types, output_types)
            return own_places.get(operator) if kernel is None else kernel.place

        return match

    def _match(
        self, operator: Operator, input_types: ArgumentTypes, output_types: ArgumentTypes
    ) -> PluginKernel | None:
        if _is_control_flow(operator):
            return None
        bindings = operator.bindings_of(input_types, output_types)
        for kernel in self.entries(operator.domain, operator.op_type):
            self._compare(kernel, operator)
            if kernel.mismatch(operator, bindings) is None:
                return kernel
        return None

    def declines(self, node: Node) -> list[Decline]:
        if node.operator is not None and _is_control_flow(node.operator):
            return [Decline(self.name, "control flow runs on the engine, which gives no plugin its subgraphs")]
        return super().declines(node)

    def create(self, kernel: PluginKernel, node: Node) -> KernelProduct:
        """The kernel of a resolved node.

        Raises:
            Error: the provider fails to make it; the message names node and provider.
        """
        assert self.native is not None
        attributes = describe_attributes(node)
        if node.operator is not None and node.operator.is_standard:
            attributes = {**_default_attributes(node.operator), **attributes}
        try:
            return self.native.create_kernel(
                kernel.place,
                self._ep,
                node.name,
                node.since_version,
                describe_arguments(node.inputs),
                describe_arguments(node.outputs),
                attributes,
                [None if value is None or value.constant is None else value.constant.array() for value in node.inputs],
            )
        except Error as error:
            raise type(error)(f"{node}: no kernel was made: {error}") from error

    def _report(self, place: int) -> None:
        """Says what is odd about a definition that ONNX Runtime takes."""
        kernel = self._kernel(place)
        definition = kernel.definition
        if kernel.fault is not None:
            self._warn(place, f"serves no node: {kernel.fault}")
        for name, types in definition.type_constraints.items():
            if 0 in types:
                self._warn(place, f"constrains {name} to a type that is null: pass what GetTensorDataType gave")
        for role, memory_types in (
            ("input", definition.input_memory_types),
            ("output", definition.output_memory_types),
        ):
            for index, memory_type in memory_types.items():
                if memory_type not in _MEMORY_TYPES:
                    self._warn(
                        place,
                        f"asks for memory type {memory_type} for {role} {index}, which is no OrtMemType, and gets the "
                        "CPU's",
                    )

    def _compare(self, kernel: PluginKernel, operator: Operator) -> None:
        """Says where a definition does not fit the schema of its operator; once."""
        if kernel.is_compared or not kernel.concerns(operator):
            return
        kernel.is_compared = True
        unknown = [name for name in kernel.type_constraints if not operator.has_type_parameter(name)]
        if unknown:
            known = sorted({formal.type_parameter for formal in (*operator.inputs, *operator.outputs)})
            self._warn(
                kernel.place,
                f"serves no node: it constrains {', '.join(unknown)}, and the type parameters of {operator!r} are "
                f"{', '.join(known)}",
            )
        definition = kernel.definition
        for source, output in [*definition.aliases, *definition.mutable_aliases]:
            if source < 0 or output < 0 or operator.input(source) is None or operator.output(output) is None:
                self._warn(
                    kernel.place,
                    f"lets output {output} share input {source}; {operator!r} has no such pair, and nothing is shared",
                )

    def _warn(self, place: int, message: str) -> None:
        _log.warning("execution provider %r: its definition of %s %s", self.name, self._kernel(place), message)


def _is_control_flow(operator: Operator) -> bool:
    return operator.domain == "" and operator.op_type in CONTROL_FLOW


@cache
def _default_attributes(operator: Operator) -> Attributes:
    return read_attributes(operator.default_attributes)
