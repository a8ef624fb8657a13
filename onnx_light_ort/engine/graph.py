"""The graph that planning works on: values, nodes and graphs, resolved from names to objects.

A value has one maker and any number of readers. A node's ``proto`` holds its attributes and names the same values as
its ``inputs`` and ``outputs``; whoever renames a value renames it in the protos too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onnx import NodeProto, TypeProto

from onnx_light_ort.engine.value_type import Dim, TypeKey, shape_of, tensor_of_shape, type_string

if TYPE_CHECKING:
    from onnx import FunctionProto

    from onnx_light_ort.engine.constant import Constant
    from onnx_light_ort.engine.operator_schema import Operator
    from onnx_light_ort.engine.partition import FusedPartition

CONTROL_FLOW = frozenset({"If", "Loop", "Scan"})

Signature = tuple["Operator | None", tuple[TypeKey | Any, ...], tuple[TypeKey | Any, ...]]

# Shared by all nodes that have none, never changed.
_NO_SUBGRAPHS: dict[str, Graph] = {}
_NO_CAPTURES: dict[Value, None] = {}


class Value:
    """A named value of a graph: an input, a constant, or one output of a node."""

    __slots__ = ("_shape", "_shaped", "constant", "default", "element_type", "graph", "is_input", "name", "producer",
                 "type_proto")  # fmt: skip

    def __init__(self, name: str, graph: Graph) -> None:
        self.name = name
        self.graph = graph
        self.producer: Node | None = None
        self.constant: Constant | None = None
        #: Of an input: what it is where a run does not feed it.
        self.default: Constant | None = None
        self.is_input = False
        #: Replaced as a whole, never changed: values share them, and the shape is read once.
        self.type_proto: TypeProto | None = None
        self._shaped: TypeProto | None = None
        self._shape: tuple[Dim, ...] | None = None
        #: TensorProto.DataType number of a dense tensor, 0 where the type is another or not known.
        self.element_type = 0

    def set_type(self, proto: TypeProto) -> None:
        self.type_proto = proto
        self.element_type = proto.tensor_type.elem_type if proto.HasField("tensor_type") else 0

    def set_tensor_type(self, element_type: int, shape: tuple[int, ...]) -> None:
        """Gives it the type of a dense tensor whose dimensions are all known."""
        self.type_proto = self._shaped = tensor_of_shape(element_type, shape)
        self._shape = shape
        self.element_type = element_type

    @property
    def type_key(self) -> TypeKey:
        if self.element_type:
            return self.element_type
        return (type_string(self.type_proto) or None) if self.type_proto is not None else None

    @property
    def type_string(self) -> str:
        """As "tensor(float)"; "" where the type is not known."""
        return type_string(self.type_proto) if self.type_proto is not None else ""

    @property
    def shape(self) -> tuple[Dim, ...] | None:
        """Dimensions; None where the rank is not known or the value is no tensor."""
        proto = self.type_proto
        if proto is not self._shaped:
            self._shape = shape_of(proto)
            self._shaped = proto
        return self._shape

    def __repr__(self) -> str:
        return f"Value({self.name!r}, {self.type_string or 'unknown type'})"


_serials = itertools.count()


class Node:
    """An operator, a call of a model-local function, or a fused partition, with its values resolved.

    Kernel factories read: ``name``, ``domain`` ("" is ai.onnx), ``op_type``, ``since_version`` (of the schema that the
    opset selects), ``opset_imports``, ``input_types``, ``output_types``, ``attributes``, ``constant_inputs``,
    ``proto``.
    """

    __slots__ = (
        "_attributes",
        "_signature",
        "captures",
        "domain",
        "fate",
        "function",
        "graph",
        "has_attributes",
        "index",
        "inputs",
        "name",
        "op_type",
        "operator",
        "opset_imports",
        "origin",
        "outputs",
        "partition",
        "proto",
        "provider",
        "serial",
        "subgraphs",
    )

    def __init__(self, proto: NodeProto, graph: Graph, opset_imports: Mapping[str, int]) -> None:
        self.proto = proto
        self.graph = graph
        self.opset_imports = opset_imports
        self.name: str = proto.name
        domain: str = proto.domain
        self.domain = "" if domain == "ai.onnx" else domain
        self.op_type: str = proto.op_type
        #: Whether the proto has any: to ask it takes longer than to make the node.
        self.has_attributes = bool(proto.attribute)
        self.inputs: list[Value | None] = []
        self.outputs: list[Value | None] = []
        self.subgraphs = _NO_SUBGRAPHS
        #: Values of enclosing graphs that the subgraphs read, in the order in which they were found.
        self.captures = _NO_CAPTURES
        self.operator: Operator | None = None
        self.function: FunctionProto | None = None
        #: Name of the execution provider that claimed the node.
        self.provider: str | None = None
        self.partition: FusedPartition | None = None
        #: The node of the model that this node comes from, where a function was expanded.
        self.origin: Node | None = None
        #: What became of it: a kernel, or why there is none. Written by planning, read by the assignment report.
        self.fate: Any = None
        self.index = 0
        #: Grows from node to node as they are made: those of the model first, as it lists them.
        self.serial = next(_serials)
        self._attributes: dict[str, Any] | None = None
        self._signature: Signature | None = None

    @property
    def since_version(self) -> int:
        return self.operator.since_version if self.operator is not None else 0

    @property
    def opset_version(self) -> int:
        """The version of the node's domain that the model, or the function around it, imports; 0 where it does not."""
        return self.opset_imports.get(self.domain, 0)

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes as Python values, the schema's defaults filled in: int, float, str, lists of them, arrays for
        tensors, protos for anything else. Subgraphs are not among them. Do not change the dictionary."""
        if self._attributes is None:
            from onnx_light_ort.engine.attribute import node_attributes

            self._attributes = node_attributes(self)
        return self._attributes

    def signature(self) -> Signature:
        """The operator with the types of inputs and outputs, None where one is absent or not known. Asked for once the
        types are inferred; they do not change any more then."""
        signature = self._signature
        if signature is None:
            inputs = tuple([value and (value.element_type or value.type_key) for value in self.inputs])
            outputs = tuple([value and (value.element_type or value.type_key) for value in self.outputs])
            signature = self._signature = (self.operator, inputs, outputs)
        return signature

    def share_signature(self, signature: Signature) -> None:
        """Takes the signature of a node of the same operator and types, to save making an equal one."""
        self._signature = signature

    @property
    def input_types(self) -> list[int]:
        """Element types of the inputs; 0 where one is absent, no dense tensor, or of unknown type."""
        return [0 if value is None else value.element_type for value in self.inputs]

    @property
    def output_types(self) -> list[int]:
        return [0 if value is None else value.element_type for value in self.outputs]

    @property
    def constant_inputs(self) -> list[Constant | None]:
        """Per input its value where planning knows it."""
        return [None if value is None else value.constant for value in self.inputs]

    def reads(self) -> Sequence[Value]:
        """Every value that the node needs: its inputs that are there, then what its subgraphs capture."""
        inputs = self.inputs
        if None not in inputs and not self.captures:
            return inputs  # type: ignore[return-value]
        return [*(value for value in inputs if value is not None), *self.captures]

    def capture(self, value: Value) -> None:
        """Notes that a subgraph reads a value of a graph around it."""
        if self.captures is _NO_CAPTURES:
            self.captures = {}
        self.captures[value] = None

    def __str__(self) -> str:
        """For messages: "node 'conv1' (Conv)"."""
        # While a graph is built, outputs are there by name alone.
        made = (*(output.name for output in self.outputs if output), *self.proto.output)
        label = repr(self.name) if self.name else "that makes " + repr(next(filter(None, made), "?"))
        operator = f"{self.domain}::{self.op_type}" if self.domain else self.op_type
        return f"node {label} ({operator})"

    def __repr__(self) -> str:
        return f"<{self}>"


class Graph:
    """Values and nodes; ``nodes`` are in an order in which they can run."""

    __slots__ = ("declared_inputs", "hoisted", "holder", "initializers", "inputs", "name", "nodes", "outputs", "values")

    def __init__(self, name: str, holder: Node | None) -> None:
        self.name = name
        #: The node that holds this subgraph; None for the main graph.
        self.holder = holder
        self.inputs: list[Value] = []
        #: The inputs and, before IR version 4, the constants that the model had to declare as inputs too.
        self.declared_inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.nodes: list[Node] = []
        #: Values of this graph by name, those of enclosing graphs left out.
        self.values: dict[str, Value] = {}
        #: The constants among them.
        self.initializers: dict[str, Value] = {}
        #: Of a subgraph: the constants among them whose data is too big to stay in the holder's proto, and their names
        #: in the model.
        self.hoisted: dict[Value, str] = {}

    @property
    def outer(self) -> Graph | None:
        """The graph around this one."""
        return None if self.holder is None else self.holder.graph

    def add_value(self, name: str) -> Value:
        value = Value(name, self)
        self.values[name] = value
        return value

    def set_constant(self, value: Value, constant: Constant) -> None:
        """Makes a value of this graph a constant: no node makes it any more."""
        value.constant = constant
        value.producer = None
        self.initializers[value.name] = value

    def unique_name(self, wanted: str) -> str:
        """`wanted`, or it with a number, so that no value of this graph nor of one around or below it has it."""
        name, number = wanted, 0
        while self._is_taken(name):
            number += 1
            name = f"{wanted}_{number}"
        return name

    def _is_taken(self, name: str) -> bool:
        graph: Graph | None = self
        while graph is not None:
            if name in graph.values:
                return True
            graph = graph.outer
        return False

    def consumers(self) -> dict[Value, list[Node]]:
        """The nodes of this graph that read each value, one entry a reading node; captures count."""
        readers: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.reads()):
                readers.setdefault(value, []).append(node)
        return readers

    def all_graphs(self) -> Iterator[Graph]:
        """The graphs of its nodes' subgraphs, innermost first, then itself."""
        for node in self.nodes:
            for subgraph in node.subgraphs.values():
                yield from subgraph.all_graphs()
        yield self

    def all_nodes(self) -> Iterator[Node]:
        """Its nodes and those of its subgraphs, each followed by its subgraphs'."""
        for node in self.nodes:
            yield node
            for subgraph in node.subgraphs.values():
                yield from subgraph.all_nodes()


class Model:
    """A loaded model."""

    __slots__ = ("custom_metadata", "description", "domain", "functions", "graph", "graph_description",
                 "ir_version", "model_version", "opset_imports", "path", "producer_name")  # fmt: skip

    def __init__(self) -> None:
        self.graph = Graph("", None)
        self.functions: dict[tuple[str, str, str], FunctionProto] = {}
        self.opset_imports: dict[str, int] = {}
        self.ir_version = 0
        self.producer_name = ""
        self.domain = ""
        self.description = ""
        self.graph_description = ""
        self.model_version = 0
        self.custom_metadata: dict[str, str] = {}
        #: The file, where it was loaded from one.
        self.path: str | None = None
