"""The kernels that an execution provider registered, as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_HEADINGS = ("operator", "since version", "types", "memory", "output shares input")


def kernel_table(kernels: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line a kernel, in columns, after a line of headings; ``kernels`` as PluginKernel.describe() gives them."""
    rows = [_HEADINGS, *map(_cells, kernels)]
    used = [column for column in range(len(_HEADINGS)) if column < 3 or any(row[column] for row in rows[1:])]
    widths = {column: max(len(row[column]) for row in rows) for column in used}
    return ["  ".join(row[column].ljust(widths[column]) for column in used).rstrip() for row in rows]


def _cells(kernel: Mapping[str, Any]) -> tuple[str, ...]:
    first, last = kernel["first_version"], kernel["last_version"]
    domain = "" if kernel["domain"] == "ai.onnx" else f"{kernel['domain']}::"
    types = "; ".join(f"{name}: {', '.join(names)}" for name, names in kernel["types"].items())
    memory = "; ".join(f"{argument}: {memory_type}" for argument, memory_type in kernel["memory"].items())
    shares = "; ".join([*_pairs(kernel["aliases"], "must"), *_pairs(kernel["mutable_aliases"], "may")])
    name = f"{domain}{kernel['op_type']}"
    return (name, str(first) if first == last else f"{first} to {last}", types or "any", memory, shares)


def _pairs(pairs: Iterable[tuple[int, int]], verb: str) -> list[str]:
    return [f"{output} {verb} {source}" for source, output in pairs]
