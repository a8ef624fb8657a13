"""The order in which a partition's nodes are walked to find its boundary.

Execution providers see a partition's inputs and outputs in this order, and some rely on it: it is the one of the
runtime whose plugins the host runs, a breadth-first walk that starts from the nodes without makers.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Graph, Node, Value


class Edge:
    """One read of a value that a node of the same graph makes."""

    __slots__ = ("output", "reader", "value")

    def __init__(self, reader: Node, output: int, value: Value) -> None:
        self.reader = reader
        #: Which output of its maker the value is.
        self.output = output
        self.value = value


class NodeOrder:
    """The walk over a graph as it is now.

    Where a node has several readers, they follow in the order of the graph; fused partitions come last, as nodes that
    were added to it.
    """

    def __init__(self, graph: Graph) -> None:
        #: For each node its readers, one edge for each input or capture that reads one of its outputs.
        self.edges: dict[Node, list[Edge]] = {node: [] for node in graph.nodes}
        self._makers: dict[Node, list[Node]] = {}
        self._connect(graph)
        #: Where the walk meets each node.
        self.rank: dict[Node, int] = {}
        self._walk(self._roots())

    def _connect(self, graph: Graph) -> None:
        outputs = {
            value: position for node in graph.nodes for position, value in enumerate(node.outputs) if value is not None
        }
        edges, makers = self.edges, self._makers
        for node in sorted(graph.nodes, key=lambda item: item.partition is not None):
            found = makers[node] = []
            for value in node.reads():
                maker = value.producer
                # A value of an enclosing graph has a maker that is not of this one.
                if maker is not None and maker in edges:
                    edges[maker].append(Edge(node, outputs[value], value))
                    found.append(maker)
        # One reader's reads of one maker go by the output that is read, not by the input that reads it.
        for readers in edges.values():
            if len(readers) > 1:
                place: dict[Node, int] = {}
                for edge in readers:
                    place.setdefault(edge.reader, len(place))
                readers.sort(key=lambda edge: (place[edge.reader], edge.output))

    def _roots(self) -> list[Node]:
        """Nodes without makers, in the order in which a walk back from the nodes without readers leaves them."""
        places = {node: place for place, node in enumerate(self._makers)}
        waiting = [node for node in self._makers if not self.edges[node]]
        seen: set[Node] = set()
        roots: list[Node] = []
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            makers = self._makers[node]
            if makers:
                waiting.extend(sorted((maker for maker in makers if maker not in seen), key=places.__getitem__))
            else:
                roots.append(node)
        return roots

    def _walk(self, roots: list[Node]) -> None:
        missing = {node: len(makers) for node, makers in self._makers.items()}
        ready = deque(roots)
        while ready:
            node = ready.popleft()
            self.rank[node] = len(self.rank)
            for edge in self.edges[node]:
                missing[edge.reader] -= 1
                if missing[edge.reader] == 0:
                    ready.append(edge.reader)
