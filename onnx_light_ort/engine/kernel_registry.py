"""Which kernel computes a node.

A kernel is registered for an operator's version range and for types of the operator's type parameters; a name alone
never decides. Registries are asked in this order, and the first that has a kernel wins:

1. the registries of the caller's context, in the caller's order,
2. the native kernels,
3. the Python kernels.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from onnx_light_ort import errors
from onnx_light_ort.engine.kernel import KernelFactory, KernelProduct
from onnx_light_ort.engine.operator_schema import known_domains
from onnx_light_ort.engine.value_type import TypeKey, is_element_type, type_key_of_string, type_string_of_key
from onnx_light_ort.errors import Fail, InvalidArgument

if TYPE_CHECKING:
    from onnx import TypeProto

    from onnx_light_ort.engine.graph import Node, Signature
    from onnx_light_ort.engine.operator_schema import Bindings, ForeignOperator, Operator

_OPEN_END = 2**31 - 1

#: The opset of a caller's domain that a model does not import, as ORT has it.
_UNSAID_OPSET = 1000


class KernelEntry:
    """One registered kernel."""

    __slots__ = ("domain", "end_version", "factory", "op_type", "registry", "since_version", "type_constraints")

    def __init__(
        self,
        registry: str,
        domain: str,
        op_type: str,
        since_version: int,
        end_version: int | None,
        type_constraints: Mapping[str, frozenset[TypeKey]],
        factory: KernelFactory,
    ) -> None:
        self.registry = registry
        self.domain = domain
        self.op_type = op_type
        self.since_version = since_version
        self.end_version = _OPEN_END if end_version is None else end_version
        self.type_constraints = type_constraints
        self.factory = factory

    def mismatch(self, operator: Operator, bindings: Bindings) -> str | None:
        """Why this kernel does not serve an operator with these types; None when it does."""
        if not self.since_version <= operator.since_version <= self.end_version:
            return f"it serves versions {self._versions()}, the node has version {operator.since_version}"
        for parameter, allowed in self.type_constraints.items():
            if parameter not in bindings:
                if not operator.has_type_parameter(parameter):
                    return (
                        f"it constrains {parameter}, which {operator.op_type} version {operator.since_version} does "
                        "not have"
                    )
                continue  # all values of that type are absent
            for key in bindings[parameter]:
                if key not in allowed:
                    served = ", ".join(sorted(type_string_of_key(item) for item in allowed))
                    return f"type parameter {parameter} is {type_string_of_key(key)}; it serves {served}"
        return None

    def _versions(self) -> str:
        if self.end_version >= _OPEN_END:
            return f"{self.since_version} and later"
        return (
            str(self.since_version)
            if self.since_version == self.end_version
            else f"{self.since_version} to {self.end_version}"
        )

    def __str__(self) -> str:
        types = "; ".join(
            f"{name}: {', '.join(sorted(type_string_of_key(key) for key in allowed))}"
            for name, allowed in self.type_constraints.items()
        )
        domain = f"{self.domain}::" if self.domain else ""
        return f"{self.registry} kernel {domain}{self.op_type} ({self._versions()}{'; ' if types else ''}{types})"


class Decline:
    """Why somebody does not run a node."""

    __slots__ = ("reason", "who")

    def __init__(self, who: str, reason: str) -> None:
        self.who = who
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.who}: {self.reason}"

    def __repr__(self) -> str:
        return f"Decline({self.who!r}, {self.reason!r})"


class KernelRegistry:
    """Kernels, and operators that no schema of ONNX describes, of one origin."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: dict[tuple[str, str], list[KernelEntry]] = {}
        self._operators: dict[tuple[str, str], list[ForeignOperator]] = {}

    def register_kernel(
        self,
        domain: str,
        op_type: str,
        since_version: int,
        end_version: int | None,
        type_constraints: Mapping[str, Iterable[int | str]],
        factory: KernelFactory,
    ) -> None:
        """Adds a kernel.

        Args:
            domain: the operator's domain; "" and "ai.onnx" are the same.
            op_type: the operator.
            since_version: the first since_version of the operator's schema that the kernel implements.
            end_version: the last one; None when no later one is known to differ.
            type_constraints: the types that the kernel serves, by type parameter of the operator's schema (the name of
                an input or output of fixed type is one too): element-type numbers or type strings. A parameter that is
                not named may have any type.
            factory: makes the kernel of a resolved node, once a node.

        Raises:
            InvalidArgument: an inverted version range, an empty constraint, or a type that does not exist.
        """
        domain = "" if domain == "ai.onnx" else domain
        label = f"kernel for {domain or 'ai.onnx'}::{op_type} in registry {self.name!r}"
        if not op_type:
            raise InvalidArgument(f"{label}: it names no operator")
        if since_version < 1 or (end_version is not None and end_version < since_version):
            raise InvalidArgument(
                f"{label}: versions {since_version} to {end_version} are no range; give 1 <= since <= end"
            )
        if not callable(factory):
            raise InvalidArgument(f"{label}: its factory is {type(factory).__name__}, which cannot be called")
        constraints: dict[str, frozenset[TypeKey]] = {}
        for parameter, types in type_constraints.items():
            keys = frozenset(type_key_of_string(item) if isinstance(item, str) else item for item in types)
            unknown = [key for key in keys if isinstance(key, int) and not is_element_type(key)]
            if not keys or unknown:
                raise InvalidArgument(
                    f"{label}: type parameter {parameter} allows {unknown or 'nothing'}; name its types"
                )
            constraints[parameter] = keys
        entry = KernelEntry(self.name, domain, op_type, since_version, end_version, constraints, factory)
        self._entries.setdefault((domain, op_type), []).append(entry)

    def register_operator(self, operator: ForeignOperator) -> None:
        """Adds an operator with its kernel; see :class:`~onnx_light_ort.engine.operator_schema.ForeignOperator`."""
        domain = "" if operator.domain == "ai.onnx" else operator.domain
        if operator.end_version is not None and operator.end_version < operator.since_version:
            raise InvalidArgument(
                f"operator {operator} in registry {self.name!r}: its last version {operator.end_version} is before its "
                f"first one {operator.since_version}"
            )
        self._operators.setdefault((domain, operator.op_type), []).append(operator)

    def operators(self, domain: str, op_type: str) -> Sequence[ForeignOperator]:
        return self._operators.get((domain, op_type), ())

    def operator_names(self) -> set[tuple[str, str]]:
        """Domain and name of the operators that it brings."""
        return set(self._operators)

    def entries(self, domain: str, op_type: str) -> Sequence[KernelEntry]:
        """Every kernel for an operator, whatever its versions and types."""
        return self._entries.get((domain, op_type), ())

    def find(self, node: Node) -> KernelEntry | None:
        """The kernel for a resolved node; None where there is none.

        Raises:
            Fail: several kernels serve the node; the message names them.
        """
        entries = self.entries(node.domain, node.op_type)
        if not entries or node.operator is None:
            return None
        bindings = node.operator.bindings(node)
        found = [entry for entry in entries if entry.mismatch(node.operator, bindings) is None]
        if len(found) > 1:
            raise Fail(
                f"{node}: {len(found)} kernels of registry {self.name!r} serve it: "
                + "; ".join(map(str, found))
                + ". Narrow their versions or types"
            )
        return found[0] if found else None

    def declines(self, node: Node) -> list[Decline]:
        """Why each kernel for the node's operator does not serve it, or that there is none."""
        entries = self.entries(node.domain, node.op_type)
        if not entries or node.operator is None:
            return [Decline(self.name, f"no kernel for {node.domain or 'ai.onnx'}::{node.op_type}")]
        bindings = node.operator.bindings(node)
        reasons = ((entry, entry.mismatch(node.operator, bindings)) for entry in entries)
        return [Decline(str(entry), reason) for entry, reason in reasons if reason is not None]


