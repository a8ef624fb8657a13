"""The contract of an execution provider: who may claim nodes before the engine plans the rest.

The providers are asked in the caller's order: the first about each graph, subgraphs before the graph that holds them,
then the next about the same, and all again after functions that nobody claimed were inlined. What one provider claimed
is closed to the next ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from onnx_light_ort.engine.kernel_registry import KernelRegistry

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Graph, Model, Node
    from onnx_light_ort.engine.kernel_registry import KernelEntry
    from onnx_light_ort.engine.partition import ExecutablePartition, FusedPartition


class SingleNodeClaim:
    """Takes a node for a kernel of the provider's registry."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node


class FusionClaim:
    """Takes nodes to run as one partition.

    Args:
        nodes: nodes of the graph that was asked about; their order does not matter.
        name: of the partition, for profiles and messages; made up where it is None.
        drop_constants: the provider copies the constants that the nodes read; they are then no inputs of the partition.
    """

    __slots__ = ("drop_constants", "name", "nodes")

    def __init__(self, nodes: Sequence[Node], name: str | None = None, drop_constants: bool = False) -> None:
        self.nodes = tuple(nodes)
        self.name = name
        self.drop_constants = drop_constants


class DeclinedNode:
    """Says why the provider does not take a node; for the assignment report only."""

    __slots__ = ("node", "reason")

    def __init__(self, node: Node, reason: str) -> None:
        self.node = node
        self.reason = reason


Claim = SingleNodeClaim | FusionClaim | DeclinedNode

KernelLookup = Callable[["Node"], "KernelEntry | None"]
"""The kernel of the provider's own registry that serves a node; None where there is none."""


class ExecutionProvider(ABC):
    """One provider for one session."""

    name: str

    @property
    def kernel_registry(self) -> KernelRegistry:
        """The kernels for what :class:`SingleNodeClaim` claims."""
        return KernelRegistry(self.name)

    def open(self, model: Model) -> None:  # noqa: B027 - nothing to do is a fine answer
        """Called once, before the first question, with the model that the graphs are of. It may be kept only until the
        session is made."""

    @abstractmethod
    def get_capability(self, graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        """Says which nodes of a graph the provider takes.

        Nodes whose ``provider`` is not None are taken already. The graph must not be changed, and may be kept only
        until the session is made. An exception ends the making of the session.
        """

    def compile(self, partitions: Sequence[FusedPartition]) -> Sequence[ExecutablePartition]:
        """Makes one executable for each fused partition of a graph, in their order.

        Called once for each graph in which the provider fused nodes. An exception ends the making of the session, and
        what was made before is released.
        """
        raise NotImplementedError(f"execution provider {self.name!r} claims partitions, but has no compile()")

    def placed(self) -> None:  # noqa: B027 - nothing to do is a fine answer
        """Called once, when nothing more will be asked: what was kept for answers can go."""

    def close(self) -> None:  # noqa: B027 - nothing to do is a fine answer
        """Called once, when the session goes: after the last run, with all partitions released."""
