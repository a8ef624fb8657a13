"""Who runs each node of a model, and why others do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Graph, Node, Value
    from onnx_light_ort.engine.kernel_registry import Decline

#: The provider that a report names for what no execution provider took.
ENGINE = "CPUExecutionProvider"

#: What NodeAssignment.kernel says of a node that no run computes.
NOT_RUN = frozenset({"dead", "dropped", "folded", "no-op"})


@dataclass(frozen=True)
class NodeAssignment:
    """One node of the model; for a call of a function, one of the nodes that it was expanded to.

    ``kernel`` names the kernel with its versions and types, or says "partition", "inside" with the control-flow node
    that the provider runs whole, "control flow", "folded" (computed when the session was made), "no-op" or "dead".
    """

    name: str
    domain: str
    op_type: str
    since_version: int
    provider: str
    kernel: str
    #: Why each one that was asked before did not take the node.
    declined: tuple[Decline, ...] = ()
    #: Name of the node of the model that was expanded to this one.
    expanded_from: str | None = None
    #: Name of the partition that the node was fused into.
    partition: str | None = None
    #: Names of the values that the node reads, captures of its subgraphs included, and makes.
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    #: The graph that the node stands in: "" for the model's, else as "choose.then_branch", with the node that holds the
    #: subgraph and the attribute, outermost first and joined by "/".
    scope: str = ""

    @classmethod
    def of(
        cls, node: Node, provider: str, kernel: str, declined: Sequence[Decline], partition: str | None = None
    ) -> NodeAssignment:
        origin = node.origin
        return cls(
            node.name,
            node.domain,
            node.op_type,
            node.since_version,
            provider,
            kernel,
            tuple(declined),
            None if origin is None else origin.name,
            partition,
            _names(node.reads()),
            _names(node.outputs),
            scope_of(node.graph),
        )


def scope_of(graph: Graph) -> str:
    """How :class:`NodeAssignment` names a graph."""
    holder = graph.holder
    if holder is None:
        return ""
    attribute = next(name for name, subgraph in holder.subgraphs.items() if subgraph is graph)
    outer = scope_of(holder.graph)
    own = f"{holder.name or holder.op_type}.{attribute}"
    return f"{outer}/{own}" if outer else own


def _names(values: Sequence[Value | None]) -> tuple[str, ...]:
    return tuple([value.name for value in values if value is not None])
