"""``onnx-light-ort matrix``: what this host does with each slot of the ABI."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from onnx_light_ort.host.compatibility_matrix import compatibility_matrix
from onnx_light_ort.support_matrix import support_matrix, version_ranges

HELP = "tell what this host does with each profile and slot of the ABI, and which libraries ran on it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("slot", nargs="?", help="only slots and callbacks whose name contains this, whatever the case")
    matrix = support_matrix()
    for column, meaning in (("table", "of this table or struct, as OrtEpApi"), ("state", "in this state, as rejected")):
        choices = sorted({row[column] for row in (*matrix["slots"], *matrix["callbacks"])})
        parser.add_argument(
            f"--{column}",
            type=_spelling_among(choices),
            choices=choices,
            metavar=column.upper(),
            help=f"only slots {meaning}, whatever the case",
        )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the summary, or the slots that were asked for. 0, or 1 where nothing matches."""
    matrix = support_matrix()
    if not (arguments.slot or arguments.table or arguments.state):
        if arguments.json:
            libraries = [asdict(row) for row in compatibility_matrix().values()]
            print(json.dumps({**matrix, "libraries": libraries}, indent=2))
        else:
            print(summary(matrix))
        return 0
    rows = [row for row in (*matrix["slots"], *matrix["callbacks"]) if _matches(row, arguments)]
    if arguments.json:
        print(json.dumps(rows, indent=2))
    elif rows:
        print(_columns([["slot", "since", "state", "reason"], *(_cells(row) for row in rows)]))
    else:
        print("no slot matches")
    return 0 if rows else 1


def summary(matrix: dict[str, Any]) -> str:
    """The slots of each table by state, the state of each profile, and the published libraries."""
    states = sorted({state for counts in matrix["counts"].values() for state in counts})
    tables = [["table", "slots", *states]]
    for table, counts in matrix["counts"].items():
        tables.append([table, str(sum(counts.values())), *(str(counts.get(state, 0)) for state in states)])
    profiles = [[profile["state"], profile["title"]] for profile in matrix["profiles"]]
    libraries = [["library", "version", "platform", "ABI", "profile", "status", "slots used"]]
    for row in compatibility_matrix().values():
        used = str(len(row.slots_used or ()))
        libraries.append(
            [row.library, row.version, row.platform, str(row.abi_version), row.profile, row.status, used]
        )  # fmt: skip
    accepted = version_ranges(matrix["accepted_api_versions"])
    return "\n".join(
        [
            f"ABI version {matrix['api_version']}; GetApi answers {accepted} and null for any other.",
            "",
            _columns(tables),
            "",
            _columns(sorted(profiles)),
            "",
            _columns(libraries),
        ]
    )


def _spelling_among(choices: Sequence[str]) -> Callable[[str], str]:
    by_lower = {choice.lower(): choice for choice in choices}
    return lambda text: by_lower.get(text.lower(), text)


def _matches(row: dict[str, Any], arguments: argparse.Namespace) -> bool:
    return (
        (arguments.slot or "").lower() in row["slot"].lower()
        and (arguments.table or row["table"]) == row["table"]
        and (arguments.state or row["state"]) == row["state"]
    )


def _cells(row: dict[str, Any]) -> list[str]:
    return [f"{row['table']}::{row['slot']}", str(row["since"]), row["state"], row["reason"]]


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
