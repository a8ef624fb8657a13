"""Nodes that run as one: the claim, its checks, its boundary, and what a provider makes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from onnx_light_ort.engine.value_type import Dim, numpy_dtype, type_string_of_key
from onnx_light_ort.errors import EPFail, Fail

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Graph, Node, Value
    from onnx_light_ort.engine.kernel import KernelProduct
    from onnx_light_ort.engine.node_order import NodeOrder


class ValueContract:
    """What crosses a partition's boundary: a dense tensor of a type, of dimensions as far as they are known.

    Memory is the CPU's, row-major, as the engine allocates it (``memory`` is "cpu"): a partition that wants another
    layout or device copies on its own side.
    """

    __slots__ = ("element_type", "memory", "name", "shape")

    def __init__(self, name: str, element_type: int, shape: tuple[Dim, ...] | None, memory: str = "cpu") -> None:
        self.name = name
        self.element_type = element_type
        self.shape = shape
        self.memory = memory

    @classmethod
    def of(cls, value: Value) -> ValueContract:
        return cls(value.name, value.element_type, value.shape)

    def __repr__(self) -> str:
        shape = "?" if self.shape is None else list(self.shape)
        return f"{self.name}: {type_string_of_key(self.element_type)} {shape}"


class FusedPartition:
    """Claimed nodes of one graph with their boundary, in a fixed order.

    Inputs stand by their first reader, outputs by their maker, both as :class:`NodeOrder` walks the nodes; of one
    maker, outputs of the graph come first, then the others as their readers follow.
    """

    __slots__ = ("constants", "executable", "graph", "inputs", "name", "nodes", "outputs", "provider")

    def __init__(
        self,
        provider: str,
        name: str,
        graph: Graph,
        nodes: Sequence[Node],
        drop_constants: bool,
        order: NodeOrder,
    ) -> None:
        self.provider = provider
        self.name = name
        self.graph = graph
        self.nodes = sorted(nodes, key=lambda node: node.index)
        inside = set(self.nodes)
        walked = sorted(self.nodes, key=order.rank.__getitem__)
        read = dict.fromkeys(value for node in walked for value in node.reads())
        outer = [value for value in read if value.producer not in inside or value.graph is not graph]
        #: Constants that the nodes read: inputs of the partition too, unless the claim drops them.
        self.constants: list[Value] = [value for value in outer if value.constant is not None]
        self.inputs: list[Value] = [value for value in outer if value.constant is None or not drop_constants]
        results = set(graph.outputs)
        made: dict[Value, None] = {}
        for node in walked:
            made.update((value, None) for value in node.outputs if value is not None and value in results)
            made.update((edge.value, None) for edge in order.edges[node] if edge.reader not in inside)
        self.outputs: list[Value] = list(made)
        self.executable: ExecutablePartition | None = None

    @property
    def input_contracts(self) -> list[ValueContract]:
        return [ValueContract.of(value) for value in self.inputs]

    @property
    def output_contracts(self) -> list[ValueContract]:
        return [ValueContract.of(value) for value in self.outputs]


class ExecutablePartition(ABC):
    """A partition that somebody outside the engine prepared and runs.

    ``inputs`` and ``outputs`` say by name what :meth:`run` takes and gives, in its own order: inputs among the
    partition's boundary, outputs all of it. Lifecycle: :meth:`prepare` once when the session is made; :meth:`run` any
    number of times, perhaps from several threads at once; :meth:`release` once when the session goes, after the last
    run and before the provider is closed. A partition whose preparation failed is released too.
    """

    inputs: Sequence[ValueContract]
    outputs: Sequence[ValueContract]

    def prepare(self) -> None:  # noqa: B027 - nothing to do is a fine answer
        """Gets ready to run. An error ends the making of the session."""

    @abstractmethod
    def run(self, *inputs: Any) -> Sequence[Any]:
        """Computes the outputs from read-only arrays, which are borrowed for the call."""

    def release(self) -> None:  # noqa: B027 - nothing to do is a fine answer
        """Gives up what it holds."""

    def native_kernel(self) -> KernelProduct | None:
        """A C++ kernel that the executor runs in place of :meth:`run`; None where there is none."""
        return None


def check_claim(
    provider: str, graph: Graph, nodes: Sequence[Node], present: Collection[Node], order: NodeOrder
) -> None:
    """Checks that nodes can run as one.

    Args:
        present: the nodes of the graph.
        order: of the graph.

    Raises:
        EPFail: a node of another graph, a node claimed twice or by somebody else, or nodes that a node outside
            connects to a cycle. The message names the provider, the nodes, and the path of the cycle.
    """
    who = f"execution provider {provider!r}"
    if not nodes:
        raise EPFail(f"{who} claims a partition without nodes")
    inside: set[Node] = set()
    for node in nodes:
        if node not in present:
            raise EPFail(f"{who} claims {node}, which is no node of graph {graph.name!r}")
        if node in inside:
            raise EPFail(f"{who} claims {node} twice in one partition")
        if node.provider is not None:
            raise EPFail(f"{who} claims {node}, which {node.provider!r} has claimed already")
        inside.add(node)
    path = _path_through_outside(inside, order)
    if path is not None:
        names = ", ".join(str(node) for node in sorted(inside, key=lambda node: node.index))
        raise EPFail(
            f"{who} claims {names} as one partition, but an unclaimed node lies between them, which makes a cycle: "
            + " -> ".join(map(str, path))
        )


def _path_through_outside(inside: set[Node], order: NodeOrder) -> list[Node] | None:
    """A path that leaves the set and comes back; None where there is none."""
    last = max(node.index for node in inside)
    came_from: dict[Node, Node] = {}
    waiting = sorted(inside, key=lambda node: node.index, reverse=True)
    while waiting:
        node = waiting.pop()
        for edge in order.edges[node]:
            reader = edge.reader
            if reader in inside:
                if node in inside:
                    continue
                path = [reader, node]
                while path[-1] not in inside:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if reader not in came_from and reader.index < last:
                came_from[reader] = node
                waiting.append(reader)
    return None


def check_executable(partition: FusedPartition, executable: ExecutablePartition) -> None:
    """Checks what a provider made against the boundary it was asked for.

    Raises:
        EPFail: a name that is not of the boundary, a missing output, another type, or memory that is not the CPU's.
    """
    who = f"execution provider {partition.provider!r}, partition {partition.name!r}"
    for role, contracts, values in (
        ("input", executable.inputs, partition.inputs),
        ("output", executable.outputs, partition.outputs),
    ):
        boundary = {value.name: value for value in values}
        seen: set[str] = set()
        for contract in contracts:
            value = boundary.get(contract.name)
            if value is None:
                raise EPFail(f"{who}: {role} {contract.name!r} is none of its {role}s {sorted(boundary)}")
            if contract.name in seen:
                raise EPFail(f"{who}: {role} {contract.name!r} is there twice")
            seen.add(contract.name)
            if value.element_type and contract.element_type != value.element_type:
                raise EPFail(
                    f"{who}: {role} {contract.name!r} is {value.type_string}, the partition says "
                    f"{type_string_of_key(contract.element_type)}"
                )
            if contract.memory != "cpu":
                raise EPFail(
                    f"{who}: {role} {contract.name!r} is in {contract.memory!r} memory; only 'cpu' is supported"
                )
        if role == "output" and seen != set(boundary):
            raise EPFail(f"{who}: it does not make its outputs {sorted(set(boundary) - seen)}")


def partition_callable(partition: FusedPartition, executable: ExecutablePartition) -> Any:
    """A step that runs the partition and holds it to its contracts."""
    who = f"execution provider {partition.provider!r}, partition {partition.name!r}"
    expected = [(item.name, numpy_dtype(item.element_type), item.shape) for item in executable.outputs]
    run = executable.run

    def call(*inputs: Any) -> Any:
        outputs = tuple(run(*inputs))
        if len(outputs) != len(expected):
            raise Fail(f"{who} returned {len(outputs)} outputs instead of {len(expected)}")
        for array, (name, dtype, shape) in zip(outputs, expected, strict=True):
            if array.dtype != dtype:
                raise Fail(f"{who} made output {name!r} of {array.dtype}, its contract is {dtype}")
            if shape is not None and (
                len(shape) != array.ndim
                or any(isinstance(dim, int) and dim != size for dim, size in zip(shape, array.shape, strict=True))
            ):
                raise Fail(f"{who} made output {name!r} of shape {array.shape}, its contract is {shape}")
        return outputs[0] if len(outputs) == 1 else outputs

    return call
