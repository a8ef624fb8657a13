"""Places for the nodes of a directed acyclic graph: in rows from the sources down, as few crossings as is cheap.

The method is Sugiyama's: rows by longest path, long edges split by bends, rows ordered by the barycentre of the
neighbours (K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of hierarchical system structures",
IEEE Transactions on Systems, Man, and Cybernetics 11(2), 1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]

#: Sweeps over all rows, down and up in turn.
_SWEEPS = 6

#: Rows that an edge may cross with a bend in each; a longer one goes straight, so that the work stays linear.
_LONGEST_BENT_EDGE = 12


class Layout:
    """Where each node's centre and each edge's bends are; the unit is one column, and one row."""

    def __init__(self, nodes: list[Point], bends: list[list[Point]]) -> None:
        self.nodes = nodes
        #: For each edge, in the order given: the points between its ends.
        self.bends = bends

    @property
    def width(self) -> float:
        return max((x for x, _ in self.nodes), default=0.0)

    @property
    def height(self) -> float:
        return max((y for _, y in self.nodes), default=0.0)


def layered_layout(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Lays out the nodes 0 to count - 1; each edge leads from a node to one of a higher number."""
    rows_of = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        rows_of[target] = max(rows_of[target], rows_of[source] + 1)
    _draw_sources_near(rows_of, edges)
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    chains: list[list[int]] = []
    for source, target in edges:
        span = rows_of[target] - rows_of[source]
        chain: list[int] = []
        if 1 < span <= _LONGEST_BENT_EDGE:
            for row in range(rows_of[source] + 1, rows_of[target]):
                chain.append(len(rows_of))
                rows_of.append(row)
                above.append([])
                below.append([])
        chains.append(chain)
        path = [source, *chain, target]
        if span <= _LONGEST_BENT_EDGE:
            for upper, lower in pairwise(path):
                below[upper].append(lower)
                above[lower].append(upper)
    rows: list[list[int]] = [[] for _ in range(max(rows_of, default=-1) + 1)]
    for vertex, row in enumerate(rows_of):
        rows[row].append(vertex)
    places = [0.0] * len(rows_of)
    for members in rows:
        _place(members, [float(index) for index in range(len(members))], places)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        for members in rows if down else reversed(rows):
            wanted = [
                sum(places[other] for other in neighbours[vertex]) / len(neighbours[vertex])
                if neighbours[vertex]
                else places[vertex]
                for vertex in members
            ]
            order = sorted(range(len(members)), key=wanted.__getitem__)
            members[:] = [members[index] for index in order]
            _place(members, [wanted[index] for index in order], places)
    left = min(places, default=0.0)
    points = [(place - left, float(row)) for place, row in zip(places, rows_of, strict=True)]
    return Layout(points[:count], [[points[vertex] for vertex in chain] for chain in chains])


def _draw_sources_near(rows_of: list[int], edges: Sequence[tuple[int, int]]) -> None:
    """Moves what has no input, a constant mostly, down to right above its first reader."""
    has_input = {target for _, target in edges}
    nearest: dict[int, int] = {}
    for source, target in edges:
        if source not in has_input:
            nearest[source] = min(nearest.get(source, rows_of[target]), rows_of[target])
    for source, row in nearest.items():
        rows_of[source] = row - 1


def _place(members: Sequence[int], wanted: Sequence[float], places: list[float]) -> None:
    """Gives the members of a row places as near to the wanted ones as one column's distance between them allows.

    The least squares answer: where neighbours would be too near, they move together as a block (pool adjacent violators
    on the places less the index).
    """
    blocks: list[tuple[float, int]] = []  # mean of the shifted places, length
    for index, place in enumerate(wanted):
        mean, length = place - index, 1
        while blocks and blocks[-1][0] > mean:
            before, size = blocks.pop()
            mean = (mean * length + before * size) / (length + size)
            length += size
        blocks.append((mean, length))
    index = 0
    for mean, length in blocks:
        for _ in range(length):
            places[members[index]] = mean + index
            index += 1