@cache
def native_registry() -> KernelRegistry:
    """The native kernels of this package."""
    from onnx_light_ort._native import engine

    registry = KernelRegistry("native")
    for entry in engine.native_kernels():
        registry.register_kernel(
            entry.domain,
            entry.op_type,
            entry.since_version,
            entry.end_version,
            entry.type_constraints,
            _native_factory(entry),
        )
    return registry


def _native_factory(entry: Any) -> KernelFactory:
    # A native kernel keeps nothing of its node but attributes and constants: nodes without any share one.
    shared: dict[Any, KernelProduct] = {}

    def create(node: Node) -> KernelProduct:
        if node.has_attributes or any(value is not None and value.constant is not None for value in node.inputs):
            return describe(node)
        key = node.signature()
        kernel = shared.get(key)
        if kernel is None:
            kernel = shared[key] = describe(node)
        return kernel

    def describe(node: Node) -> KernelProduct:
        try:
            return entry.create(
                node.name,
                node.domain,
                node.op_type,
                node.since_version,
                node.input_types,
                node.output_types,
                {name: _native_value(value) for name, value in node.attributes.items() if _native_attribute(value)},
                [None if constant is None else constant.array() for constant in node.constant_inputs],
            )
        except UnicodeDecodeError as error:
            raise Fail(
                f"{node}: an attribute has a wrong value, and one that is no UTF-8: the model is damaged"
            ) from error

    return create


def _native_attribute(value: Any) -> bool:
    import numpy as np

    if isinstance(value, list):
        return all(isinstance(item, int | float | str) for item in value)
    return isinstance(value, int | float | str | np.ndarray)


