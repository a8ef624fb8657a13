"""Writes docs/reverse_operators.md: what ORT runs alone and with the EP, by loading a model of one node for each choice
of types, for the newest version of each operator that has kernels. It takes a minute::

    python tests/ort/record_reverse_coverage.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnxruntime
from cpu_provider_probe import Invalid, Operator, lacks_combination, operators
from onnx import TensorProto
from reverse_session import session

from onnx_light_ort._native import engine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reverse_operators.md"

_HEAD = f"""# Operators in ONNX Runtime, alone and with the EP

Written by `tests/ort/record_reverse_coverage.py`, which loaded models of one node into ONNX Runtime
{onnxruntime.__version__}, alone and with the EP: for each operator that has kernels, in its newest version that these
serve, and for each choice of a type for each of its type parameters. The types in the table are those of the operator's
first type parameter, with some choice of the others. `tests/ort/test_reverse_parity.py` executes what the EP claims and
compares with numpy and ml_dtypes.

"""


@dataclass
class Coverage:
    """The choices of types of one operator: those that ORT runs alone, and those that it runs with the EP."""

    operator: Operator
    valid: set[tuple[int, ...]]
    alone: set[tuple[int, ...]]
    together: set[tuple[int, ...]]

    def row(self) -> str:
        domain, name, version = self.operator.key
        first = {types[0] for types in self.alone if types}
        added = {types[0] for types in self.together - self.alone if types} - first
        counts = f"{len(self.alone)} | {len(self.together)} | {len(self.valid)}"
        return f"| {f'{domain}.' if domain else ''}{name} | {version} | {_names(first)} | {_names(added)} | {counts} |"


def _names(types: set[int]) -> str:
    return ", ".join(str(TensorProto.DataType.Name(element)).lower() for element in sorted(types))


def served() -> Iterator[Operator]:
    """The newest version of each operator that a kernel serves and ORT knows."""
    entries = list(engine.native_kernels())
    newest: dict[tuple[str, str], Operator] = {}
    for operator in operators():
        domain, name, version = operator.key
        if any(
            (one.domain, one.op_type) == (domain, name) and one.since_version <= version <= one.end_version
            for one in entries
        ):
            newest[domain, name] = operator
    yield from newest.values()


def coverage(operator: Operator) -> Coverage:
    found = Coverage(operator, set(), set(), set())
    for types in operator.combinations():
        try:
            missing = lacks_combination(operator, types)
        except Invalid:
            continue
        found.valid.add(types)
        if not missing:
            found.alone.add(types)
        if not missing or not lacks_combination(operator, types, lambda content: session(content, optimize=False)):
            found.together.add(types)
    return found


if __name__ == "__main__":
    found = [coverage(operator) for operator in served()]
    alone, together, valid = (
        sum(len(getattr(one, field)) for one in found) for field in ("alone", "together", "valid")
    )
    lines = [
        f"In all, {len(found)} operators: of {valid} choices of types, ONNX Runtime runs {alone} alone and {together} "
        "with the EP.",
        "",
        "| operator | version | alone | with the EP also | choices alone | with the EP | of |",
        "|---|---|---|---|---|---|---|",
        *(one.row() for one in found),
    ]
    PAGE.write_text(_HEAD + "\n".join(lines) + "\n")
