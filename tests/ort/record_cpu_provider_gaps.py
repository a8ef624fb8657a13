"""Writes reverse_plugin/tables/cpu_provider_gaps.inc: what the CPU provider of the installed ORT cannot run. Run it for
the pinned version of ORT when that or package onnx changes; it takes half a minute::

    python tests/ort/record_cpu_provider_gaps.py
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import onnxruntime
from cpu_provider_probe import Invalid, Operator, lacks_combination, needs_inlining, operators
from onnx import TensorProto

TABLE = Path(__file__).resolve().parents[2] / "reverse_plugin" / "tables" / "cpu_provider_gaps.inc"

Combination = tuple[int, ...]


def products(combinations: frozenset[Combination]) -> Iterator[tuple[frozenset[int], ...]]:
    """A set of combinations as products of sets: first elements that go with the same rests share a product."""
    if combinations == {()}:
        yield ()
        return
    rests: dict[int, set[Combination]] = defaultdict(set)
    for first, *rest in combinations:
        rests[first].add(tuple(rest))
    firsts: dict[frozenset[Combination], set[int]] = defaultdict(set)
    for first, rest_set in rests.items():
        firsts[frozenset(rest_set)].add(first)
    for rest_key, first_set in firsts.items():
        for product in products(rest_key):
            yield (frozenset(first_set), *product)


def gaps(operator: Operator) -> frozenset[Combination]:
    """The combinations of types that the CPU provider lacks."""
    found = set()
    for types in operator.combinations():
        try:
            if lacks_combination(operator, types) or needs_inlining(operator, types):
                found.add(types)
        except Invalid:
            continue
    return frozenset(found)


def type_name(element: int) -> str:
    return str(TensorProto.DataType.Name(element)).lower()


def rows(operator: Operator) -> list[str]:
    """The lines of the table for one version of an operator; a parameter whose type does not matter is left out."""
    domain, name, version = operator.key
    lines = []
    for product in products(gaps(operator)) if operator.parameters else ([()] if gaps(operator) else []):
        words = [
            f"{parameter}={','.join(map(type_name, sorted(types)))}"
            for (parameter, allowed), types in zip(operator.parameters.items(), product, strict=True)
            if len(types) < len(allowed)
        ]
        lines.append(f'{{"{domain}", "{name}", {version}, "{" ".join(words)}"}},')
    return sorted(lines)


if __name__ == "__main__":
    head = (
        f"// What the CPU provider of ONNX Runtime {onnxruntime.__version__} lacks, by record_cpu_provider_gaps.py.\n"
    )
    lines = [line for operator in operators() for line in rows(operator)]
    TABLE.write_text(head + "\n".join(lines) + "\n")
    sys.stdout.write(f"{len(lines)} lines\n")
