"""The orders in which plugins see a graph's nodes, and a partition's inputs and outputs.

Execution providers rely on both, though they are promised neither: one that takes nodes which follow each other takes
others in another order. So both are those of the runtime whose plugins the host runs.
"""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Graph, Node, Value


_serial = attrgetter("serial")


def topological_order(graph: Graph) -> list[Node]:
    """The graph's nodes as plugins are shown them: a walk back from the nodes without readers leaves them so.

    It begins with the last of those, and goes to the last maker of a node first.
    """
    # By places rather than nodes, as a model has tens of thousands: ~place stands for the end of a node.
    nodes = sorted(graph.nodes, key=_serial)
    place_of = dict(zip(nodes, range(len(nodes)), strict=True)).get
    makers: list[list[int]] = []
    has_readers = bytearray(len(nodes))
    for node in nodes:
        found: list[int] = []
        for value in (*node.inputs, *node.captures) if node.captures else node.inputs:
            # A value of an enclosing graph has a maker that is not of this one.
            if value is not None and value.producer is not None:
                maker = place_of(value.producer)
                if maker is not None:
                    found.append(maker)
                    has_readers[maker] = True
        if len(found) > 1:
            found.sort()
        makers.append(found)
    order: list[Node] = []
    seen = bytearray(len(nodes))
    waiting = [place for place, is_read in enumerate(has_readers) if not is_read]
    while waiting:
        place = waiting.pop()
        if place < 0:
            order.append(nodes[~place])
        elif not seen[place]:
            seen[place] = True
            waiting.append(~place)
            waiting += makers[place]
    return order


class Edge:
    """One read of a value that a node of the same graph makes."""

    __slots__ = ("output", "reader", "value")

    def __init__(self, reader: Node, output: int, value: Value) -> None:
        self.reader = reader
        #: Which output of its maker the value is.
        self.output = output
        self.value = value


class NodeOrder:
    """The walk over a graph, as it is now, that finds a partition's boundary: breadth first, from nodes without makers.

    Where a node has several readers, they follow in the order of the model; fused partitions and the nodes of functions
    come last, as nodes that were added to it.
    """

    def __init__(self, graph: Graph) -> None:
        #: For each node its readers, one edge for each input or capture that reads one of its outputs.
        self.edges: dict[Node, list[Edge]] = {node: [] for node in graph.nodes}
        self._makers: dict[Node, list[Node]] = {}
        self._connect(graph)
        #: Where the walk meets each node.
        self.rank: dict[Node, int] = {}
        self._walk([node for node in topological_order(graph) if not self._makers[node]])

    def _connect(self, graph: Graph) -> None:
        outputs = {
            value: position for node in graph.nodes for position, value in enumerate(node.outputs) if value is not None
        }
        edges, makers = self.edges, self._makers
        for node in sorted(graph.nodes, key=_serial):
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
