"""Who runs each node of a model, and why others do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Node
    from onnx_light_ort.engine.kernel_registry import Decline

#: The provider that a report names for what no execution provider took.
ENGINE = "CPUExecutionProvider"


@dataclass(frozen=True)
class NodeAssignment:
    """One node of the model; for a call of a function, one of the nodes that it was expanded to.

    ``kernel`` names the kernel with its versions and types, or says "partition", "control flow", "folded" (computed
    when the session was made), "no-op" or "dead".
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

    @classmethod
    def of(cls, node: Node, provider: str, kernel: str, declined: Sequence[Decline]) -> NodeAssignment:
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
        )
