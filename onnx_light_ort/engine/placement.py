"""Asks the execution providers what they take, checks it, and puts fused partitions in the place of their nodes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx import NodeProto

from onnx_light_ort.engine.execution_provider import (
    Claim,
    DeclinedNode,
    ExecutionProvider,
    FusionClaim,
    SingleNodeClaim,
)
from onnx_light_ort.engine.graph import Graph, Node
from onnx_light_ort.engine.graph_building import sort_nodes
from onnx_light_ort.engine.kernel_registry import Decline, KernelEntry, KernelRegistry
from onnx_light_ort.engine.node_order import NodeOrder
from onnx_light_ort.engine.operator_schema import ForeignOperator
from onnx_light_ort.engine.partition import ExecutablePartition, FusedPartition, check_claim, check_executable
from onnx_light_ort.errors import EPFail, Error, Fail, InvalidArgument

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Model

_NOT_CLAIMED = "not claimed"


class Placement:
    """The providers of one session, what they claimed, and why they declined."""

    def __init__(self, providers: Sequence[ExecutionProvider]) -> None:
        self.providers = tuple(providers)
        self._registries: dict[str, KernelRegistry] = {}
        #: Of nodes that no provider took: why, provider by provider.
        self._declined: dict[Node, list[Decline]] = {}
        self._executables: list[ExecutablePartition] = []
        self._numbers = itertools.count()
        self._closed = False

    def open(self, model: Model) -> None:
        """Tells every provider the model.

        Raises:
            InvalidArgument: two providers have the same name.
        """
        for provider in self.providers:
            provider.open(model)
            if provider.name in self._registries:
                raise InvalidArgument(f"execution provider {provider.name!r} is there twice: add each one once")
            self._registries[provider.name] = provider.kernel_registry

    def place(self, model: Model) -> None:
        """Asks every provider about every graph: the first about all of them, then the next about what is left.

        Raises:
            EPFail: a provider claims what it cannot have, or fails; the message names it.
        """
        if not self.providers:
            return
        for provider in self.providers:
            for graph in list(model.graph.all_graphs()):
                self._ask(provider, graph)

    def foreseen(self, graph: Graph) -> set[Node]:
        """The nodes of a graph that providers say they would take. Nothing is claimed by it.

        Raises:
            EPFail: a provider fails; the message names it.
        """
        taken: set[Node] = set()
        for provider in self.providers:
            for claim in self._claims(provider, graph):
                if isinstance(claim, SingleNodeClaim):
                    taken.add(claim.node)
                elif isinstance(claim, FusionClaim) and taken.isdisjoint(claim.nodes):
                    taken.update(claim.nodes)
        return taken

    def declines(self, node: Node) -> list[Decline]:
        """Why providers do not run a node; of one that said nothing, also why its kernels for the operator do not."""
        found: list[Decline] = []
        for decline in self._declined.get(node, ()):
            found.append(decline)
            registry = self._registries[decline.who]
            if decline.reason == _NOT_CLAIMED and registry.entries(node.domain, node.op_type):
                found += registry.declines(node)
        return found

    def kernel(self, node: Node) -> KernelEntry:
        """The kernel that a node's provider claimed it for."""
        assert node.provider is not None
        entry = self._registries[node.provider].find(node)
        operator = node.operator
        if entry is None and isinstance(operator, ForeignOperator) and operator.provider == node.provider:
            return KernelEntry(
                node.provider, node.domain, node.op_type, node.since_version, None, {}, operator.create_kernel
            )
        if entry is None:
            reasons = "; ".join(map(str, self._registries[node.provider].declines(node)))
            raise EPFail(f"execution provider {node.provider!r} claims {node}, but has no kernel for it: {reasons}")
        return entry

    def prepare(self, model: Model) -> None:
        """Ends the asking, and prepares every partition that is to run: some went with the subgraph of a node that was
        claimed later."""
        for provider in self.providers:
            provider.placed()
        for node in model.graph.all_nodes():
            if node.partition is not None and node.partition.executable is not None:
                node.partition.executable.prepare()

    def close(self) -> None:
        """Releases the partitions, then closes the providers. A second call does nothing; an error of one of them does
        not keep the others from being released, and is raised at the end."""
        if self._closed:
            return
        self._closed = True
        errors: list[Exception] = []
        for close in [*(item.release for item in reversed(self._executables)), *(p.close for p in self.providers)]:
            try:
                close()
            except Exception as error:
                errors.append(error)
        self._executables.clear()
        if errors:
            raise errors[0]

    def _claims(self, provider: ExecutionProvider, graph: Graph) -> list[Claim]:
        try:
            return list(provider.get_capability(graph, self._registries[provider.name].find))
        except Error:
            raise
        except Exception as error:
            raise EPFail(f"execution provider {provider.name!r} failed to say what it takes: {error!r}") from error

    def _ask(self, provider: ExecutionProvider, graph: Graph) -> None:
        claims = self._claims(provider, graph)
        fused: list[FusedPartition] = []
        present = set(graph.nodes)
        order: NodeOrder | None = None
        for claim in claims:
            if isinstance(claim, DeclinedNode):
                if claim.node.provider is None:
                    self._decline(claim.node, Decline(provider.name, claim.reason))
            elif isinstance(claim, SingleNodeClaim):
                node = claim.node
                if node not in present:
                    raise EPFail(
                        f"execution provider {provider.name!r} claims {node}, which is no node of graph {graph.name!r}"
                    )
                if node.provider is not None:
                    raise EPFail(
                        f"execution provider {provider.name!r} claims {node}, which {node.provider!r} has "
                        "claimed already"
                    )
                node.provider = provider.name
                self.kernel(node)
            elif isinstance(claim, FusionClaim):
                order = order or NodeOrder(graph)
                check_claim(provider.name, graph, claim.nodes, present, order)
                # Providers find a partition by its name, so the numbers count through the model.
                name = claim.name or f"{provider.name}_{graph.name}_{next(self._numbers)}"
                partition = FusedPartition(provider.name, name, graph, claim.nodes, claim.drop_constants, order)
                for node in partition.nodes:
                    node.provider = provider.name
                fused.append(partition)
            else:
                raise EPFail(f"execution provider {provider.name!r} returned {type(claim).__name__}, which is no claim")
        if fused:
            _fuse(graph, fused)
            self._compile(provider, graph, fused)
        for node in graph.nodes:
            if node.provider is None and not any(item.who == provider.name for item in self._declined.get(node, ())):
                self._decline(node, Decline(provider.name, _NOT_CLAIMED))

    def _compile(self, provider: ExecutionProvider, graph: Graph, fused: Sequence[FusedPartition]) -> None:
        try:
            executables = list(provider.compile(fused))
        except Error:
            raise
        except Exception as error:
            names = ", ".join(repr(partition.name) for partition in fused)
            raise EPFail(f"execution provider {provider.name!r} failed to compile {names}: {error!r}") from error
        self._executables.extend(executables)
        if len(executables) != len(fused):
            raise EPFail(
                f"execution provider {provider.name!r} compiled {len(executables)} of the {len(fused)} partitions that "
                f"it claims in graph {graph.name!r}"
            )
        for partition, executable in zip(fused, executables, strict=True):
            check_executable(partition, executable)
            partition.executable = executable

    def _decline(self, node: Node, decline: Decline) -> None:
        self._declined.setdefault(node, []).append(decline)


def _fuse(graph: Graph, partitions: Sequence[FusedPartition]) -> None:
    """Puts one node in the place of each partition's nodes.

    Raises:
        EPFail: the partitions need each other, though each alone is fine.
    """
    gone: set[Node] = set()
    fused: list[Node] = []
    for partition in partitions:
        proto = NodeProto(
            name=partition.name,
            op_type=partition.name,
            domain=partition.provider,
            input=[value.name for value in partition.inputs],
            output=[value.name for value in partition.outputs],
        )
        node = Node(proto, graph, partition.nodes[0].opset_imports)
        node.inputs = list(partition.inputs)
        node.outputs = list(partition.outputs)
        node.provider = partition.provider
        node.partition = partition
        node.index = partition.nodes[0].index
        for value in partition.outputs:
            value.producer = node
        gone.update(partition.nodes)
        fused.append(node)
    remaining = [node for node in graph.nodes if node not in gone] + fused
    graph.nodes = sorted(remaining, key=lambda node: node.index)
    for index, node in enumerate(graph.nodes):
        node.index = index
    try:
        sort_nodes(graph)
    except Fail as error:
        raise EPFail(
            f"execution provider {partitions[0].provider!r} claims partitions that need each other: {error}"
        ) from error
