"""``onnx-light-ort plan MODEL``: who would run each node, and why others would not."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_light_ort.cli.plugin_arguments import add_plugin_arguments, use_plugins
from onnx_light_ort.cli.terminal_text import printable

if TYPE_CHECKING:
    from onnx_light_ort.engine.assignment import NodeAssignment

HELP = "say who runs each node of a model, and why others do not"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help="the model file")
    add_plugin_arguments(parser)
    parser.add_argument("--why", action="store_true", help="print under each node why others declined it")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the graph, coloured by placement, as a page")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the plan. 0; 1 where there is none."""
    import onnx_light_ort as ort

    try:
        options = ort.SessionOptions()
        use_plugins(arguments, options)
        session = ort.InferenceSession(str(arguments.model), options)
        rows = session.assignment()
        if arguments.html is not None:
            from onnx_light_ort.cli.plan_page import plan_page

            arguments.html.write_text(plan_page(arguments.model.name, rows), encoding="utf-8")
    except (ort.Error, OSError, ValueError) as error:
        if arguments.json:
            print(json.dumps({"model": str(arguments.model), "error": type(error).__name__, "message": str(error)}))
        else:
            print(f"onnx-light-ort plan: {type(error).__name__}: {printable(str(error))}", file=sys.stderr)
        return 1
    summary = summarise(rows)
    if arguments.json:
        print(json.dumps({"model": str(arguments.model), **summary, "nodes": list(map(_as_json, rows))}, indent=2))
    else:
        print(_render(str(arguments.model), summary, rows, arguments.why))
        if arguments.html is not None:
            print(f"\nwritten: {arguments.html}")
    return 0


def summarise(rows: Sequence[NodeAssignment]) -> dict[str, Any]:
    """Counts by provider: nodes, partitions, and what runs them."""
    kinds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    partitions: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        kinds[row.provider][kind_of(row)] += 1
        if row.partition is not None:
            partitions[row.provider].add(row.partition)
    return {
        "node_count": len(rows),
        "providers": [
            {
                "name": provider,
                "nodes": sum(counts.values()),
                "partitions": len(partitions[provider]),
                "kinds": dict(sorted(counts.items(), key=lambda item: -item[1])),
            }
            for provider, counts in sorted(kinds.items(), key=lambda item: -sum(item[1].values()))
        ],
    }


def kind_of(row: NodeAssignment) -> str:
    """What runs the node, in a word or two: "native", "python", "partition", "folded" and so on."""
    if row.kernel.startswith("inside "):  # a node of a subgraph that a partition holds
        return "partition"
    for kind in ("control flow", "partition", "folded", "no-op", "dead", "dropped"):
        if row.kernel.startswith(kind):
            return kind
    return row.kernel.split(" ", 1)[0]


def reasons(row: NodeAssignment) -> list[str]:
    """Why others declined the node, a line each."""
    return [str(decline) for decline in row.declined]


def _as_json(row: NodeAssignment) -> dict[str, Any]:
    return {
        "name": row.name,
        "scope": row.scope,
        "domain": row.domain,
        "op_type": row.op_type,
        "since_version": row.since_version,
        "provider": row.provider,
        "kernel": row.kernel,
        "partition": row.partition,
        "expanded_from": row.expanded_from,
        "declined": reasons(row),
        "inputs": list(row.inputs),
        "outputs": list(row.outputs),
    }


def _render(model: str, summary: dict[str, Any], rows: Sequence[NodeAssignment], why: bool) -> str:
    lines = [f"{model}: {summary['node_count']} nodes"]
    for provider in summary["providers"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in provider["kinds"].items())
        fused = f" ({_count(provider['partitions'], 'partition')})" if provider["partitions"] else ""
        lines.append(f"  {provider['name']}: {provider['nodes']}{fused}: {kinds}")
    lines.append("")
    cells = [("node", "operator", "provider", "kernel")]
    for row in rows:
        name = row.name or ", ".join(row.outputs)
        kernel = f"partition {row.partition}" if row.partition is not None else row.kernel
        operator = f"{row.domain}::{row.op_type}" if row.domain else row.op_type
        # Escaped before they are measured: an escape is longer than what it stands for.
        cells.append(
            (
                printable(f"{row.scope}/{name}" if row.scope else name),
                printable(operator),
                printable(row.provider),
                printable(kernel),
            )
        )
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    notes: list[Iterable[str]] = [(), *(reasons(row) if why else () for row in rows)]
    for texts, below in zip(cells, notes, strict=True):
        lines.append("  ".join([*(text.ljust(width) for text, width in zip(texts, widths, strict=False)), texts[3]]))
        lines.extend(f"    {printable(reason)}" for reason in below)
    return "\n".join([printable(lines[0]), *lines[1:]])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