def _native_value(value: Any) -> Any:
    """The attribute as native code takes it: strings that may be no UTF-8 as bytes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogateescape")
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [_native_value(item) for item in value]
    return value


class PythonKernels(KernelRegistry):
    """The Python kernels: numpy fast paths and the reference implementation of package onnx, for every version and
    type that these know."""

    def __init__(self) -> None:
        super().__init__("python")
        self._known: dict[tuple[str, str, int], bool] = {}

    def find(self, node: Node) -> KernelEntry | None:
        # A Python kernel sees no values but its inputs; where a subgraph reads more, the operator is expanded instead.
        if node.operator is None or not node.operator.is_standard or node.captures:
            return None
        key = (node.domain, node.op_type, node.since_version)
        known = self._known.get(key)
        if known is None:
            from onnx_light_ort.engine.python_kernels import has_python_kernel

            known = self._known[key] = has_python_kernel(*key)
        if not known:
            return None
        return KernelEntry("python", node.domain, node.op_type, node.since_version, None, {}, _create_python_kernel)

    def declines(self, node: Node) -> list[Decline]:
        if self.find(node) is not None:
            return []
        if node.captures:
            return [Decline(self.name, "a Python kernel cannot read values that a subgraph takes from around it")]
        return [Decline(self.name, "neither a numpy kernel nor onnx.reference implements it")]


def _create_python_kernel(node: Node) -> KernelProduct:
    from onnx_light_ort.engine.errors import UnsupportedOperator
    from onnx_light_ort.engine.python_kernels import create_python_kernel

    constants = {index: constant.array() for index, constant in enumerate(node.constant_inputs) if constant is not None}
    try:
        return create_python_kernel(
            node.proto,
            domain=node.domain,
            op_type=node.op_type,
            since_version=node.since_version,
            opset_imports=node.opset_imports,
            input_types=node.input_types,
            output_types=node.output_types,
            attributes=node.attributes,
            constants=constants,
        )
    except UnsupportedOperator as error:
        raise errors.NotImplemented(str(error)) from error


@cache
def python_registry() -> KernelRegistry:
    return PythonKernels()


class ForeignCall:
    """What is the same for all calls of a caller's operator with the same types and number of outputs."""

    __slots__ = ("inferred", "operator", "outcome")

    def __init__(self, operator: ForeignOperator) -> None:
        self.operator = operator
        #: What the operator infers, where it does by types alone.
        self.inferred: Sequence[TypeProto | None] | None = None
        #: Types and element types of the outputs, all of them known, and the signature, where the model declares none.
        self.outcome: tuple[Sequence[tuple[TypeProto, int]], Signature] | None = None


class KernelContext:
    """The registries that one session looks kernels up in, by precedence."""

    def __init__(self, registries: Sequence[KernelRegistry] = ()) -> None:
        #: The caller's, which also bring operators of their own.
        self.local: tuple[KernelRegistry, ...] = tuple(registries)
        self._cache: dict[Any, list[KernelEntry]] = {}
        #: Type inference's memory of the calls of the caller's operators, by kind of call.
        self.foreign_calls: dict[Any, ForeignCall] = {}

    @property
    def registries(self) -> tuple[KernelRegistry, ...]:
        return (*self.local, native_registry(), python_registry())

    def candidates(self, node: Node) -> list[KernelEntry]:
        """The kernels that serve a node, best first."""
        signature = node.signature()
        key = (signature, True) if node.captures else signature
        found = self._cache.get(key)
        if found is None:
            entries = [registry.find(node) for registry in self._asked(node)]
            found = self._cache[key] = [entry for entry in entries if entry is not None]
        return found

    def position(self, entry: KernelEntry) -> int:
        """Where in the order of registries an entry's is."""
        return next(index for index, registry in enumerate(self.registries) if registry.name == entry.registry)

    def declines(self, node: Node) -> list[Decline]:
        """Why no registry has a kernel for a node, candidate by candidate."""
        return [decline for registry in self._asked(node) for decline in registry.declines(node)]

    def _asked(self, node: Node) -> tuple[KernelRegistry, ...]:
        # An operator that a caller brought may share its name with one of ONNX; only the caller has its kernels.
        foreign = node.operator is not None and not node.operator.is_standard
        return self.local if foreign else self.registries

    def newest_opset(self, domain: str) -> int | None:
        """The opset that a model uses which does not import the domain, as in ORT: the newest. None for a domain that
        neither package onnx nor the caller's registries know."""
        known = known_domains().get(domain)
        if known is None and any(domain == name[0] for registry in self.local for name in registry.operator_names()):
            return _UNSAID_OPSET
        return known

    def foreign_names(self, domains: Container[str]) -> set[tuple[str, str]]:
        """Domain and name of the caller's operators, of these domains."""
        names = {name for registry in self.local for name in registry.operator_names()}
        return {(domain, op_type) for domain, op_type in names if domain in domains}

    def foreign_operators(self, domain: str, op_type: str) -> list[ForeignOperator]:
        return [operator for registry in self.local for operator in registry.operators(domain, op_type)]
